internal import DurableFile

/// All that a source knows besides its values, guarded by its lock; no method calls out.
struct SourceState {
    /// Why what is stored could not be read, if that failed the last time.
    var failure: PreferencesError?
    var turn = SourceTurn<Condition<Bool>>()
    /// What the backend reported while a thread was at it.
    var reports: [PreferencesError] = []
    /// The stores that show the source, by age.
    private(set) var cores: [any SourceUser] = []
    /// What was set while the backend could not be opened.
    var kept: [String: PropertyListValue?] = [:]
    var asked = AskedNames()
    /// When the call that is at the backend must have ended.
    var deadline: ContinuousClock.Instant?
    /// Where tasks have the backend called, so that they block no thread of theirs.
    private(set) lazy var calls = CallQueue()
    /// Where `flush` syncs; a queue of its own, as a sync runs beside other calls.
    private(set) lazy var syncs = CallQueue()
    private var isReported = false
    private var hasScopes = false
    /// The handlers that were notified of values that can't be read, by the values' names, until these change.
    private var reported: [String: [UnreadableValue.Key: Set<UInt64>]] = [:]

    init() {}

    /// Whether a handler wasn't notified yet of a value that can't be read.
    mutating func isFirstReport(of key: UnreadableValue.Key, of name: String, to handler: UInt64) -> Bool {
        reported[name, default: [:]][key, default: []].insert(handler).inserted
    }

    mutating func forgetReports(of changes: ShortList<ValueChange>) {
        if !reported.isEmpty { changes.forEach { reported[$0.name] = nil } }
    }

    /// Whether nobody was told yet why the backend can't be opened.
    mutating func isFirstReport() -> Bool {
        defer { isReported = true }
        return !isReported
    }

    mutating func attach(_ core: any SourceUser) {
        hasScopes = hasScopes || core.isScoped
        guard !cores.contains(where: { $0 === core }) else { return }
        let index = cores.firstIndex { $0.id > core.id } ?? cores.endIndex
        cores.insert(core, at: index)
    }

    /// The stores that show one of the names that change.
    ///
    /// Each is locked one call deeper on the stack, so of many scopes only those are that have to be.
    @inline(__always)
    func cores(showing changes: ShortList<ValueChange>, of source: Source) -> [any SourceUser] {
        hasScopes ? cores.filter { $0.shows(anyOf: changes, of: source) } : cores
    }

    /// Takes a store out; the caller releases it without the lock.
    mutating func detach(_ core: any SourceUser) -> (any SourceUser)? {
        cores.firstIndex { $0 === core }.map { cores.remove(at: $0) }
    }

    enum Release {
        case refresh
        case free(wake: Condition<Bool>?, reports: [PreferencesError])
    }

    /// What the holder of the turn does next.
    mutating func release() -> Release {
        switch turn.release() {
        case .refresh: return .refresh
        case .free(let waiter):
            deadline = nil
            return .free(wake: waiter, reports: exchange(&reports, with: []))
        }
    }
}

/// Whose turn it is at a backend, and what is to be done before the turn is free again.
///
/// Pure: it holds no lock, waits for nobody and calls nobody. `Waiter` is who waits, as the caller knows it.
struct SourceTurn<Waiter> {
    private var holder: (thread: ThreadIdentity, forks: UInt64)?
    private var waiting = FirstInFirstOut<Waiter>()
    /// Whether the backend may know of something that the stores don't.
    private var needsRefresh = false

    /// What came of asking for the turn.
    enum Claim {
        case granted
        /// Another thread has it; ask again with a waiter.
        case taken
        /// Ask again once the waiter is woken.
        case waiting
        /// The thread has it already and would wait for itself.
        case held
    }

    /// Asks for the turn in a process that was forked off so many times.
    mutating func claim(by thread: ThreadIdentity, in forks: UInt64, orWait waiter: Waiter?) -> Claim {
        guard let holder, holder.forks == forks else {
            self.holder = (thread, forks)
            return .granted
        }
        guard holder.thread != thread else { return .held }
        guard let waiter else { return .taken }
        waiting.append(waiter)
        return .waiting
    }

    /// Takes out who no longer waits; false if it was woken already, and so has to ask again.
    mutating func withdraw(_ isWaiter: (Waiter) -> Bool) -> Bool {
        waiting.removeFirst(where: isWaiter) != nil
    }

    /// Notes that the backend is to be asked for outside changes; true where `thread` has the turn now and is to do it.
    ///
    /// Else who has the turn does it before giving it back. Both are decided in one step, so that no call is lost.
    mutating func requestRefresh(by thread: ThreadIdentity, in forks: UInt64) -> Bool {
        needsRefresh = true
        guard !isTaken(in: forks) else { return false }
        holder = (thread, forks)
        return true
    }

