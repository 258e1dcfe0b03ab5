internal import DurableFile

/// The state of a source except its values, guarded by its lock; no method calls out.
struct SourceState {
    /// The error of the last attempt to read the stored values, if that failed.
    var failure: PreferenceError?
    var turn = SourceTurn<Condition<Bool>>()
    /// The description of the error with which the backend could not catch up last time, until it can.
    var lastFailure: String?
    /// The issues that the backend reported during a turn.
    var reports: [PreferenceError] = []
    /// The stores that show the source, in the order of their creation.
    private(set) var cores: [StoreCore] = []
    var outbox = Outbox()
    var queried = QueriedNames<String>()
    /// The deadline of the call that is using the backend.
    var deadline: ContinuousClock.Instant?
    private var queues: (calls: CallQueue?, syncs: CallQueue?) = (nil, nil)
    private var isReported = false
    private var hasScopes = false
    /// The handlers that were notified of unreadable values, by the values' names, until these change.
    private var reported: [String: [UnreadableValue.Key: Set<UInt64>]] = [:]

    init() {}

    /// The queue on which the calls of tasks use the backend, so that no thread of the tasks is blocked.
    var calls: CallQueue {
        mutating get {
            let queue = queues.calls ?? CallQueue()
            queues.calls = queue
            return queue
        }
    }

    /// The queue on which `flush` syncs. It is separate, because a sync runs at the same time as other calls.
    var syncs: CallQueue {
        mutating get {
            let queue = queues.syncs ?? CallQueue()
            queues.syncs = queue
            return queue
        }
    }

    /// Forgets the calls of the parent in a child of `fork`.
    mutating func forgetCalls() {
        // Never released: that would end the parent's tasks here, too.
        for queue in [queues.calls, queues.syncs].compactMap(\.self) { _ = Unmanaged.passRetained(queue) }
        queues = (nil, nil)
    }

    /// Returns whether a handler has not been notified of an unreadable value yet, and records that it is now.
    mutating func isFirstReport(of key: UnreadableValue.Key, of name: String, to handler: UInt64) -> Bool {
        reported[name, default: [:]][key, default: []].insert(handler).inserted
    }

    mutating func forgetReports(of changes: ShortList<ValueChange>) {
        if !reported.isEmpty { changes.forEach { reported[$0.name] = nil } }
    }

    /// Records that the backend could not catch up; returns whether that is another failure than the last one.
    mutating func noteFailure(_ error: PreferenceError) -> Bool {
        turn.noteFailure()
        let description = error.description
        return exchange(&lastFailure, with: description) != description
    }

    /// Returns whether the backend's failure to open has not been reported yet, and records that it is now.
    mutating func isFirstReport() -> Bool {
        defer { isReported = true }
        return !isReported
    }

    mutating func attach(_ core: StoreCore) {
        hasScopes = hasScopes || core.isScoped
        guard !cores.contains(where: { $0 === core }) else { return }
        let index = cores.firstIndex { $0.id > core.id } ?? cores.endIndex
        cores.insert(core, at: index)
    }

    /// Returns the stores that show one of the changed names.
    ///
    /// Each store is locked one call deeper on the stack, so of many scopes only the necessary ones are locked.
    @inline(__always)
    func cores(showing changes: ShortList<ValueChange>, of source: Source) -> [StoreCore] {
        hasScopes ? cores.filter { $0.shows(anyOf: changes, of: source) } : cores
    }

    /// Removes a store, which the caller releases without the lock.
    mutating func detach(_ core: StoreCore) -> (StoreCore)? {
        cores.firstIndex { $0 === core }.map { cores.remove(at: $0) }
    }

    enum Release {
        case publish(isCatchingUp: Bool)
        case free(wake: Condition<Bool>?, reports: [PreferenceError])
    }

    /// Returns the next step of the turn's holder.
    mutating func release() -> Release {
        switch turn.release() {
        case .publish(let isCatchingUp): return .publish(isCatchingUp: isCatchingUp)
        case .free(let waiter):
            deadline = nil
            return .free(wake: waiter, reports: exchange(&reports, with: []))
        }
    }
}

