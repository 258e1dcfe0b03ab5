internal import DurableFile
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
        /// Reading external changes.
        case refresh
        /// Storing changes.
        case apply
        /// Making a stored change durable before its set returns.
        case didApply
        /// Making all changes durable.
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
        var pending: [[String: PropertyListValue?]] = []
        /// The external changes that were made and that the store has not read.
        var unread: [String: PropertyListValue?] = [:]
    }

    private let base: any PreferenceBackend
    private let state = Lock(State())
    private let held = Condition(HeldSyncs())

    /// Creates a backend in memory.
    public convenience init(_ contents: [String: PropertyListValue] = [:]) {
        self.init(over: MemoryBackend(contents))
    }

    /// Creates a backend over another one, which must not be called by other code from then on.
    public init(over base: any PreferenceBackend) {
        self.base = base
    }

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
    /// When this returns, the store shows the changes and its observers have been notified, unless another thread is using the store.
    public func changeOutside(_ changes: [String: PropertyListValue?]) {
        let host = state.withLock { state in
            state.pending.append(changes)
            return state.host
        }
        host?.changed()
    }

    /// Stores a value under a name, as an external change, that no declared type can read.
    public func makeUnreadable(_ name: String) {
        changeOutside([name: .unknownForm("{\"$later\":1}")])
    }

    /// Holds calls of `sync`, and so `PreferenceStore.flush()`, until `releaseFlushes`.
    public func holdFlushes() {
        held.withLock { $0.isHolding = true }
    }

    /// Lets the waiting calls of `sync` continue, and later ones pass.
    public func releaseFlushes() {
        held.signal { $0.isHolding = false }
    }

    /// Returns when a call of `sync` waits for `releaseFlushes`.
    ///
    /// A store that was never read or written doesn't call its backend's `sync`.
    public nonisolated(nonsending) func waitForHeldFlush() async {
        await withUnsafeContinuation { continuation in
            if held.withLock({ $0.addWitness(continuation) }) { continuation.resume() }
        }
    }

    // MARK: PreferenceBackend

    /// The timeout of the base.
    public var timeout: Duration? { base.timeout }

    /// Checks the thread by the base.
    public func checkThreadMayBlock() throws(PreferenceError) { try base.checkThreadMayBlock() }

    /// Loads the base, with the pending external changes.
    public func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        // Comes first, as a file is watched before it is read: even a backend that can't be opened reports when it may be.
        state.withLock { $0.host = host }
        try pass(.load)
        let contents = try base.load(host: host)
        return try applyPending().reduce(into: contents) { $0[$1.key] = $1.value }
    }

    /// Returns the external changes of the base and of the test.
    public func refresh() throws(PreferenceError) -> [String: PropertyListValue?] {
        try pass(.refresh)
        try remember(base.refresh())
        return try applyPending()
    }

    /// Performs the pending external changes, then applies the store's.
    public func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        try pass(.apply)
        let external = try applyPending()
        do throws(PreferenceError) {
            var commit = try base.apply(changes, if: condition)
            commit.outside = external.merging(commit.outside) { $1 }
            return commit
        } catch {
            remember(external)
            throw error
        }
    }

    /// Forwards to the base, which makes the last change durable.
    public func didApply() throws(PreferenceError) {
        try pass(.didApply)
        try base.didApply()
    }

    /// Waits while a test holds flushes, then forwards to the base, which makes all changes durable.
    public func sync() throws(PreferenceError) { try sync(until: nil) }

    /// Does the same as `sync()`, with a deadline for the base.
    public func sync(until deadline: ContinuousClock.Instant?) throws(PreferenceError) {
        for witness in held.withLock({ $0.begin() }) { witness.resume() }
        held.wait { $0.end() ? .done(()) : .until(nil) }
        try pass(.sync)
        try base.sync(until: deadline)
    }

    /// Returns the base's values.
    public func values(for names: Set<String>) -> [String: PropertyListValue] {
        base.values(for: names)
    }

    /// Returns whether the base says that the value is managed.
    public func isManaged(_ name: String) -> Bool {
        base.isManaged(name)
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

    private func remember(_ external: [String: PropertyListValue?]) {
        state.withLock { $0.unread.merge(external) { $1 } }
    }

    /// Performs the pending external changes in the base, and returns all external changes that the store hasn't read.
    private func applyPending() throws(PreferenceError) -> [String: PropertyListValue?] {
        while let changes = state.withLock({ $0.pending.first }) {
            let commit = try base.apply(changes, if: .none)
            state.withLock { _ = $0.pending.removeFirst() }
            remember(commit.outside)
            remember(changes)
        }
        return state.withLock { exchange(&$0.unread, with: [:]) }
    }
}

/// The calls of `sync` that a test holds, and the tasks that wait for one.
private struct HeldSyncs {
    typealias Continuation = UnsafeContinuation<Void, Never>

    var isHolding = false
    private var count = 0
    private var witnesses: [Continuation] = []

    /// Counts a call in; returns the continuations that waited for a held call.
    mutating func begin() -> [Continuation] {
        count += 1
        return isHolding ? exchange(&witnesses, with: []) : []
    }

    /// Counts a call out if it may pass.
    mutating func end() -> Bool {
        if !isHolding { count -= 1 }
        return !isHolding
    }

    /// Returns whether a call is already held, so that the continuation needn't wait.
    mutating func addWitness(_ witness: Continuation) -> Bool {
        if isHolding, count > 0 { return true }
        witnesses.append(witness)
        return false
    }
}
