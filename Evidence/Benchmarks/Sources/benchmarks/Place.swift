import Foundation
import Glibc

/// A folder for the run, removed with this object, which also holds everything that is stored for the user.
final class Place {
    let path: String
    /// The bus over which dconf is reached; nil if it can't be started.
    private var bus: Child?
    private(set) var busProblem: String?

    /// The environment variable with the path of the folder.
    private static let variable = "BENCHMARKS_PLACE"

    /// Executes the program again with an environment that points to a new folder, as Foundation reads the environment
    /// only once; returns if that has been done.
    static func enter() throws {
        guard getenv(variable) == nil else { return }
        let root = ProcessInfo.processInfo.environment["BENCHMARKS_FOLDER"] ?? NSTemporaryDirectory()
        let path = URL(filePath: root).appending(path: "benchmarks-\(UUID().uuidString)").path
        for folder in ["config", "runtime"] {
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(folder)",
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        setenv("XDG_CONFIG_HOME", path + "/config", 1)
        setenv("XDG_RUNTIME_DIR", path + "/runtime", 1)
        setenv("HOME", path, 1)
        setenv("GSETTINGS_BACKEND", "dconf", 1)
        setenv(variable, path, 1)
        var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        execv("/proc/self/exe", &arguments)
        throw Failure("the program can't be executed again: \(String(cString: strerror(errno)))")
    }

    /// Uses the folder that `enter` has created.
    init() throws {
        guard let path = getenv(Self.variable) else { throw Failure("no folder was made") }
        self.path = String(cString: path)
        do {
            let bus = try Child("dbus-daemon", ["--session", "--nofork", "--print-address"], isQuiet: true)
            setenv("DBUS_SESSION_BUS_ADDRESS", try bus.readLine(), 1)
            self.bus = bus
        } catch {
            busProblem = "there is no session bus: \(error)"
        }
    }

    deinit {
        bus = nil
        do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path): \(error)") }
    }

    /// The process that writes for dconf; nil if it isn't running.
    var dconfService: Int? {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int($0) }.first { process in
            guard (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) == "dconf-service\n",
                let environment = try? String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8)
            else { return false }
            return environment.contains(path)
        }
    }

    /// Creates a folder in this one, or in one of its folders, and returns its path.
    func folder(in outer: String? = nil) throws -> String {
        let folder = "\(outer ?? path)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        return folder
    }
}
