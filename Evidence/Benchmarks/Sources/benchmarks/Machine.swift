import Foundation
import Glibc

/// The machine that the figures were measured on, in a sentence.
enum Machine {
    static func describe(_ folder: String) -> String {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return "\(processor), \(cores) cores; Linux \(release), \(fileSystem(folder)); Swift \(compiler); \(load)."
    }

    private static var processor: String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let name = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return name?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
    }

    private static var release: String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Returns the type of the file system at the mount point above a folder.
    private static func fileSystem(_ folder: String) -> String {
        let mounts = (try? String(contentsOfFile: "/proc/mounts", encoding: .utf8))?.split(separator: "\n") ?? []
        let fields = mounts.map { $0.split(separator: " ") }
        let holding = fields.filter { $0.count > 2 && ($0[1] == "/" || (folder + "/").hasPrefix($0[1] + "/")) }
        return holding.max { $0[1].count < $1[1].count }.map { String($0[2]) } ?? "unknown file system"
    }

    private static var compiler: String {
        #if compiler(>=6.4)
        "6.4 or newer"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }

    /// The load average, which shows whether the machine was idle.
    private static var load: String {
        var averages = [Double](repeating: 0, count: 1)
        getloadavg(&averages, 1)
        return "load average \((averages[0] * 10).rounded() / 10)"
    }
}
