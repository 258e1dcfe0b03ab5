internal import CPreferences
public import Preferences
internal import Synchronization

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
        /// Making all changes durable.
        case sync
    }

    private struct State {
        var failures: [Operation: (count: Int, error: PreferenceError)] = [:]
        var host: PreferenceBackendHost?
        /// The external changes still to be made in the base, in order.
        var pending: [[StoredChange]] = []
        /// The changes that the base has passed on, and the store hasn't got.
        var unseen = ExternalChanges.none
        /// The tasks that wait for a call of `sync` that is held, and how many such calls there are.
        var witnesses: [UnsafeContinuation<Void, Never>] = []
        var held = 0
    }

    private let base: any PreferenceBackend
    private let state = Lock(State())
    /// 1 while flushes are held.
    private let hold = Atomic<UInt32>(0)

    /// Creates a backend in memory.
    public convenience init(_ contents: [String: PropertyListValue] = [:]) {
        self.init(over: MemoryBackend(contents.map { StoredChange($0.key, $0.value) }))
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
        state.withLock { $0.failures[operation] = (count, error) }
    }

    /// Performs an external change, as by another process; `nil` removes a name.
    ///
    /// When this returns, the store shows the changes and its observers have been notified, unless another thread is using the store.
    public func changeOutside(_ changes: [String: PropertyListValue?]) {
        let host = state.withLock { state in
            state.pending.append(changes.map { StoredChange($0.key, $0.value) })
            return state.host
        }
        host?.changedNow()
    }

    /// Stores a value under a name, as an external change, that no declared type can read.
    public func makeUnreadable(_ name: String) { changeOutside([name: .unknownForm("{\"$later\":1}")]) }

    /// Holds calls of `sync`, and so `PreferenceStore.flush()`, until `releaseFlushes`.
    public func holdFlushes() { hold.store(1, ordering: .releasing) }

    /// Lets the waiting calls of `sync` continue, and later ones pass.
    public func releaseFlushes() {
        hold.store(0, ordering: .releasing)
        withUnsafePointer(to: hold) { preferences_wake($0) }
    }

    /// Returns when a call of `sync` waits for `releaseFlushes`.
    ///
    /// A store that was never read or written doesn't call its backend's `sync`.
    public nonisolated(nonsending) func waitForHeldFlush() async {
        await withUnsafeContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.held == 0 { state.witnesses.append(continuation) }
                return state.held > 0
            }
            if isHeld { continuation.resume() }
        }
    }

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
    public func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
        // Comes first, as a file is watched before it is read: even a backend that can't be opened reports when it may be.
        state.withLock { $0.host = host }
        try pass(.load)
        var contents = try base.load(host: host, until: deadline)
        try changeBase(until: deadline)
        if case .changes(let transactions) = takeUnseen(before: .none) { contents += transactions.joined() }
        return contents
    }

    /// Performs the external changes of the test, and lets the base catch up.
    public func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges {
        try pass(.refresh)
        try changeBase(until: deadline)
        return takeUnseen(before: try base.catchUp(until: deadline))
    }

    /// Performs the external changes of the test, then the store's.
    public func change(
        until deadline: PreferenceDeadline,
        _ body: (ExternalChanges) throws -> [StoredChange]
    ) throws {
        try pass(.apply)
        try changeBase(until: deadline)
        try base.change(until: deadline) { try body(takeUnseen(before: $0)) }
    }

    /// Waits while a test holds flushes, then has the base make all changes durable.
    public func sync(until deadline: PreferenceDeadline) throws {
        if hold.load(ordering: .acquiring) == 1 {
            let witnesses = state.withLock { state in
                state.held += 1
                return exchange(&state.witnesses, with: [])
            }
            for witness in witnesses { witness.resume() }
            while hold.load(ordering: .acquiring) == 1 { withUnsafePointer(to: hold) { preferences_wait($0, 1, -1) } }
            state.withLock { $0.held -= 1 }
            // Wakes the next one.
            withUnsafePointer(to: hold) { preferences_wake($0) }
        }
        try pass(.sync)
        try base.sync(until: deadline)
    }

    /// Throws if the call is to fail.
    private func pass(_ operation: Operation) throws {
        let error = state.withLock { state -> PreferenceError? in
            guard let failure = state.failures[operation], failure.count > 0 else { return nil }
            state.failures[operation]?.count -= 1
            return failure.error
        }
        if let error { throw error }
    }

    /// Performs the pending external changes in the base.
    private func changeBase(until deadline: PreferenceDeadline) throws {
        while let changes = state.withLock({ $0.pending.first }) {
            try base.change(until: deadline) { update in
                state.withLock { $0.unseen = $0.unseen.followed(by: update) }
                return changes
            }
            state.withLock { state in
                state.unseen = state.unseen.followed(by: .changes([changes]))
                state.pending.removeFirst()
            }
        }
    }

    private func takeUnseen(before update: ExternalChanges) -> ExternalChanges {
        state.withLock { exchange(&$0.unseen, with: .none) }.followed(by: update)
    }
}

extension ExternalChanges {
    /// Returns these changes and then others.
    fileprivate func followed(by next: ExternalChanges) -> ExternalChanges {
        switch (self, next) {
        case (.none, _): next
        case (_, .none): self
        case (.changes(let first), .changes(let second)): .changes(first + second)
        case (.changes(let first), .contents(let second, let values)): .contents(after: first + second, values)
        case (.contents(let first, let values), .changes(let second)): .contents(after: first, values + second.joined())
        case (.contents(let first, let values), .contents(let second, let newer)):
            .contents(after: first + [values] + second, newer)
        }
    }
}
