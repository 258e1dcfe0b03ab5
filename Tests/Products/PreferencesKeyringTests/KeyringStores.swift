@testable import DurableFile
@testable import Preferences
@testable import PreferencesKeyring

extension PreferenceStore {
    /// Creates a store over a keyring, as `.keyring(service:)` does outside of tests.
    static func testing(_ backend: any PreferenceBackend) -> PreferenceStore {
        PreferenceStore(Layer(source: Source(backend), isText: true), isSecret: true)
    }

    /// Creates a backend for which no time passes, unless the test gives limits or runs the timer's jobs.
    static func testing(
        _ keyring: MemoryKeyring,
        limits: KeyringLimits = KeyringLimits(call: .seconds(3600)),
        timer: WorkerQueue = WorkerQueue(isManual: true)
    ) -> PreferenceStore {
        testing(KeyringBackend(keyring, limits: limits, timer: timer))
    }
}

/// The errors that a store reported, in order.
final class Reports: Sendable {
    private let reported = Lock<[PreferenceError]>([])

    init(of store: PreferenceStore) { store.issueHandler = { [self] error in reported.withLock { $0.append(error) } } }

    var errors: [PreferenceError] { reported.withLock { $0 } }
    var codes: [PreferenceError.Code] { errors.map(\.code) }
}