    /// Whether a thread has the turn; a child of `fork` has none of its parent's other threads.
    func isTaken(in forks: UInt64) -> Bool { holder?.forks == forks }

    /// What the holder does next.
    enum Release {
        /// Ask the backend, publish, and release again.
        case refresh
        /// The turn is free; wake this one, who asks again. The turn isn't handed over: that would cost a change of
        /// threads for each set.
        case free(wake: Waiter?)
    }

    mutating func release() -> Release {
        if needsRefresh {
            needsRefresh = false
            return .refresh
        }
        holder = nil
        return .free(wake: waiting.popFirst())
    }
}

extension SourceTurn: Sendable where Waiter: Sendable {}

extension PreferencesError {
    /// The error for what depends on values that could not be read.
    init(unread cause: PreferencesError) {
        self.init(
            .unavailable,
            "what is stored could not be read, so that nothing which depends on it was changed; "
                + "mend that, and try again",
            cause: cause
        )
    }
}

/// The names that a backend was asked for, where it is asked for names.
struct AskedNames {
    private var known: Set<String> = []
    /// Names that are shown, and to be asked for again, as their values may be outdated.
    private(set) var doubted: Set<String> = []
    /// Counts the doubts.
    private(set) var doubts = 0

    /// Which of the names the backend must be asked for before they are read.
    func unknown(among names: some Collection<String>) -> Set<String> {
        names.isEmpty ? [] : Set(names).subtracting(known)
    }

    var all: Set<String> { known.union(doubted) }

    mutating func know(_ names: Set<String>) {
        known.formUnion(names)
        doubted.subtract(names)
    }

    mutating func doubt(_ names: Set<String>) {
        doubts += 1
        known.subtract(names)
        doubted.formUnion(names)
    }

    mutating func doubtAll() {
        doubts += 1
        doubted.formUnion(known)
        known = []
    }
}

// MARK: The stores that show a source

/// A store, as the sources know it that it shows.
protocol SourceUser: AnyObject, Sendable {
    /// Counts up over the process: the locks of several stores are taken in this order.
    var id: UInt64 { get }
    var issues: IssueReporter { get }
    /// The names that were declared or observed, as a source has them.
    func names(in source: Source) -> Set<String>
    /// Whether a preference was declared secret that is stored under a name of a source.
    func declaresSecret(_ spelled: String, in source: Source) -> Bool

    /// Whether the store shows a part of a source.
    var isScoped: Bool { get }
    /// Whether the store shows one of the names that change in a source.
    func shows(anyOf changes: ShortList<ValueChange>, of source: Source) -> Bool

    /// Runs `body` with the store's lock, after its readers were made to look again for what `body` changes in a source.
    func lock(
        preparing changes: ShortList<ValueChange>,
        of source: Source,
        _ publication: Publication,
        into publications: inout Publications,
        _ body: (inout Publications) -> Void
    )

    /// Makes every later read look at the sources; call without a lock, as what follows.
    func forgetValues()
    /// Delivers what waits.
    func deliver()
    func report(_ error: PreferencesError)
    /// Notifies who wants to know before a set of a source, up to a subscription's number.
    func announce(_ changes: ValueChanges, in source: Source, upTo newest: UInt64) throws(PreferencesError)
}

/// How changes of a source came about.
struct Publication {
    let origin: PreferenceChangeOrigin
    /// The number of the last subscription that was notified before the change, where it is for that moment.
    var announcedUpTo: UInt64 = 0
    /// The store that was asked to make the change.
    var initiator: ObjectIdentifier?
    /// What that store keeps for the one name that changes, if that is known.
    var node: PreferenceNode?
}

/// What is left to do once the locks of a publication are released.
struct Publications {
    // Made when there is something, as for most sets there is nothing.
    private var work: Work?

    private final class Work: @unchecked Sendable {  // not changed any more once it is sent
        var signals = PreferenceSignals()
        var deliverers: [any SourceUser] = []
        var hidden: [(core: any SourceUser, error: PreferencesError)] = []

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

    mutating func addSignal(of node: PreferenceNode) {
        if node.signal.isEverRead { add { $0.signals.endEpoch(of: node.signal) } }
    }

    mutating func addDelivery(by core: any SourceUser) {
        add { $0.deliverers.append(core) }
    }

    mutating func addHidden(_ errors: [PreferencesError], in core: any SourceUser) {
        if !errors.isEmpty { add { $0.hidden += errors.map { (core, $0) } } }
    }

    /// Tells Observation and the observers; call without any lock.
    func send() { work?.send() }

    /// Does so on a thread of the library.
    func sendElsewhere() {
        if let work { WorkerQueue().run { work.send() } }
    }
}
