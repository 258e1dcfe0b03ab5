internal import Synchronization
public import Preferences

/// A backend that forwards to another one until a test makes it fail, wait, or change values without the store.
///
///     let backend = FaultInjectingBackend(["theme": "dark"])
///     let store = PreferenceStore(backend: backend)
///     backend.failNext(.apply)
///     backend.changeOutside(["theme": "light"])
///
/// All methods may be called on any thread.
public final class FaultInjectingBackend: PreferenceBackend {
    /// A call of a backend that can be made to fail.
    public enum Operation: Hashable, Sendable, CaseIterable {
        /// Reading all values at first.
        case load
        /// Looking for external changes, as `load()` of an open store does.
        case refresh
        /// Storing changes.
        case apply
        /// Having all changes survive a loss of power.
        case sync
    }

    private struct Failure {
        var count: Int
        let error: PreferenceError
    }

    private struct State {
        var failures: [Operation: Failure] = [:]
        var host: PreferenceBackendHost?
        /// The external changes still to be made in the base, in order.
        var pending: [[StoredChange]] = []
    }

    private let base: any PreferenceBackend
    private let state = Mutex(State())

    /// Creates a backend in memory.
    public convenience init(_ contents: [String: PropertyListValue] = [:]) {
        self.init(over: Contents(contents.map { StoredChange($0.key, $0.value) }))
    }

    /// Creates a backend over another one, which must not be called by other code from then on.
    public init(over base: any PreferenceBackend) { self.base = base }

    /// Lets the next calls of an operation throw without any effect.
    ///
    /// - Parameters:
    ///   - operation: The operation whose calls fail.
    ///   - count: The number of calls that fail; 0 cancels an earlier order.
    ///   - error: The error to throw.
    public func failNext(
        _ operation: Operation,
        count: Int = 1,
        with error: PreferenceError = PreferenceError(.unavailable, "a test made this call fail; nothing was changed")
    ) {
        state.withLock { $0.failures[operation] = Failure(count: count, error: error) }
    }

    /// Performs an external change, as by another process; `nil` removes a name.
    ///
    /// The store shows the changes soon, or when its `load()` returns.
    public func changeOutside(_ changes: [String: PropertyListValue?]) {
        let host = state.withLock { state in
            state.pending.append(changes.map { StoredChange($0.key, $0.value) })
            return state.host
        }
        host?.changed()
    }

    /// Stores a value under a name, as an external change, that no declared type can read.
    public func makeUnreadable(_ name: String) { changeOutside([name: .unknownForm("{\"$later\":1}")]) }

    // MARK: PreferenceBackend

    /// The place of the base.
    public var place: String { base.place }

    /// The timeout of the base.
    public var timeout: Duration { base.timeout }

    /// Whether the base says when it waits.
    public var saysWhenItWaits: Bool { base.saysWhenItWaits }

    /// Whether the base can be written.
    public var isWritable: Bool { base.isWritable }

    /// Loads the base, with the pending external changes.
    public func load(host: PreferenceBackendHost) throws(PreferenceError) -> [StoredChange] {
        // Comes first, as a file is watched before it is read: even a backend that can't be opened reports when it may be.
        state.withLock { $0.host = host }
        try pass(.load)
        let contents = try base.load(host: host)
        return contents + (try changeBase()).joined()
    }

    /// Lets the base catch up, and performs the external changes of the test.
    public func catchUp() throws(PreferenceError) -> ExternalChanges {
        try pass(.refresh)
        return try base.catchUp().followed(by: changeBase())
    }

    /// Performs the pending external changes, then changes the base.
    public func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        try pass(.apply)
        let changes = try changeBase()
        try base.change(until: deadline) { try body($0.followed(by: changes)) }
    }

    /// Has the base make all changes survive a loss of power.
    public func sync() throws(PreferenceError) {
        try pass(.sync)
        try base.sync()
    }

    /// Throws if the call is to fail.
    private func pass(_ operation: Operation) throws(PreferenceError) {
        let error = state.withLock { state -> PreferenceError? in
            guard let failure = state.failures[operation], failure.count > 0 else { return nil }
            state.failures[operation]?.count -= 1
            return failure.error
        }
        if let error { throw error }
    }

    /// Performs the pending external changes in the base, and returns them.
    private func changeBase() throws(PreferenceError) -> [[StoredChange]] {
        var made: [[StoredChange]] = []
        while let changes = state.withLock({ $0.pending.isEmpty ? nil : $0.pending.removeFirst() }) {
            do { try base.change(until: PreferenceDeadline(after: base.timeout)) { _ in changes } } catch {
                throw PreferenceError(.unavailable, "an external change of a test failed", cause: error)
            }
            made.append(changes)
        }
        return made
    }
}

extension ExternalChanges {
    fileprivate func followed(by later: [[StoredChange]]) -> ExternalChanges {
        if later.isEmpty { return self }
        switch self {
        case .none: return .changes(later)
        case .changes(let earlier): return .changes(earlier + later)
        case .contents(let after, let changes): return .contents(after: after, changes + later.joined())
        }
    }
}

/// Values in memory.
private final class Contents: PreferenceBackend {
    let place = "a test's backend"
    let saysWhenItWaits = true
    private let initial: [StoredChange]

    init(_ initial: [StoredChange]) { self.initial = initial }

    func load(host: PreferenceBackendHost) -> [StoredChange] { initial }

    func catchUp() -> ExternalChanges { .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        _ = try body(.none)
    }
}
