#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesEtcd
import Synchronization

/// Counts, sets and removes while the cluster is under fire, and accounts for the outcome of each write.
///
/// It adds one to a counter and writes the attempt's number to a name of its own in the same transaction, so what is read
/// there says which attempt was stored. Everything runs on one thread but what the store reports and the end, which comes by the standard input.
final class FireWorker {
    struct Orders: Codable {
        var index: Int
        /// After how many stored updates it ends; nil ends it by a line of its input.
        var count: Int?
        /// The least time from one update to the next, in microseconds.
        var interval: Int
        var seed: UInt64
        /// The configuration's `timeout` and `attemptTimeout`, in milliseconds.
        var timeout: Int
        var attemptTimeout: Int
        /// Whether it queues writes, in a counter of its own.
        var isQueueing: Bool

        /// The name of what it counts.
        var counter: String { isQueueing ? "queue.counter" : "counter" }
        var ledger: String { "ledger.\(index)" }
    }

    /// The fate of one name that this worker alone sets; -1 stands for no value.
    struct Name: Codable {
        var acknowledged = -1
        /// What was set since then, of which it is unknown whether it is stored.
        var doubtful: [Int] = []
        /// What was set since then and must not be stored.
        var refused: [Int] = []
    }

    struct Failed: Codable {
        var count = 0
        /// The message of the first.
        var message = ""
    }

    struct Report: Codable {
        var acknowledged = 0
        var doubtfulStored = 0
        var doubtfulNotStored = 0
        var sets = 0
        var removals = 0
        var setsDoubtfulStored = 0
        var setsDoubtfulNotStored = 0
        /// Stored, though they threw something else than `outcomeUnknown`.
        var denied: [String] = []
        /// Acknowledged, and then not there.
        var lost: [String] = []
        var names: [String: Name] = [:]
        /// Thrown by writes, by code.
        var thrown: [String: Failed] = [:]
        /// Given to the issue handler, by code.
        var reported: [String: Failed] = [:]
        var longestCall = 0.0
        var waitingWrites = 0

        var stored: Int { acknowledged + doubtfulStored }
    }

    /// What other threads say.
    private final class Shared: Sendable {
        let isEnding = Atomic(false)
        let reported = Mutex<[String: Failed]>([:])
    }

    private let orders: Orders
    private let store: PreferenceStore
    private let monitor = EtcdMonitor()
    private let counter: Preference<Int>
    private let ledger: Preference<Int>
    /// Written only so that a transaction has something to store, which makes its reads exact.
    private let check: Preference<Int>
    private let own: [Preference<Int>]
    private var random: SeededRandom
    private var report = Report()
    /// The attempts since the last one that is known to be stored, and their errors.
    private var open: [Int: PreferencesError.Code] = [:]
    private var (attempt, last) = (0, 0)

    init(_ parameter: String, _ configuration: EtcdConfiguration) throws {
        orders = try JSONDecoder().decode(Orders.self, from: Data(parameter.utf8))
        var configuration = configuration
        configuration.timeout = .milliseconds(orders.timeout)
        configuration.attemptTimeout = .milliseconds(orders.attemptTimeout)
        configuration.probeInterval = .seconds(1)
        if orders.isQueueing { configuration.offlineWrites = .queueing }
        // Each begins at another member.
        let shift = orders.index % configuration.endpoints.count
        configuration.endpoints = Array(configuration.endpoints[shift...] + configuration.endpoints[..<shift])
        let store = try PreferenceStore.etcd("torture", configuration, monitor: monitor)
        self.store = store
        counter = Preference(orders.counter, default: 0, in: store)
        ledger = Preference(orders.ledger, default: 0, in: store)
        check = Preference("check.\(orders.index)", default: 0, in: store)
        let index = orders.index
        own = (0..<8).map { Preference("own.\(index).\($0)", default: -1, in: store) }
        random = SeededRandom(orders.seed)
    }

