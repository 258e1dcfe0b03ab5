#if Etcd && canImport(Glibc)
import Foundation
import Preferences
import PreferencesEtcd
import Synchronization

/// A worker that counts, sets and removes while the cluster has faults, and records the outcome of each write.
///
/// It adds one to a counter and writes the attempt's number to its own name in the same transaction, so that name shows which attempt was
/// stored. Everything runs on one thread, except for the store's reports.
final class FireWorker {
    struct Orders: Codable {
        var index: Int
        /// The number of stored updates after which it ends.
        var count: Int
        /// The shortest time from one update to the next, in microseconds.
        var interval: Int
        var seed: UInt64
        /// The configuration's `timeout` and `attemptTimeout`, in milliseconds.
        var timeout: Int
        var attemptTimeout: Int

        var ledger: String { "ledger.\(index)" }
    }

    /// The possible values of a name that only this worker sets; -1 stands for no value.
    struct Name: Codable {
        var acknowledged = -1
        /// The values set since then of which it is unknown whether they are stored.
        var doubtful: [Int] = []
        /// The values set since then that must not be stored.
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
        /// The writes that are stored although they threw another error than `outcomeUnknown`.
        var denied: [String] = []
        /// The acknowledged writes that are not stored.
        var lost: [String] = []
        var names: [String: Name] = [:]
        /// The errors that writes threw, by code.
        var thrown: [String: Failed] = [:]
        /// The errors passed to the issue handler, by code.
        var reported: [String: Failed] = [:]
        var longestCall = 0.0

        var stored: Int { acknowledged + doubtfulStored }
    }

    /// The reported errors, which other threads write.
    private final class Reported: Sendable {
        let errors = Mutex<[String: Failed]>([:])
    }

    private let orders: Orders
    private let store: PreferenceStore
    private let counter: Preference<Int>
    private let ledger: Preference<Int>
    /// A name that makes a transaction write something, as its reads are then checked by etcd.
    private let check: Preference<Int>
    private let own: [Preference<Int>]
    private var random: SeededRandom
    private var report = Report()
    /// The attempts since the last one that is known to be stored, and their errors.
    private var open: [Int: PreferenceError.Code] = [:]
    private var (attempt, last) = (0, 0)

    init(_ parameter: String, _ configuration: EtcdConfiguration) throws {
        orders = try JSONDecoder().decode(Orders.self, from: Data(parameter.utf8))
        var configuration = configuration
        configuration.timeout = .milliseconds(orders.timeout)
        configuration.attemptTimeout = .milliseconds(orders.attemptTimeout)
        configuration.probeInterval = .seconds(1)
        // Each worker has another order of the members.
        let shift = orders.index % configuration.endpoints.count
        configuration.endpoints = Array(configuration.endpoints[shift...] + configuration.endpoints[..<shift])
        let store = try PreferenceStore.etcd("torture", configuration)
        self.store = store
        counter = Preference("counter", default: 0, in: store)
        ledger = Preference(orders.ledger, default: 0, in: store)
        check = Preference("check.\(orders.index)", default: 0, in: store)
        let index = orders.index
        own = (0..<8).map { Preference("own.\(index).\($0)", default: -1, in: store) }
        random = SeededRandom(orders.seed)
    }

    func run() throws {
        let reported = Reported()
        store.issueHandler = { error in reported.errors.withLock { Self.note(error, in: &$0) } }
        work()
        report.reported = reported.errors.withLock { $0 }
        Worker.say("report " + String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private func work() {
        let start = ContinuousClock.now
        var said = start
        while report.stored < orders.count {
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

    /// Tries one update; returns whether it is stored, or an earlier one turned out to be.
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
                recordStored(found)
                return true
            }
            report.acknowledged += 1
            resolve(storing: attempt)
            return true
        } catch {
            open[attempt] = note(error)
            return false
        }
    }

    /// Records an attempt that is stored although its call threw.
    private func recordStored(_ found: Int) {
        switch open.removeValue(forKey: found) {
        case .outcomeUnknown: report.doubtfulStored += 1
        case let code?:
            report.doubtfulStored += 1
            report.denied.append("update \(found): \(code)")
        case nil: report.lost.append("update \(last): \(orders.ledger) is \(found)")
        }
        resolve(storing: found)
    }

    /// No other attempt of those before can be stored any more, as each compares the ledger.
    private func resolve(storing attempt: Int) {
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
            examine(preference, after: value, code, &name)
        }
        report.names[preference.name] = name
    }

    /// Reads the stored value after a set that threw, in a transaction that etcd checks.
    private func examine(
        _ preference: Preference<Int>,
        after value: Int,
        _ code: PreferenceError.Code,
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

    // MARK: Records

    private func timed<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        defer { report.longestCall = max(report.longestCall, (ContinuousClock.now - start) / .seconds(1)) }
        return try body()
    }

    @discardableResult
    private func note(_ error: any Error) -> PreferenceError.Code {
        let error = error as? PreferenceError ?? PreferenceError(.misuse, "\(error)")
        Self.note(error, in: &report.thrown)
        return error.code
    }

    private static func note(_ error: PreferenceError, in errors: inout [String: Failed]) {
        // Some errors of a full server have another code, and are recognized by their text.
        let key = error.code.description + (error.message.contains("space exceeded") ? ", no space" : "")
        errors[key, default: Failed(message: error.message)].count += 1
    }
}

/// A generator with the same numbers in every run (SplitMix64).
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
