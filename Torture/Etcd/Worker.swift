#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesEtcd

/// What this program does when an experiment starts it as a process of its own; it ends with its input.
enum Worker {
    static func run(_ arguments: [String]) async throws -> Int32 {
        guard arguments.count == 3 else { throw EtcdObstacle("a worker needs a role, a number and endpoints") }
        let endpoints = arguments[2].split(separator: ",").map(String.init)
        let store = try PreferenceStore.etcd("torture", EtcdConfiguration(endpoints: endpoints))
        switch arguments[0] {
        case "increment": try increment(Int(arguments[1]) ?? 0, in: store)
        case "set": try set(Int(arguments[1]) ?? 0, in: store)
        case "watch": try await watch(store)
        default: throw EtcdObstacle("no such role")
        }
        while readLine() != nil {}
        return 0
    }

    private static func increment(_ count: Int, in store: PreferenceStore) throws {
        let counter = Preference("counter", default: 0, in: store)
        var conflicts = 0
        var done = 0
        while done < count {
            do {
                try counter.update { $0 += 1 }
                done += 1
            } catch let error as PreferencesError where error.code == .conflict {
                conflicts += 1
            }
        }
        say("done \(conflicts)")
    }

    /// Sets a flag so often when it is told to.
    private static func set(_ count: Int, in store: PreferenceStore) throws {
        let flag = Preference("flag", default: 0, in: store)
        say("ready \(flag.value)")
        guard readLine() != nil else { return }
        for value in 1...max(1, count) { try flag.write(value) }
        say("done")
    }

    /// Says what it saw when it is told where the counter ended.
    private static func watch(_ store: PreferenceStore) async throws {
        let counter = Preference("counter", default: 0, in: store)
        var updates = counter.updates.makeAsyncIterator()
        var last = await updates.next() ?? -1
        say("ready \(last)")
        guard let end = readLine().flatMap({ Int($0) }) else { return }
        var (seen, breaks) = (0, 0)
        while last != end, let value = await updates.next() {
            seen += 1
            if value != last + 1 { breaks += 1 }
            last = value
        }
        say("saw \(seen) \(breaks) \(last) \(counter.value)")
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// Another process of this program, with lines to and from it.
final class WorkerProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ role: String, _ number: Int = 0, _ endpoints: [String]) throws {
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["worker", role, "\(number)", endpoints.joined(separator: ",")]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { process.terminate() }

    var isRunning: Bool { process.isRunning }

    func send(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// The next words that it says; none when it has ended.
    func words() -> [String] {
        var line: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != 10 { line.append(byte) }
        return String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    }
}
#endif
