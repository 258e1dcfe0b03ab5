internal import CDurableFile
internal import DurableFile
internal import Synchronization

/// A backend and the stores' view of it: its values, the turn to use it, and the stores that show it.
///
/// One thread at a time has the turn: only that thread calls the backend and changes the values. The turn isn't a lock: a
/// thread may wait for it, but never while holding a lock. The values change only while the locks of all stores that show a
/// changed name are held together, so the holder of a store's lock sees a consistent snapshot of all its layers.
package final class Source: Sendable {
    /// Nil if the values are in memory only, and in this object.
    package let backend: (any PreferenceBackend)?
    /// The backend if it is that of a file, which shares its values.
    let file: FileBackend?
    private let isInMemory: Bool
    /// The time that a call may take; nil for a backend whose calls are short. A file has one for its lock.
    let timeout: Duration?
    /// Whether each call of the backend waits, as for a network.
    let isSlow: Bool
    /// The backend if its reads may run code of the program.
    let reentrant: (any PreferenceBackend)?
    /// The backend if single values of it may be locked.
    package let locking: (any PreferenceBackend)?
    /// Whether the backend is queried by name.
    package let isQueriedByName: Bool
    /// The issue handler of the store that was created over this source.
    let issues = IssueReporter()
    let state = Lock(SourceState())
    /// The names whose text is a word of the command line that may be an argument for the program.
    package let words: Set<String>
    /// The stored values, as stores show them.
    let values: StoredValues
    /// Whether the stored values were read; never reset.
    private let isOpened: Atomic<Bool>
    /// Whether reads need not open the backend, because it is open, or failed to open and that was reported.
    let isOpenAttempted: Atomic<Bool>
    /// The number of subscriptions of the stores that are notified before a change. While it is zero, a set skips that step.
    private let earlySubscriptions = Atomic<Int>(0)
    /// Whether a store that shows the source has names that were declared secret.
    let hasSecrets = Atomic(false)
    /// Whether files of the source were changed and can't be read since, so that any name may be managed by them.
    let isPolicyUnread = Atomic(false)
    /// Whether a store that writes the source has preferences with former names.
    let hasFormerNames = Atomic(false)
    /// The place among the participants of a `fork`; written once, in an initializer.
    nonisolated(unsafe) private var forkPlace = 0
    /// The number of the source in the order of creation.
    let id = Source.count.wrappingAdd(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)
    /// The number of forks that had led to the process when it created the source.
    private let forks = durable_file_fork_count()
    /// Whether a `fork` has claimed the turn; used by the thread that forks.
    nonisolated(unsafe) var isTurnForked = false

    /// Creates a source in memory.
    init(_ contents: [String: PropertyListValue], words: Set<String> = []) {
        self.words = words
        backend = nil
        isInMemory = true
        file = nil
        timeout = nil
        isSlow = false
        reentrant = nil
        locking = nil
        isQueriedByName = false
        values = StoredValues(contents)
        isOpened = Atomic(true)
        isOpenAttempted = Atomic(true)
        forkPlace = ForkGate.add(self)
    }

    /// Creates a source over a backend, which is loaded at the first use.
    package init(_ backend: any PreferenceBackend) {
        words = []
        self.backend = backend
        isInMemory = false
        file = backend as? FileBackend
        timeout = backend.timeout ?? file?.lockTimeout
        isSlow = backend.timeout != nil
        isQueriedByName = !backend.listsAllNames
        reentrant = backend.isReentrant ? backend : nil
        locking = isQueriedByName && !backend.isReentrant ? backend : nil
        values = StoredValues()
        isOpened = Atomic(false)
        isOpenAttempted = Atomic(false)
        forkPlace = ForkGate.add(self)
    }

    deinit { ForkGate.remove(forkPlace) }

    // MARK: Stored values

    /// Returns the value stored under a name. It is consistent with those of other names only under the lock of a store that
    /// shows them.
    func value(of name: String) -> PropertyListValue? {
        values[name]
    }

    /// All stored values; consistent as those of `value(of:)` are.
    package var contents: [String: PropertyListValue] { values.dictionary }

    var names: [String] { values.names }

    /// A copy of the stored values; consistent as those of `value(of:)` are.
    var snapshot: StoredValues { StoredValues(values.copy) }

    /// A counter that increases whenever values change; consistent as `value(of:)` is.
    var version: UInt64 { values.version }

    /// Whether the stored values were read.
    var isOpen: Bool { isOpened.load(ordering: .acquiring) }

    /// Returns whether the backend reports that an administrator manages the name.
    package func isManaged(_ name: String) -> Bool { isOpen && backend?.isManaged(name) ?? false }

    /// The error of the last attempt to read the stored values, if that failed.
    package var failure: PreferenceError? { state.withLock { $0.failure } }

    // MARK: The stores of a source

    /// Adds a store whose readers and observers are then notified of changes.
    func attach(_ core: StoreCore) {
        state.withLock { $0.attach(core) }
    }

    func detach(_ core: StoreCore) {
        let removed = state.withLock { $0.detach(core) }
        withExtendedLifetime(removed) {}
    }

    /// Whether a read can skip `prepare`.
    var isPrepared: Bool { isOpenAttempted.load(ordering: .acquiring) && !isQueriedByName }

    func addEarlySubscription() { earlySubscriptions.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    func removeEarlySubscription() { earlySubscriptions.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    var hasEarlySubscriptions: Bool { earlySubscriptions.load(ordering: .sequentiallyConsistent) > 0 }

    /// The stores that show the source.
    package var cores: [StoreCore] { state.withLock { $0.cores } }

    /// Calls the handler of the store that was created over this source, or without one the handlers of all stores that show
    /// it.
    func report(_ error: PreferenceError) {
        IssueReporter.report(error, to: reporters)
    }

    var reporters: [IssueReporter] {
        guard !issues.hasHandler else { return [issues] }
        // A store and its scopes share a reporter.
        var above: [IssueReporter] = []
        for reporter in cores.map(\.issues) where reporter.hasHandler && !above.contains(where: { $0 === reporter }) {
            above.append(reporter)
        }
        return above.isEmpty ? [issues] : above
    }

    /// Returns the reporters whose handlers have not been notified of an unreadable value yet, and records that they are now.
    ///
    /// Recorded here and not in a store, because several stores with one handler may show the value.
    func reporters(
        for key: UnreadableValue.Key,
        of name: String,
        among reporters: [IssueReporter]
    ) -> [IssueReporter] {
        let handling = reporters.filter(\.hasHandler)
        return state.withLock { state in
            // Without handlers of their own, all of them use the default handler.
            if handling.isEmpty { return state.isFirstReport(of: key, of: name, to: 0) ? reporters : [] }
            return handling.filter { state.isFirstReport(of: key, of: name, to: $0.id) }
        }
    }
}

// MARK: Opening

extension Source {
    /// Ensures that reads find the stored values, including those under these names if the backend is queried by name.
    ///
    /// If they can't be read, the error is reported once, and reads give defaults from then on.
    func prepare(_ names: some Collection<String> & Sendable, _ call: StoreCall? = nil) {
        if !isOpenAttempted.load(ordering: .acquiring) {
            do throws(PreferenceError) {
                if isOpen { try lookAfterFork(call) } else { try open(call, isReading: true) }
            } catch {
                if state.withLock({ $0.isFirstReport() }) { report(error) }
            }
            noteOpenAttempt()
        }
        queryBackend(for: names, call)
    }

    /// Records that opening the backend was tried; reads then skip one that can't be opened, unless it is reentrant.
    func noteOpenAttempt() {
        // Each read tries user defaults again, which might not notify the source when they can be read, and a file that nothing watches.
        guard isOpen ? !looksAfterFork || ForkGate.mayStartThreads : reentrant == nil else { return }
        isOpenAttempted.store(true, ordering: .releasing)
    }

    /// Reads the stored values unless that is done; tries again if it failed before.
    func open(_ call: StoreCall? = nil, isReading: Bool = false) throws(PreferenceError) {
        guard !isOpen else { return storeKept() }
        var isTried = false
        do throws(PreferenceError) {
            try withTurn(isReading ? .read : .other, call) { (notifications) throws(PreferenceError) in
                isTried = true
                try load(&notifications)
            }
        } catch {
            if !isTried, isSlow { openOnLibraryThread(because: error) }
            throw error
        }
        if reentrant != nil {
            storeKept()
            // These were read before the backend could be opened, and may be observed.
            queryBackend(for: state.withLock { $0.queried.stale }, isReading: isReading)
        }
    }

    /// Reads the stored values as `open` does; call with the turn.
    private func load(_ notifications: inout DeferredNotifications) throws(PreferenceError) {
        guard !isOpen, let backend else { return }
        do throws(PreferenceError) {
            let contents = if let file { try file.open(host: host) } else { StoredValues(try backend.load(host: host)) }
            let isFirst = state.withLock { state in
                // Under one lock: a reader that stops waiting either finds the values or is notified of them.
                if state.failure == nil, file == nil { values.moveValues(from: contents) }
                return state.failure == nil
            }
            guard !isFirst else {
                file?.adopt(values, movingFrom: contents)
                return finishOpening()
            }
            if reentrant != nil {
                invalidateDeclaredValues()
                // What was kept is shown until it is stored.
                state.withLock { $0.queried.noteQueried($0.outbox.names) }
                return finishOpening()
            }
            try recover(contents.dictionary, into: &notifications)
            finishOpening()
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
    }

    private func finishOpening() {
        file?.adopt(values)
        state.withLock { state in
            state.failure = nil
            isOpened.store(true, ordering: .releasing)
        }
    }
}

// MARK: Committing

extension Source {
    /// Stores the changes, makes every store show them and notifies observers; returns false if `condition` was not satisfied.
    func commit(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        _ own: ChangeContext,
        _ call: StoreCall? = nil
    ) throws(PreferenceError) -> Bool {
        if isInMemory { return try commitInMemory(changes, if: condition, own) }
        if isQueriedByName { try revalidate(changes, condition) }
        let isStored = try withTurn(.commit, call) { (notifications) throws(PreferenceError) in
            do throws(PreferenceError) { try load(&notifications) } catch {
                throw condition?.isNone ?? true ? error.ofOpening : PreferenceError(unread: error)
            }
            // If the backend could not be loaded before, it was not queried for these names.
            if isQueriedByName, reentrant == nil { queryWithTurn(for: Set(changes.dictionary.keys), &notifications) }
            // Also after an error: the backend may have found external changes before.
            defer { publishStored(own, into: &notifications) }
            guard let file else { return try apply(changes, if: condition) }
            let wait = call?.blocking == StoreCall.Blocking.none ? .zero : file.shortWait
            do throws(PreferenceError) { return try file.commit(changes, if: condition, within: wait) } catch {
                return try commit(changes, if: condition, to: file, call, after: error)
            }
        }
        if isStored { if let file { try file.didApply() } else { try backend?.didApply() } }
        return isStored
    }

    /// Has the backend store the changes, which are then in the inbox.
    @inline(never)
    func apply(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?
    ) throws(PreferenceError) -> Bool {
        guard let backend else { return false }
        let changes = changes.dictionary
        values.withInbox { $0.begin(changes) }
        defer { values.withInbox { $0.begin(nil) } }
        let isStored = try backend.apply(changes, if: condition ?? .none).isStored
        if isStored { values.withInbox { $0.addOwn() } }
        return isStored
    }

    private func commitInMemory(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        _ context: ChangeContext
    ) throws(PreferenceError) -> Bool {
        try JSONLine.check(changes)  // Rejects what a file would reject, so that tests in memory find it.
        var notifications = DeferredNotifications()
        let isStored = state.withLock { state in
            guard condition.map(values.hold) ?? true else { return false }
            publish(values.differences(of: changes), context, with: &state, into: &notifications)
            return true
        }
        notifications.send()
        return isStored
    }

    /// Publishes external changes, now or, if another thread has the turn, when that thread gives it back.
    ///
    /// - Parameter isCatchingUp: Whether the backend looks for changes first, or is opened if that failed before.
    func applyExternalChanges(catchingUp isCatchingUp: Bool = false) {
        if reentrant != nil, !isOpen { return reopen() }
        guard isCatchingUp || hasUnpublished else { return }
        let mustPublish = state.withLock { state in
            state.turn.requestPublishing(catchingUp: isCatchingUp, by: .current, in: durable_file_fork_count())
        }
        guard mustPublish else { return }
        var notifications = DeferredNotifications()
        leave(&notifications)
    }

    func reportFromBackend(_ error: PreferenceError) {
        let isLater = state.withLock { state in
            guard state.turn.isHeld(in: durable_file_fork_count()) else { return false }
            state.reports.append(error)
            return true
        }
        if !isLater { report(error) }
    }
}

// MARK: The turn

extension Source {
    /// Runs `body` with the turn; then does what the backend requested, gives the turn back, and notifies observers.
    ///
    /// For a backend with a timeout, throws if the thread must not be blocked or if the call's time ends before it gets the
    /// turn. For a file, that is the time of a call that changes it.
    ///
    /// - Parameters:
    ///   - use: The purpose of the turn, which matters for a reentrant backend.
    ///   - call: The call that this is a part of, for a backend with a timeout; nil for one that begins now.
    func withTurn<Result>(
        _ use: TurnUse = .other,
        _ call: StoreCall? = nil,
        _ body: (inout DeferredNotifications) throws(PreferenceError) -> Result
    ) throws(PreferenceError) -> Result {
        let call = isSlow ? try admit(call, use) : call
        try claim(for: call, use)
        var notifications = DeferredNotifications()
        defer { leave(&notifications, use) }
        if let call { try begin(call) }
        return try body(&notifications)
    }

    private func claim(for call: StoreCall?, _ use: TurnUse) throws(PreferenceError) {
        let (thread, forks) = (ThreadIdentity.current, durable_file_fork_count())
        if forks != self.forks, use == .commit {
            throw PreferenceError(
                .misuse,
                "the store was created by the parent of this process, which fork has started; nothing was changed. "
                    + "Use it first in the child, or start a program by exec"
            )
        }
        switch state.withLock({ $0.turn.claim(by: thread, in: forks, orWait: nil) }) {
        case .granted: return
        case .busy, .waiting: try waitForTurn(call, use)
        case .held:
            throw PreferenceError(
                .misuse,
                "a backend used its own store while the store was calling it; nothing was changed. "
                    + "Use the store outside of load, catchUp and apply"
            )
        }
    }

    /// Gives the turn back after all pending work at the backend is done, and then notifies observers.
    private func leave(_ notifications: inout DeferredNotifications, _ use: TurnUse = .other) {
        var problems: [PreferenceError] = []
        var mayOpen = true
        release: while true {
            if isOpen { publishStored(nil, into: &notifications) }
            switch state.withLock({ $0.release() }) {
            case .publish(let isCatchingUp):
                guard isCatchingUp else { continue }
                do throws(PreferenceError) {
                    try catchUp(&notifications, &mayOpen)
                    state.withLock { $0.lastFailure = nil }
                } catch {
                    // A failure that lasts is reported once.
                    if state.withLock({ $0.noteFailure(error) }) { problems.append(error) }
                }
            case .free(let waiter, let reports):
                waiter?.signal { $0 = true }
                if !reports.isEmpty { problems += reports }
                break release
            }
        }
        if isQueriedByName { finish(use, notifications) } else { notifications.send() }
        for problem in problems { report(problem) }
    }

    private func catchUp(
        _ notifications: inout DeferredNotifications,
        _ mayOpen: inout Bool
    ) throws(PreferenceError) {
        if isOpen {
            try catchUpBackend()
        } else if mayOpen, failure != nil {
            // The backend could not be loaded, and now signals that it may be. Only once, because a load that fails may signal,
            // too.
            mayOpen = false
            do throws(PreferenceError) {
                try load(&notifications)
            } catch {
                // The error was reported at the first failure.
            }
        }
    }
}

// MARK: Publishing

extension Source {
    /// Publishes what is stored and was not published; call with the turn.
    ///
    /// - Parameter own: The context of the changes that this source has stored.
    func publishStored(_ own: ChangeContext?, into notifications: inout DeferredNotifications) {
        guard values.hasUnpublished else { return }
        let first = values.withInbox { $0.first }
        if !first.isEmpty {
            state.withLock { publish(first, own ?? .local, with: &$0, into: &notifications) }
            values.withInbox { $0.removeFirst() }
        }
        if values.hasUnpublished { publishBatches(own, into: &notifications) }
    }

    @inline(never)
    private func publishBatches(_ own: ChangeContext?, into notifications: inout DeferredNotifications) {
        while let batch = values.withInbox({ $0.next() }) {
            publish(batch.changes, batch.isOwn ? own ?? .local : .external, into: &notifications)
        }
    }

    /// Whether changes are stored and not published yet.
    var hasUnpublished: Bool { values.hasUnpublished }

    func publishExternal(_ changes: [String: PropertyListValue?], into notifications: inout DeferredNotifications) {
        if !changes.isEmpty { publish(.several(changes), .external, into: &notifications) }
    }

    /// Publishes the changes, which every store reads from then on; call with the turn.
    func publish(
        _ changes: ValueChanges,
        _ context: ChangeContext,
        into notifications: inout DeferredNotifications
    ) {
        let changed = values.differences(of: changes)
        guard !changed.isEmpty else { return }
        state.withLock { publish(changed, context, with: &$0, into: &notifications) }
    }

    /// Publishes the changes; call with the turn and the source's lock, which keeps the list of stores unchanged.
    private func publish(
        _ changed: ShortList<ValueChange>,
        _ context: ChangeContext,
        with state: inout SourceState,
        into notifications: inout DeferredNotifications
    ) {
        guard !changed.isEmpty else { return }
        state.forgetReports(of: changed)
        change(changed, for: state.cores(showing: changed, of: self), invalidating: changed, context, &notifications)
    }

    /// Locks all stores, one after another in the order of their creation, and changes the values under all the locks.
    func change(
        _ changes: ShortList<ValueChange>,
        for cores: [StoreCore],
        from index: Int = 0,
        invalidating shown: ShortList<ValueChange>,
        _ context: ChangeContext,
        _ notifications: inout DeferredNotifications
    ) {
        guard index < cores.count else { return values.make(changes) }
        cores[index].lock(invalidating: shown, of: self, context, into: &notifications) { notifications in
            change(changes, for: cores, from: index + 1, invalidating: shown, context, &notifications)
        }
    }
}