/// The turn at a backend, and the work that must be done before the turn is free again.
///
/// Pure: it takes no lock, doesn't wait and calls nothing. `Waiter` identifies a waiting thread for the caller.
struct SourceTurn<Waiter> {
    private var holder: (thread: ThreadIdentity, forks: UInt64)?
    private var waiting = FirstInFirstOut<Waiter>()
    /// The holder's work before it gives the turn back: to publish the stored changes and, if true, first to let the backend catch up.
    private var request: Bool?
    /// Whether the backend could not catch up, so that the next holder tries again.
    private var isBehind = false

    /// The outcome of a claim.
    enum Claim {
        case granted
        /// Another thread has the turn; claim it again with a waiter.
        case busy
        /// Claim the turn again when the waiter is woken.
        case waiting
        /// The calling thread has the turn already, and would wait for itself.
        case held
    }

    /// Claims the turn for a thread. `forks` is the number of forks that led to this process.
    mutating func claim(by thread: ThreadIdentity, in forks: UInt64, orWait waiter: Waiter?) -> Claim {
        guard let holder, holder.forks == forks else {
            self.holder = (thread, forks)
            if exchange(&isBehind, with: false) { request = true }
            return .granted
        }
        guard holder.thread != thread else { return .held }
        guard let waiter else { return .busy }
        waiting.append(waiter)
        return .waiting
    }

    /// Removes a waiter that stops waiting; returns false if it was woken already and so has to claim the turn again.
    mutating func withdraw(_ isWaiter: (Waiter) -> Bool) -> Bool {
        waiting.removeFirst(where: isWaiter) != nil
    }

    /// Requests that stored changes are published, and before that that the backend catches up; returns true if `thread` now has the
    /// turn and must do it.
    ///
    /// Otherwise the thread that has the turn does it before giving the turn back. Both are decided together, so no request is
    /// lost.
    mutating func requestPublishing(catchingUp: Bool, by thread: ThreadIdentity, in forks: UInt64) -> Bool {
        request = request ?? false || catchingUp
        guard !isHeld(in: forks) else { return false }
        holder = (thread, forks)
        return true
    }

    /// Records that the backend could not catch up when that was requested.
    mutating func noteFailure() { isBehind = true }

    /// Returns whether a thread has the turn. In a child of `fork`, the parent's other threads don't.
    func isHeld(in forks: UInt64) -> Bool { holder?.forks == forks }

    /// The next step of the turn's holder.
    enum Release {
        /// Publish, after the backend has caught up if requested, and release again.
        case publish(isCatchingUp: Bool)
        /// The turn is free; wake this waiter, which claims it again. The turn isn't passed on directly: that would cost a
        /// thread switch for each set.
        case free(wake: Waiter?)
    }

    mutating func release() -> Release {
        if let isCatchingUp = exchange(&request, with: nil) { return .publish(isCatchingUp: isCatchingUp) }
        holder = nil
        return .free(wake: waiting.popFirst())
    }

    /// Gives the turn back that a `fork` had claimed, whose work another thread has to do; returns the waiter to wake, and that work.
    mutating func releaseAfterFork() -> (wake: Waiter?, isCatchingUp: Bool?) {
        holder = nil
        return (waiting.popFirst(), exchange(&request, with: nil))
    }

    /// Frees the turn in a child of `fork`, which has no other thread; the next holder does the requested work.
    mutating func resetInChild() {
        holder = nil
        waiting.removeAll()
    }
}

extension SourceTurn: Sendable where Waiter: Sendable {}

extension PreferenceError {
    /// Creates the error for changes that depend on values that could not be read.
    init(unread cause: PreferenceError) {
        self.init(
            .unavailable,
            "the stored values could not be read, so nothing that depends on them was changed; "
                + "fix the cause and try again",
            cause: cause
        )
    }
}

