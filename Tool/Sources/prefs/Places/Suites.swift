import Glibc
@_spi(Tool) import Preferences

/// The suites that the user has files of.
enum Suites {
    /// Their names, sorted.
    static func names() throws -> [String] {
        let folder = try folder()
        return try (Folder.names(in: folder) ?? []).filter { name in
            !name.hasPrefix(".") && access("\(folder)/\(name)/preferences.jsonl", F_OK) == 0
        }
    }

    /// The folder of all suites.
    static func folder() throws -> String {
        let path = try SuiteFiles("any").userPath
        return path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
