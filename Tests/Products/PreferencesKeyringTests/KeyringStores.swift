@testable import Preferences
@testable import PreferencesKeyring

/// Jobs that are due after a time, which a test runs.
final class ManualTimer: Sendable {
    private let jobs = Lock<[@Sendable () -> Void]>([])

    /// Runs the oldest job; returns false if there is none.
    func runNextJob() -> Bool {
        let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        job?()
        return job != nil
    }

    func add(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }
}

extension PreferenceStore {
    /// Creates a store over a keyring, as `.keyring(service:)` does outside of tests, for which no time passes unless the test gives limits
    /// or runs the timer's jobs.
    static func testing(
        _ keyring: any Keyring,
        limits: KeyringLimits = KeyringLimits(call: .seconds(3600), timeToLive: .seconds(3600)),
        timer: ManualTimer = ManualTimer()
    ) -> PreferenceStore {
        let backend = KeyringBackend(keyring, limits: limits) { timer.add($1) }
        var layer = Layer(source: Source(backend))
        layer.isText = true
        return PreferenceStore(layer, isSecret: true)
    }
}

/// The errors that a store reported, in order.
final class Reports: Sendable {
    private let reported = Lock<[PreferenceError]>([])

    init(of store: PreferenceStore) { store.issueHandler = { [self] error in reported.withLock { $0.append(error) } } }

    var errors: [PreferenceError] { reported.withLock { $0 } }
    var codes: [PreferenceError.Code] { errors.map(\.code) }
}
