internal import DurableFile
public import Preferences

/// A backend that does what another does until a test tells it to fail, to wait, or to change behind the store's back.
///
///     let backend = FaultInjectingBackend(["theme": "dark"])
///     let store = PreferenceStore(backend: backend)
///     backend.failNext(.apply)
///     backend.changeOutside(["theme": "light"])
///
/// All of it may be called on any thread.
public final class FaultInjectingBackend: PreferenceBackend {
    /// A call of a backend that can be made to fail.
    public enum Operation: Hashable, Sendable, CaseIterable {
        /// Reading everything at first.
        case load
        /// Looking for outside changes.
        case refresh
        /// Storing changes.
        case apply
        /// Making a stored change durable before its set returns.
        case didApply
        /// Making everything durable.
        case sync
    }

    private struct Failure {
        var count: Int
        let error: PreferencesError
    }

    private struct State {
        var failures: [Operation: Failure] = [:]
        var host: PreferenceBackendHost?
        /// What somebody else is to have changed, in order.
        var pending: [[String: PropertyListValue?]] = []
        /// What was changed so and the store hasn't been told of.
        var untold: [String: PropertyListValue?] = [:]
    }

    private let base: any PreferenceBackend
    private let state = Lock(State())
    private let held = Condition(HeldSyncs())

    /// Makes a backend in memory.
    public convenience init(_ contents: [String: PropertyListValue] = [:]) {
        self.init(over: MemoryBackend(contents))
    }

    /// Makes a backend over another, which nobody else calls from then on.
    public init(over base: any PreferenceBackend) {
        self.base = base
    }

    /// Makes the next calls of an operation throw; what they should have done stays undone.
    ///
    /// - Parameters:
    ///   - operation: Which calls fail.
    ///   - count: How many of them; 0 takes an earlier order back.
    ///   - error: What they throw.
    public func failNext(
        _ operation: Operation,
        count: Int = 1,
        with error: PreferencesError = PreferencesError(.unavailable, "a test made this call fail; nothing was changed")
    ) {
        state.withLock { $0.failures[operation] = Failure(count: count, error: error) }
    }

    /// Changes values as another process would; nil removes.
    ///
    /// Where the store isn't busy on another thread it shows them when this returns, and its observers were told.
    public func changeOutside(_ changes: [String: PropertyListValue?]) {
        let host = state.withLock { state in
            state.pending.append(changes)
            return state.host
        }
        host?.changed()
    }

    /// Puts a stored value under a name, from outside, that no declared type can read.
    public func makeUnreadable(_ name: String) {
        // No type but `PropertyListValue` itself has elements of this many kinds.
        changeOutside([name: .array([.boolean(true), .array([]), .real(0.5), .dictionary([:])])])
    }

    /// Makes calls of `sync` block until `releaseFlushes`, and so `PreferenceStore.flush()` wait.
    public func holdFlushes() {
        held.withLock { $0.isHolding = true }
    }

    /// Lets the waiting calls of `sync` go on, and later ones pass.
    public func releaseFlushes() {
        held.signal { $0.isHolding = false }
    }

    /// Returns once a call of `sync` waits for `releaseFlushes`.
    ///
    /// A store that was never read or written doesn't call its backend's `sync`.
    public nonisolated(nonsending) func waitForHeldFlush() async {
        await withUnsafeContinuation { continuation in
            if held.withLock({ $0.addWitness(continuation) }) { continuation.resume() }
        }
    }

    // MARK: What a store calls

    /// The base's.
    public var timeout: Duration? { base.timeout }

    /// Asks the base.
    public func checkThreadMayBlock() throws(PreferencesError) { try base.checkThreadMayBlock() }

    /// Loads the base, with the outside changes that wait.
    public func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        // As a file is watched before it is read: also one that can't be opened tells when it may be.
        state.withLock { $0.host = host }
        try pass(.load)
        let contents = try base.load(host: host)
        return try takePending().reduce(into: contents) { $0[$1.key] = $1.value }
    }

    /// Gives what the base and the test changed outside.
    public func refresh() throws(PreferencesError) -> [String: PropertyListValue?] {
        try pass(.refresh)
        try remember(base.refresh())
        return try takePending()
    }

    /// Makes the outside changes that wait, then applies.
    public func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        try pass(.apply)
        let outside = try takePending()
        do throws(PreferencesError) {
            var commit = try base.apply(changes, if: condition)
            commit.outside = outside.merging(commit.outside) { $1 }
            return commit
        } catch {
            remember(outside)
            throw error
        }
    }

    /// Tells the base.
    public func didApply() throws(PreferencesError) {
        try pass(.didApply)
        try base.didApply()
    }

    /// Makes everything in the base durable, once no test holds it.
    public func sync() throws(PreferencesError) { try sync(until: nil) }

    /// As `sync()`, with the deadline for the base.
    public func sync(until deadline: ContinuousClock.Instant?) throws(PreferencesError) {
        for witness in held.withLock({ $0.begin() }) { witness.resume() }
        held.wait { $0.end() ? .done(()) : .until(nil) }
        try pass(.sync)
        try base.sync(until: deadline)
    }

    /// What the base has.
    public func values(for names: Set<String>) -> [String: PropertyListValue] {
        base.values(for: names)
    }

    /// What the base says.
    public func isManaged(_ name: String) -> Bool {
        base.isManaged(name)
    }

    /// Throws where the call is to fail.
    private func pass(_ operation: Operation) throws(PreferencesError) {
        let error = state.withLock { state -> PreferencesError? in
            guard let failure = state.failures[operation], failure.count > 0 else { return nil }
            state.failures[operation]?.count -= 1
            return failure.error
        }
        if let error { throw error }
    }

    private func remember(_ outside: [String: PropertyListValue?]) {
        state.withLock { $0.untold.merge(outside) { $1 } }
    }

    /// Makes the outside changes that wait, in the base, and gives all that the store hasn't been told of.
    private func takePending() throws(PreferencesError) -> [String: PropertyListValue?] {
        while let changes = state.withLock({ $0.pending.first }) {
            let commit = try base.apply(changes, if: .none)
            state.withLock { _ = $0.pending.removeFirst() }
            remember(commit.outside)
            remember(changes)
        }
        return state.withLock { exchange(&$0.untold, with: [:]) }
    }
}

/// The calls of `sync` that a test holds, and who waits for one.
private struct HeldSyncs {
    typealias Continuation = UnsafeContinuation<Void, Never>

    var isHolding = false
    private var count = 0
    private var witnesses: [Continuation] = []

    /// Counts a call in; returns who waited for one that is held.
    mutating func begin() -> [Continuation] {
        count += 1
        return isHolding ? exchange(&witnesses, with: []) : []
    }

    /// Counts a call out if it may pass.
    mutating func end() -> Bool {
        if !isHolding { count -= 1 }
        return !isHolding
    }

    /// Returns whether a call is held already, so that the witness need not wait.
    mutating func addWitness(_ witness: Continuation) -> Bool {
        if isHolding, count > 0 { return true }
        witnesses.append(witness)
        return false
    }
}
