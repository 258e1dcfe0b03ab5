#if Configuration
import Configuration
import Preferences
import Synchronization
import Testing

/// Expects that `body` throws `unavailable`.
func expectUnavailable<Value>(_ body: () throws -> Value, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: PreferenceError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == .unavailable, sourceLocation: sourceLocation)
}

/// The issues of a store, in order.
final class IssueLog: Sendable {
    private let issues = Mutex<[PreferenceError]>([])

    init(of store: PreferenceStore) {
        store.issueHandler = { [weak self] error in self?.issues.withLock { $0.append(error) } }
    }

    var all: [PreferenceError] { issues.withLock { $0 } }
}

extension AsyncIteratorProtocol where Failure == Never {
    /// Returns the next element; unlike `next()` it never throws, whatever the iterator implements.
    mutating func following(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
        await next(isolation: actor)
    }
}

extension AsyncIteratorProtocol where Element == Result<LookupResult, any Error>, Failure == Never {
    /// Returns the value of the next element.
    mutating func value(isolation actor: isolated (any Actor)? = #isolation) async throws -> ConfigValue? {
        try await next(isolation: actor)?.get().value
    }
}

/// A provider whose watches a test can observe and end.
final class WatchedProvider: ConfigProvider {
    enum Event { case began, ended }
    struct Failure: Error {}

    let base: MutableInMemoryProvider
    let events: AsyncStream<Event>
    private let log: AsyncStream<Event>.Continuation
    private let failure: Failure?
    private let endsAtOnce: Bool

    init(
        _ values: [AbsoluteConfigKey: ConfigValue] = [:],
        failingWith failure: Failure? = nil,
        endsAtOnce: Bool = false
    ) {
        base = MutableInMemoryProvider(initialValues: values)
        self.failure = failure
        self.endsAtOnce = endsAtOnce
        (events, log) = AsyncStream.makeStream()
    }

    var providerName: String { base.providerName }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try base.value(forKey: key, type: type)
    }

    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try await base.fetchValue(forKey: key, type: type)
    }

    func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey,
        type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return {
        try await base.watchValue(forKey: key, type: type, updatesHandler: updatesHandler)
    }

    func snapshot() -> any ConfigSnapshot { base.snapshot() }

    func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        log.yield(.began)
        defer { log.yield(.ended) }
        if let failure { throw failure }
        if endsAtOnce {
            return try await updatesHandler(ConfigUpdatesAsyncSequence(AsyncStream { $0.finish() }))
        }
        return try await base.watchSnapshot(updatesHandler: updatesHandler)
    }
}
#endif
