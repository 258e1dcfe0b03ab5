#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Glibc
import Preferences
import PreferencesEtcd
import Synchronization

/// Many stores in one process, each with its own connection and watch, as on many machines.
///
/// It reads commands from the standard input: `load` creates the stores and loads all at the same time, `delays` prints and clears the
/// delays of the changes, `cost` prints the process's use of processor and memory. It prints `seen` when all stores have received a change.
final class FleetClients: Sendable {
    private struct State {
        var preferences: [Preference<Int>] = []
        var observations: [PreferenceObservation] = []
        var seen: [Int: Int] = [:]
        var delays: [Double] = []
    }

    private let count: Int
    private let configuration: EtcdConfiguration
    private let state = Mutex(State())

    init(_ parameter: String, _ configuration: EtcdConfiguration) throws {
        let words = parameter.split(separator: ",").compactMap { Int($0) }
        guard words.count == 2 else {
            throw EtcdObstacle("the clients need their number and the seconds between probes")
        }
        count = words[0]
        var configuration = configuration
        configuration.probeInterval = .seconds(words[1])
        // A slow load on a busy machine must not time out.
        configuration.timeout = .seconds(300)
        configuration.attemptTimeout = .seconds(120)
        self.configuration = configuration
    }

    func run() throws {
        while let command = readLine() {
            switch command {
            case "load": try load()
            case "delays":
                let delays = state.withLock { state in
                    defer { state.delays = [] }
                    return state.delays.sorted()
                }
                guard !delays.isEmpty else { throw EtcdObstacle("no change was seen") }
                Worker.say("delays \(delays[delays.count / 2]) \(delays[delays.count * 99 / 100])")
            case "cost":
                // Processor time in seconds.
                let used = Double(Self.nanoseconds(CLOCK_PROCESS_CPUTIME_ID)) / 1e9
                Worker.say("cost \(used) \(try Self.memory())")
            default: throw EtcdObstacle("no such command")
            }
        }
    }

    /// The time in nanoseconds, of a clock that all processes share.
    static var now: Int { nanoseconds(CLOCK_MONOTONIC) }

    private static func nanoseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private func load() throws {
        let stores = try (0..<count).map { _ in try PreferenceStore.etcd("torture", configuration) }
        let start = Self.now
        let group = DispatchGroup()
        for store in stores {
            group.enter()
            Thread.detachNewThread { [self] in
                let flag = Preference("flag", default: 0, in: store)
                _ = flag.value
                let observation = flag.observe { [self] change in seen(change.new) }
                state.withLock { state in
                    state.preferences.append(flag)
                    state.observations.append(observation)
                }
                group.leave()
            }
        }
        group.wait()
        let time = Double(Self.now - start) / 1e9
        let names = Set(stores.map(\.contents.count))
        Worker.say("loaded \(time) \(names.count == 1 ? names.first ?? 0 : -1)")
    }

    private func seen(_ moment: Int) {
        let delay = Double(Self.now - moment) / 1e6
        let isLast = state.withLock { state in
            state.delays.append(delay)
            state.seen[moment, default: 0] += 1
            return state.seen[moment] == count
        }
        if isLast { Worker.say("seen") }
    }

    /// Returns the resident memory of this process in bytes.
    private static func memory() throws -> Int {
        let text = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }
}
#endif
