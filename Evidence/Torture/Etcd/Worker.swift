#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Glibc
import Preferences
import PreferencesEtcd

/// The roles of this program when an experiment starts it as a worker process, which ends with its input.
enum Worker {
    static func run(_ arguments: [String]) async throws -> Int32 {
        endWithParent()
        guard (3...4).contains(arguments.count) else {
            throw EtcdObstacle("a worker needs a role, its parameter and endpoints, and a user where there are some")
        }
        var configuration = EtcdConfiguration(endpoints: arguments[2].split(separator: ",").map(String.init))
        if arguments.count == 4 { configuration.credentials = credentials(arguments[3]) }
        configuration.tls = ProcessInfo.processInfo.environment["AUTHORITY"].map { EtcdTLS(authority: $0) }
        func store() throws -> PreferenceStore { try PreferenceStore.etcd("torture", configuration) }
        switch arguments[0] {
        case "increment": try increment(Int(arguments[1]) ?? 0, in: store())
        case "watch": try await watch(store())
        case "fire": try FireWorker(arguments[1], configuration).run()
        case "stamp": try stamp(in: store())
        case "herd": try Herd.runClients(Int(arguments[1]) ?? 0, configuration)
        case "clients": try FleetClients(arguments[1], configuration).run()
        default: throw EtcdObstacle("no such role")
        }
        while readLine() != nil {}
        return 0
    }

    /// Ends this process when its parent has ended, also while a call of the store hangs.
    private static func endWithParent() {
        let parent = getppid()
        Thread.detachNewThread {
            while getppid() == parent { sleep(1) }
            exit(1)
        }
    }

    /// Returns the credentials in a text of `etcdctl`'s form: the name, a colon and the password.
    private static func credentials(_ text: String) -> EtcdCredentials {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        return EtcdCredentials(user: parts[0], password: parts.count > 1 ? parts[1] : "")
    }

    private static func increment(_ count: Int, in store: PreferenceStore) throws {
        let counter = Preference("counter", default: 0, in: store)
        var conflicts = 0
        var done = 0
        while done < count {
            do {
                try counter.update { $0 += 1 }
                done += 1
            } catch let error as PreferenceError where error.code == .conflict {
                conflicts += 1
            }
        }
        say("done \(conflicts)")
    }

    /// Sets a flag to the current time for each line of its input.
    private static func stamp(in store: PreferenceStore) throws {
        let flag = Preference("flag", default: 0, in: store)
        _ = flag.value
        say("ready")
        while readLine() != nil {
            try flag.write(FleetClients.now)
            say("set")
        }
    }

    /// Reads the final count from the input, observes the counter up to it, and prints what it observed.
    private static func watch(_ store: PreferenceStore) async throws {
        let counter = Preference("counter", default: 0, in: store)
        var updates = counter.updates.makeAsyncIterator()
        var last = await updates.next() ?? -1
        say("ready \(last)")
        guard let end = readLine().flatMap({ Int($0) }) else { return }
        var (seen, breaks, falls) = (0, 0, 0)
        while last < end, let value = await updates.next() {
            seen += 1
            if value != last + 1 { breaks += 1 }
            if value <= last { falls += 1 }
            last = value
        }
        say("saw \(seen) \(breaks) \(falls) \(last) \(counter.value)")
    }

    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// A process that runs this program as a worker, and exchanges lines with it.
final class WorkerProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    /// The output that was not consumed yet.
    private var unread: [UInt8] = []

    /// Creates and starts the process.
    ///
    /// - Parameters:
    ///   - role: The role; see `Worker`.
    ///   - parameter: The parameter of the role.
    ///   - endpoints: The URLs of the members.
    ///   - user: The user's name and password, separated by a colon, or `nil` if the cluster requires none.
    ///   - authority: The file of the authority that has signed the members' certificates, if connections are encrypted.
    init(
        _ role: String,
        _ parameter: String,
        _ endpoints: [String],
        user: String? = nil,
        authority: String? = nil
    ) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments =
            ["worker", role, parameter, endpoints.joined(separator: ",")] + (user.map { [$0] } ?? [])
        process.environment = ProcessInfo.processInfo.environment
        process.environment?["AUTHORITY"] = authority
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { end() }

    var isRunning: Bool { process.isRunning }
    var identifier: pid_t { process.processIdentifier }

    /// Kills the process, also if it hangs.
    func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    func send(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// Returns the words of the next line; empty if the process has ended.
    func words() -> [String] {
        (line(within: nil) ?? "").split(separator: " ").map(String.init)
    }

    /// Returns the next line of output; `nil` if the process has ended, or has printed none in time.
    ///
    /// - Parameter timeout: The time to wait; `nil` waits while the process runs.
    func line(within timeout: Duration?) -> String? {
        let end = timeout.map { ContinuousClock.now + $0 }
        while true {
            if let index = unread.firstIndex(of: 10) {
                defer { unread.removeSubrange(...index) }
                return String(decoding: unread[..<index], as: UTF8.self)
            }
            let rest = end.map { max(.zero, $0 - .now) / .milliseconds(1) } ?? -1
            var descriptor = pollfd(
                fd: output.fileHandleForReading.fileDescriptor,
                events: Int16(POLLIN),
                revents: 0
            )
            let count = poll(&descriptor, 1, Int32(rest))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            unread += data
        }
    }
}
#endif