    func run() async throws {
        let shared = Shared()
        store.issueHandler = { error in shared.reported.withLock { Self.note(error, in: &$0) } }
        if orders.count == nil {
            Thread.detachNewThread {
                _ = readLine()
                shared.isEnding.store(true, ordering: .releasing)
            }
        }
        work(shared)
        // Nothing may still wait, and the store has to say so.
        while orders.isQueueing {
            do {
                try await store.flush()
                break
            } catch { usleep(50_000) }
        }
        report.waitingWrites = monitor.status.waitingWrites
        report.reported = shared.reported.withLock { $0 }
        Worker.say("report " + String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private func work(_ shared: Shared) {
        let start = ContinuousClock.now
        var said = start
        while !shared.isEnding.load(ordering: .acquiring), orders.count.map({ report.stored < $0 }) ?? true {
            if increment() {
                if random.next(below: 2) == 0 { setOne() }
            } else {
                usleep(20_000)
            }
            if said + .milliseconds(300) < .now {
                said = .now
                Worker.say("at \(report.stored)")
            }
            let rest = start + .microseconds(orders.interval * report.stored) - .now
            if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
        }
    }

    // MARK: The counter

    /// Makes one attempt, and returns whether it is stored or an earlier one turned out to be.
    private func increment() -> Bool {
        attempt += 1
        do {
            let found = try timed {
                try store.transaction { transaction in
                    let found = transaction[ledger]
                    guard found == last else { return found }
                    transaction[ledger] = attempt
                    transaction[counter] += 1
                    return found
                }
            }
            guard found == last else {
                resolve(found)
                return true
            }
            report.acknowledged += 1
            settle(storing: attempt)
            return true
        } catch {
            open[attempt] = note(error)
            return false
        }
    }

    /// Accounts for an attempt that is stored though its call threw.
    private func resolve(_ found: Int) {
        switch open.removeValue(forKey: found) {
        case .outcomeUnknown: report.doubtfulStored += 1
        case let code?:
            report.doubtfulStored += 1
            report.denied.append("update \(found): \(code)")
        case nil: report.lost.append("update \(last): \(orders.ledger) is \(found)")
        }
        settle(storing: found)
    }

    /// No other attempt of those before can be stored any more, as each compares the ledger.
    private func settle(storing attempt: Int) {
        report.doubtfulNotStored += open.values.count { $0 == .outcomeUnknown }
        open = [:]
        last = attempt
    }

    // MARK: Names of its own

    private func setOne() {
        let preference = own[Int(random.next(below: UInt64(own.count)))]
        var name = report.names[preference.name] ?? Name()
        attempt += 1
        let value = random.next(below: 4) == 0 ? -1 : attempt
        do {
            try timed {
                if value < 0 {
                    try store.transaction { $0.reset(preference) }
                } else {
                    try preference.write(value)
                }
            }
            name = Name(acknowledged: value)
            if value < 0 { report.removals += 1 } else { report.sets += 1 }
        } catch {
            let code = note(error)
            if code == .outcomeUnknown { name.doubtful.append(value) } else { name.refused.append(value) }
            // What a queue shows need not be stored.
            if !orders.isQueueing { examine(preference, after: value, code, &name) }
        }
        report.names[preference.name] = name
    }

    /// Reads exactly what is stored after a set that threw.
    private func examine(
        _ preference: Preference<Int>,
        after value: Int,
        _ code: PreferencesError.Code,
        _ name: inout Name
    ) {
        while true {
            attempt += 1
            let found: Int
            do {
                found = try timed {
                    try store.transaction { transaction in
                        transaction[check] = attempt
                        return transaction[preference]
                    }
                }
            } catch {
                note(error)
                usleep(20_000)
                continue
            }
            if found == name.acknowledged {
                if code == .outcomeUnknown { report.setsDoubtfulNotStored += 1 }
            } else if name.doubtful.contains(found) {
                report.setsDoubtfulStored += 1
                name = Name(acknowledged: found)
            } else {
                if name.refused.contains(found) {
                    report.denied.append("\(preference.name) = \(found): \(code)")
                } else {
                    report.lost.append("\(preference.name) = \(name.acknowledged): \(found) is stored")
                }
                name = Name(acknowledged: found)
            }
            return
        }
    }

    // MARK: Accounts

    private func timed<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        defer { report.longestCall = max(report.longestCall, (ContinuousClock.now - start) / .seconds(1)) }
        return try body()
    }

    @discardableResult
    private func note(_ error: any Error) -> PreferencesError.Code {
        let error = error as? PreferencesError ?? PreferencesError(.misuse, "\(error)")
        Self.note(error, in: &report.thrown)
        return error.code
    }

    private static func note(_ error: PreferencesError, in errors: inout [String: Failed]) {
        // Until it has a code of its own, a full server is told by its text.
        let key = error.code.description + (error.message.contains("space exceeded") ? ", no space" : "")
        errors[key, default: Failed(message: error.message)].count += 1
    }
}

/// The same numbers in every run (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func next(below limit: UInt64) -> UInt64 { next() % limit }
}
#endif