/// The names for which a backend was queried, if it is queried by name.
///
/// No call but `invalidateAll` looks at more names than those that it is given, so that neither a read nor a set gets dearer with the
/// number of names in use. `Name` is a string; tests count what is done with it.
struct QueriedNames<Name: Hashable> {
    private var known: Set<Name> = []
    /// The names whose values are shown but may be stale, and so must be queried again.
    private(set) var stale: Set<Name> = []
    /// The number of invalidations.
    private(set) var invalidationCount = 0

    init() {}

    /// Returns the names for which the backend must be queried before they are read.
    func unqueried(among names: some Collection<Name>) -> Set<Name> {
        var unqueried: Set<Name> = []
        // Not by `Set.subtracting`, which goes through all known names.
        for name in names where !known.contains(name) { unqueried.insert(name) }
        return unqueried
    }

    /// Returns whether the backend must be queried for one of the names before it is read.
    func isUnqueried(anyOf names: some Collection<Name>) -> Bool { names.contains { !known.contains($0) } }

    /// Returns those of the names whose values are shown but may be stale.
    func staleNames(among names: Set<Name>) -> Set<Name> { stale.isEmpty ? [] : names.filter(stale.contains) }

    var all: Set<Name> { known.union(stale) }

    mutating func noteQueried(_ names: Set<Name>) {
        for name in names {
            known.insert(name)
            stale.remove(name)
        }
    }

    mutating func invalidate(_ names: Set<Name>) {
        invalidationCount += 1
        for name in names {
            known.remove(name)
            stale.insert(name)
        }
    }

    /// Marks all names as stale; looks at those that were queried since the last time.
    mutating func invalidateAll() {
        invalidationCount += 1
        let queried = exchange(&known, with: [])
        if stale.isEmpty { stale = queried } else { for name in queried { stale.insert(name) } }
    }
}

// MARK: Publishing

/// The circumstances of a change in a source.
struct ChangeContext {
    let origin: PreferenceChangeOrigin
    /// The number of the newest subscription that was notified before the change.
    var announcedUpTo: UInt64 = 0
    /// The store that was called to make the change.
    var initiator: ObjectIdentifier?
    /// The initiating store's node of the only changed name, if known.
    var node: PreferenceNode?

    static var external: ChangeContext { ChangeContext(origin: .external) }
    /// The context of a change by this program whose store isn't known.
    static var local: ChangeContext { ChangeContext(origin: .local) }
}

/// The work that remains when the locks of a change are released.
struct DeferredNotifications {
    // Created when there is work; most sets have none.
    private var work: Work?

    private final class Work: @unchecked Sendable {  // no longer changed once it is sent
        var signals = PreferenceSignals()
        var deliverers: [StoreCore] = []
        var hidden: [(core: StoreCore, error: PreferenceError)] = []

        func send() {
            signals.send()
            for core in deliverers { core.deliver() }
            for (core, error) in hidden { core.report(error) }
        }
    }

    private mutating func add(_ body: (Work) -> Void) {
        let work = work ?? Work()
        body(work)
        self.work = work
    }

    /// Adds the signal of a change to the readers of a name; see `PreferenceSignals.endEpoch`.
    mutating func addSignal(
        of node: PreferenceNode,
        plain: () -> ValueChange? = { nil },
        _ entry: () -> ChangeEntry
    ) {
        if node.signal.isEverRead { add { $0.signals.endEpoch(of: node, plain, entry) } }
    }

    /// Adds a signal to the readers of a name that is sent in any case.
    mutating func addSignal(of node: PreferenceNode) {
        if node.signal.isEverRead { add { $0.signals.endEpoch(of: node) } }
    }

    mutating func addDelivery(by core: StoreCore) {
        add { $0.deliverers.append(core) }
    }

    mutating func addHidden(_ errors: [PreferenceError], in core: StoreCore) {
        if !errors.isEmpty { add { $0.hidden += errors.map { (core, $0) } } }
    }

    /// Notifies Observation and the observers; call without any lock.
    func send() { work?.send() }

    /// Notifies them on a thread of the library.
    func sendOnLibraryThread() {
        guard let work else { return }
        // Observers of an isolated store see the stores of its scope on that thread, too.
        WorkerQueue().run { [isolation = PreferenceIsolation.current] in isolation.run { work.send() } }
    }
}
