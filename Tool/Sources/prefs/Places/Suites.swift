import FoundationEssentials
import Glibc
@_spi(Tool) import Preferences

/// The suites that the user has files of.
enum Suites {
    /// Their names, sorted.
    static func names() throws -> [String] {
        let folder = try folder()
        guard let directory = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw Failure("read", folder, errno: errno)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), access("\(folder)/\(name)/preferences.jsonl", F_OK) == 0 else { continue }
            names.append(name)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The folder of all suites.
    static func folder() throws -> String {
        let path = try SuiteFiles("any").userPath
        return path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
