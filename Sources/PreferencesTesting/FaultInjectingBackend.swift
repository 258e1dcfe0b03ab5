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
        /// Looking for external changes, as `load()` of an open store does.
        case refresh
        /// Storing changes.
        case apply
        /// Making a stored change durable before its write returns.
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
        /// The external changes that are being made in the base.
        var current: [String: PropertyListValue?]?
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

    /// Whether the base can be written.
    public var isWritable: Bool { base.isWritable }

    /// Checks the thread by the base.
    public func checkThreadMayBlock() throws(PreferenceError) { try base.checkThreadMayBlock() }

    /// Whether the base lists all names.
    public var listsAllNames: Bool { base.listsAllNames }

    /// Loads the base, with the pending external changes.
    public func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        // Comes first, as a file is watched before it is read: even a backend that can't be opened reports when it may be.
        state.withLock { $0.host = host }
        try pass(.load)
        var contents = try base.load(host: baseHost(host))
        for changes in state.withLock({ $0.pending }) {
            for (name, value) in changes { contents[name] = value }
        }
        try applyPending()
        return contents
    }

    /// Lets the base catch up, and performs the external changes of the test.
    public func catchUp() throws(PreferenceError) {
        try pass(.refresh)
        try base.catchUp()
        try applyPending()
    }

    /// Performs the pending external changes, then applies the store's.
    public func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        try pass(.apply)
        try applyPending()
        return try base.apply(changes, if: condition)
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

    /// Performs the pending external changes in the base.
    private func applyPending() throws(PreferenceError) {
        while let changes = state.withLock({ $0.pending.first }) {
            state.withLock { $0.current = changes }
            defer { state.withLock { $0.current = nil } }
            _ = try base.apply(changes, if: .none)
            state.withLock { _ = $0.pending.removeFirst() }
            passCurrent(at: nil)
        }
    }

    /// Passes the external changes that the base has stored on to the store, unless that is done.
    private func passCurrent(at position: Int64?) {
        state.withLock { state in
            guard let changes = exchange(&state.current, with: nil) else { return }
            state.host?.collect(changes, at: position)
        }
    }

    /// Returns the host of the base, for which the external changes of the test are its own.
    private func baseHost(_ host: PreferenceBackendHost) -> PreferenceBackendHost {
        PreferenceBackendHost(
            add: { host.collect($0, at: $1) },
            addOwn: { [weak self] position in
                guard let self else { return }
                if state.withLock({ $0.current != nil }) {
                    passCurrent(at: position)
                } else {
                    host.noteApplied(at: position)
                }
            },
            announce: { isCatchingUp in if isCatchingUp { host.changed() } else { host.changed([:]) } },
            host.report,
            host.deadline,
            invalidate: { host.outdated() }
        )
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
