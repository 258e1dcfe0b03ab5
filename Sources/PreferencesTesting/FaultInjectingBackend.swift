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
        case settle
        /// Making everything durable.
        case flush
        /// The same, blocking.
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
        var flushes = HeldFlushes()
    }

    private let base: any PreferenceBackend
    private let state = Lock(State())

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

    /// Makes calls of `flush` wait until `releaseFlushes`.
    public func holdFlushes() {
        state.withLock { $0.flushes.isHolding = true }
    }

    /// Lets the waiting calls of `flush` go on, and later ones pass.
    public func releaseFlushes() {
        for waiting in state.withLock({ $0.flushes.release() }) { waiting.resume() }
    }

    /// Returns once a call of `flush` waits for `releaseFlushes`.
    ///
    /// A store that nobody has read or written doesn't call its backend's `flush`.
    public nonisolated(nonsending) func waitForHeldFlush() async {
        await withUnsafeContinuation { continuation in
            if state.withLock({ $0.flushes.addWitness(continuation) }) { continuation.resume() }
        }
    }

    // MARK: What a store calls

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

    /// Settles the base.
    public func settle() throws(PreferencesError) {
        try pass(.settle)
        try base.settle()
    }

    /// Flushes the base, once no test holds it.
    public func flush() async throws(PreferencesError) {
        await withUnsafeContinuation { continuation in
            guard let witnesses = state.withLock({ $0.flushes.hold(continuation) }) else {
                continuation.resume()
                return
            }
            for witness in witnesses { witness.resume() }
        }
        try pass(.flush)
        try await base.flush()
    }

    /// Makes everything in the base durable.
    public func sync() throws(PreferencesError) {
        try pass(.sync)
        try base.sync()
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

/// The calls of `flush` that a test holds, and who waits for one.
private struct HeldFlushes {
    typealias Continuation = UnsafeContinuation<Void, Never>

    var isHolding = false
    private var held: [Continuation] = []
    private var witnesses: [Continuation] = []

    /// Keeps a call waiting; gives who waited for that, or nil where it may pass.
    mutating func hold(_ flush: Continuation) -> [Continuation]? {
        guard isHolding else { return nil }
        held.append(flush)
        return exchange(&witnesses, with: [])
    }

    mutating func release() -> [Continuation] {
        isHolding = false
        return exchange(&held, with: [])
    }

    /// Whether a call waits already, so that the witness need not.
    mutating func addWitness(_ witness: Continuation) -> Bool {
        if held.isEmpty { witnesses.append(witness) }
        return !held.isEmpty
    }
}
