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
    /// Where `flush` syncs, so that it blocks no thread of the caller's.
    private(set) lazy var syncWorker = WorkerThread(isBlocking: true)
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
