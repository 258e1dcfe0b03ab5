internal import DurableFile

/// Keeps values in memory where another backend can't be opened, and says so at each write.
final class FallbackBackend: PreferenceBackend {
    private let choice: Lock<Choice>

    private enum Choice {
        case first(any PreferenceBackend)
        case memory(MemoryBackend, because: PreferencesError)
    }

    /// Makes a backend that is `first` unless that can't be loaded.
    init(insteadOf first: any PreferenceBackend) {
        choice = Lock(.first(first))
    }

    /// Makes a backend for which there is no other.
    init(because error: PreferencesError) {
        choice = Lock(.memory(MemoryBackend(), because: error))
    }

    private var current: any PreferenceBackend {
        switch choice.withLock({ $0 }) {
        case .first(let backend): backend
        case .memory(let backend, _): backend
        }
    }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        do throws(PreferencesError) {
            return try current.load(host: host)
        } catch {
            choice.withLock { $0 = .memory(MemoryBackend(), because: error) }
            host.report(error)
            return [:]
        }
    }

    func refresh() throws(PreferencesError) -> [String: PropertyListValue?] {
        try current.refresh()
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        try current.apply(changes, if: condition)
    }

    func flush() async throws(PreferencesError) {
        try checkOpened()
        try await current.flush()
    }

    func sync() throws(PreferencesError) {
        try checkOpened()
        try current.sync()
    }

    func settle() throws(PreferencesError) {
        try checkOpened()
        try current.settle()
    }

    private func checkOpened() throws(PreferencesError) {
        if case .memory(_, let error) = choice.withLock({ $0 }) {
            throw PreferencesError(
                .notDurable,
                "the value is kept in memory only and ends with the program, since the store could not be opened; "
                    + "mend that and start again",
                cause: error
            )
        }
    }
}
