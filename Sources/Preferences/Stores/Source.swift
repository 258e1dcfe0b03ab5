internal import CDurableFile
internal import DurableFile
internal import Synchronization

/// A backend and what the stores read of it: its values, whose turn it is, and the stores that show it.
///
/// One thread at a time has the turn: it alone calls the backend and changes the values. The turn is no lock: it may be
/// waited for, but nobody waits for it with a lock held. The values change only while the locks of all stores that show
/// a changed name are held together, so whoever holds a store's lock sees all its layers at one moment.
final class Source: ValueSource {
    /// Nil where the values are in memory only, and here.
    let backend: (any PreferenceBackend)?
    /// The backend, if it is a file's, which shares its values.
    private let file: FileBackend?
    private let isInMemory: Bool
    /// How long a call may take; nil for a backend whose calls are short.
    let timeout: Duration?
    /// The backend, if its reads may call anybody's code.
    let reentrant: (any ReentrantBackend)?
    /// Whether the backend is asked for names; not known until it is loaded.
    let isAsked: Atomic<Bool>
    /// The handler of the store that was made over this source.
    let issues = IssueReporter()
    let state = Lock(SourceState())
    /// What is stored, as stores show it.
    private let values: StoredValues
    /// Whether what is stored was read; it stays so.
    private let isOpened: Atomic<Bool>
    /// Whether reads need not open the backend, as that was done, or tried and reported.
    private let isSettled: Atomic<Bool>
    /// Whether plain sets are kept while the backend can't be opened, and stored once it can.
    private let isRecovering = Atomic(false)
    /// How many subscriptions of the stores are for the moment before a change: a set without any does less.
    private let earlySubscriptions = Atomic<Int>(0)
    /// Whether a store that shows it has names that were declared secret; else there is nobody to ask.
    let hasSecrets = Atomic(false)

    /// A source in memory.
    init(_ contents: [String: PropertyListValue]) {
        backend = nil
        isInMemory = true
        file = nil
        timeout = nil
        reentrant = nil
        isAsked = Atomic(false)
        values = StoredValues(contents)
        isOpened = Atomic(true)
        isSettled = Atomic(true)
    }

    /// A source over a backend, which is loaded at the first use.
    init(_ backend: any PreferenceBackend) {
        self.backend = backend
        isInMemory = false
        file = backend as? FileBackend
        timeout = backend.timeout
        reentrant = backend as? any ReentrantBackend
        isAsked = Atomic(true)
        values = StoredValues()
        isOpened = Atomic(false)
        isSettled = Atomic(false)
    }

    /// Makes plain sets be kept while the backend can't be opened.
    func recover() { isRecovering.store(true, ordering: .relaxed) }

    // MARK: What is stored

    /// What is stored under a name; of one moment with other names only under a lock of a store that shows them.
    func value(of name: String) -> PropertyListValue? {
        values[name]
    }

    /// Everything stored; as `value(of:)`.
    var contents: [String: PropertyListValue] { values.dictionary }

    var names: [String] { values.names }

    /// A copy of all that is stored; as `value(of:)`.
    var snapshot: StoredValues { StoredValues(values.copy) }

    /// Counts up whenever values change; as `value(of:)`.
    var version: UInt64 { values.version }

    /// Whether what is stored was read.
    var isOpen: Bool { isOpened.load(ordering: .acquiring) }

    /// Whether the backend says that an administrator decides about a name.
    func isManaged(_ name: String) -> Bool { isOpen && backend?.isManaged(name) ?? false }

    /// Why what is stored could not be read, if that was tried.
    var failure: PreferencesError? { state.withLock { $0.failure } }

    // MARK: Who shows it

    /// Adds a store to those whose readers and observers learn of changes.
    func attach(_ core: any SourceUser) {
        state.withLock { $0.attach(core) }
    }

    func detach(_ core: any SourceUser) {
        let removed = state.withLock { $0.detach(core) }
        withExtendedLifetime(removed) {}
    }

    /// Whether a read need not call `prepare`.
    var isPrepared: Bool { isSettled.load(ordering: .acquiring) && !isAsked.load(ordering: .acquiring) }

    func addEarlySubscription() { earlySubscriptions.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    func removeEarlySubscription() { earlySubscriptions.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    var hasEarlySubscriptions: Bool { earlySubscriptions.load(ordering: .sequentiallyConsistent) > 0 }

    /// The stores that show it.
    var cores: [any SourceUser] { state.withLock { $0.cores } }

    /// Calls the handler of the store that was made over this source; without one those of the stores that show it too.
    func report(_ error: PreferencesError) {
        IssueReporter.report(error, to: reporters)
    }

    var reporters: [IssueReporter] {
        guard !issues.hasHandler else { return [issues] }
        // A store and its scopes have one.
        var above: [IssueReporter] = []
        for reporter in cores.map(\.issues) where reporter.hasHandler && !above.contains(where: { $0 === reporter }) {
            above.append(reporter)
        }
        return above.isEmpty ? [issues] : above
    }

    /// Returns those of some reporters whose handlers are yet to be notified of a value that can't be read, and notes that
    /// they are.
    ///
    /// Kept here and not in a store, as several stores with one handler may show the value.
    func reporters(
        for key: UnreadableValue.Key,
        of name: String,
        among reporters: [IssueReporter]
    ) -> [IssueReporter] {
        let handling = reporters.filter(\.hasHandler)
        return state.withLock { state in
            // Without handlers of their own they all have the default one.
            if handling.isEmpty { return state.isFirstReport(of: key, of: name, to: 0) ? reporters : [] }
            return handling.filter { state.isFirstReport(of: key, of: name, to: $0.id) }
        }
    }

    var path: String? { file?.path }
}

// MARK: Opening

extension Source {
    /// Makes sure that reads find what is stored, under these names too where the backend is asked for names.
    ///
    /// Where it can't be read that is reported, once, and reads give defaults from then on.
    func prepare(_ names: some Collection<String> & Sendable, _ call: StoreCall? = nil) {
        if !isSettled.load(ordering: .acquiring) {
            do throws(PreferencesError) {
                try open(call, isReading: true)
            } catch {
                if state.withLock({ $0.isFirstReport() }) { report(error) }
            }
            settle()
        }
        askFor(names, call)
    }

    /// Makes reads do without the backend where it can't be opened.
    func settle() {
        // User defaults that can't be read yet may not say when they can: each read tries again.
        if isOpen || reentrant == nil { isSettled.store(true, ordering: .releasing) }
    }

    /// Reads what is stored unless that is done, also where it failed before.
    func open(_ call: StoreCall? = nil, isReading: Bool = false) throws(PreferencesError) {
        guard !isOpen else { return }
        var isTried = false
        do throws(PreferencesError) {
            try withTurn(isReading ? .read : .other, call) { (publications) throws(PreferencesError) in
                isTried = true
                try load(&publications)
            }
        } catch {
            if !isTried, timeout != nil { openElsewhere(because: error) }
            throw error
        }
        // What was read before it could be opened, as somebody may observe it.
        if reentrant != nil { askFor(state.withLock { $0.asked.doubted }, isReading: isReading) }
    }

    /// As `open`, with the turn.
    private func load(_ publications: inout Publications) throws(PreferencesError) {
        guard !isOpen, let backend else { return }
        do throws(PreferencesError) {
            let contents = if let file { try file.open(host: host) } else { StoredValues(try backend.load(host: host)) }
            if backend.values(for: []) == type(of: backend).nothingMore { isAsked.store(false, ordering: .releasing) }
            let (isFirst, kept) = state.withLock { state in
                // In one step: who gives up waiting for it either finds the values or is notified of them.
                if state.failure == nil, file == nil { values.take(contents) }
                return (state.failure == nil, state.kept)
            }
            guard !isFirst else {
                file?.adopt(values, taking: contents)
                return finishOpening()
            }
            if reentrant != nil {
                doubtDeclared()
                return finishOpening()
            }
            // Reads gave defaults after an earlier try had failed: what is there now is a change, but for what was set since.
            var changes = contents.dictionary.merging(askForAll()) { $1 }.mapValues(Optional.some)
            if !kept.isEmpty {
                let outside = try backend.apply(kept, if: .none).outside
                changes.merge(outside) { $1 }
                for name in kept.keys { changes[name] = nil }
            }
            publishExternal(changes, into: &publications)
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
            state.kept = [:]
            isOpened.store(true, ordering: .releasing)
        }
    }

    private var host: PreferenceBackendHost {
        PreferenceBackendHost(
            changed: { [weak self] in self?.takeExternalChanges() },
            report: { [weak self, issues] error in
                // A backend may have something to say about its own end.
                if let self { reportOfBackend(error) } else { IssueReporter.report(error, to: [issues]) }
            },
            deadline: { [weak self] in self?.state.withLock { $0.deadline } },
            outdated: { [weak self] in self?.doubt() }
        )
    }
}

// MARK: Committing

extension Source {
    /// Stores the changes, makes every store show them and notifies observers; false where `condition` did not hold.
    func commit(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        _ own: Publication,
        _ call: StoreCall? = nil
    ) throws(PreferencesError) -> Bool {
        if isInMemory { return try commitInMemory(changes, if: condition, own) }
        if isAsked.load(ordering: .acquiring) { try revalidate(changes, condition) }
        let isStored = try withTurn(.commit, call) { (publications) throws(PreferencesError) -> Bool? in
            do throws(PreferencesError) { try load(&publications) } catch {
                try keep(changes, if: condition, because: error, own, &publications)
                return nil
            }
            // If the backend could not be loaded before, it was not asked for these.
            if isAsked.load(ordering: .acquiring), reentrant == nil {
                askWithTurn(for: changes.dictionary.keys, &publications)
            }
            let commit: FileBackend.Commit
            do throws(PreferencesError) {
                commit =
                    if let file { try file.commit(changes, if: condition) } else {
                        FileBackend.Commit(try backend?.apply(changes.dictionary, if: condition ?? .none))
                    }
            } catch {
                // What it learned of outside changes before it failed is still to be taken in.
                state.withLock { state in _ = state.turn.requestRefresh(by: .current, in: durable_file_fork_count()) }
                throw error
            }
            if let outside = commit.outside { publishExternal(outside, into: &publications) }
            if commit.isStored { publish(changes, commit.changed, own, into: &publications) }
            return commit.isStored
        }
        if isStored == true { if let file { try file.didApply() } else { try backend?.didApply() } }
        return isStored ?? true
    }

    private func commitInMemory(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        _ publication: Publication
    ) throws(PreferencesError) -> Bool {
        try JSONLine.check(changes)  // What a file would reject, so that a test in memory shows it.
        var publications = Publications()
        let isStored = state.withLock { state in
            guard condition.map(values.hold) ?? true else { return false }
            publish(values.differences(of: changes), publication, with: &state, into: &publications)
            return true
        }
        publications.send()
        return isStored
    }

    /// Keeps plain sets for when the backend can be opened; throws what depends on what is stored, and where nothing is kept.
    private func keep(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        because error: PreferencesError,
        _ publication: Publication,
        _ publications: inout Publications
    ) throws(PreferencesError) {
        guard isRecovering.load(ordering: .relaxed) else { throw error }
        guard condition?.isNone ?? true else { throw PreferencesError(unread: error) }
        try JSONLine.check(changes)
        publish(changes, nil, publication, into: &publications)
        state.withLock { $0.kept.merge(changes.dictionary) { $1 } }
    }

    /// Takes in what others changed, now or, where another thread is at the backend, when that one leaves it.
    func takeExternalChanges() {
        if reentrant != nil, !isOpen { return reopen() }
        guard state.withLock({ $0.turn.requestRefresh(by: .current, in: durable_file_fork_count()) }) else { return }
        var publications = Publications()
        leave(&publications)
    }

    private func reportOfBackend(_ error: PreferencesError) {
        let isLater = state.withLock { state in
            guard state.turn.isTaken(in: durable_file_fork_count()) else { return false }
            state.reports.append(error)
            return true
        }
        if !isLater { report(error) }
    }

    /// Blocks until everything set so far survives a loss of power.
    func sync() throws(PreferencesError) {
        try checkStored()
        if isOpen { try backend?.sync() }
    }

    func checkStored() throws(PreferencesError) {
        guard isRecovering.load(ordering: .relaxed), let failure else { return }
        throw PreferencesError(
            .notDurable,
            "what was set is kept in memory and ends with the program, since the store could not be opened; "
                + "mend that: then the next set stores all of it",
            cause: failure
        )
    }
}

// MARK: The turn

extension Source {
    /// Runs `body` while no other thread is at the backend; then does what the backend asked for, and notifies.
    ///
    /// Throws, for a backend with a timeout, where the thread must not be blocked or the call's time is over before its turn.
    ///
    /// - Parameters:
    ///   - use: For a reentrant backend, what the caller does besides.
    ///   - call: For a backend with a timeout, the call that this is a part of; one that begins now if nil.
    func withTurn<Result>(
        _ use: TurnUse = .other,
        _ call: StoreCall? = nil,
        _ body: (inout Publications) throws(PreferencesError) -> Result
    ) throws(PreferencesError) -> Result {
        // Without a timeout a call is of no interest.
        let call = timeout == nil ? nil : try admit(call)
        try claim(for: call)
        var publications = Publications()
        defer { leave(&publications, use) }
        if let call { try begin(call) }
        return try body(&publications)
    }

    private func claim(for call: StoreCall?) throws(PreferencesError) {
        let (thread, forks) = (ThreadIdentity.current, durable_file_fork_count())
        var waiter: Condition<Bool>?
        while true {
            switch state.withLock({ [waiter] in $0.turn.claim(by: thread, in: forks, orWait: waiter) }) {
            case .granted: return
            case .taken: waiter = Condition(false)
            case .waiting:
                if let waiter, !waiter.wait(until: call.flatMap(deadline)) {
                    // One that is woken at that moment asks again, so that the turn is not left to nobody.
                    guard !state.withLock({ $0.turn.withdraw { $0 === waiter } }) else {
                        throw PreferencesError(late: ())
                    }
                }
                waiter = nil
            case .held:
                throw PreferencesError(
                    .misuse,
                    "a backend used its own store while the store was calling it; nothing was changed. "
                        + "Use the store outside of load, refresh and apply"
                )
            }
        }
    }

    /// Gives the turn back once nothing is left to do at the backend; then, without it, notifies.
    private func leave(_ publications: inout Publications, _ use: TurnUse = .other) {
        var problems: [PreferencesError] = []
        var mayOpen = true
        release: while true {
            switch state.withLock({ $0.release() }) {
            case .refresh:
                do throws(PreferencesError) {
                    try refresh(&publications, &mayOpen)
                } catch {
                    problems.append(error)
                }
            case .free(let waiter, let reports):
                waiter?.signal { $0 = true }
                if !reports.isEmpty { problems += reports }
                break release
            }
        }
        if isAsked.load(ordering: .relaxed) { finish(use, publications) } else { publications.send() }
        for problem in problems { report(problem) }
    }

    private func refresh(_ publications: inout Publications, _ mayOpen: inout Bool) throws(PreferencesError) {
        if isOpen {
            guard let backend else { return }
            publishExternal(try backend.refresh(), into: &publications)
        } else if mayOpen, failure != nil {
            // It could not be loaded; now it calls because it can. Once, as a load that fails may call too.
            mayOpen = false
            do throws(PreferencesError) {
                try load(&publications)
            } catch {
                // It was reported when it failed first.
            }
        }
    }
}

// MARK: Publishing

extension Source {
    func publishExternal(_ changes: [String: PropertyListValue?], into publications: inout Publications) {
        if !changes.isEmpty { publish(.several(changes), nil, Publication(origin: .external), into: &publications) }
    }

    /// Makes the changes what every store reads; with the turn.
    private func publish(
        _ changes: ValueChanges,
        _ changed: ShortList<ValueChange>?,
        _ publication: Publication,
        into publications: inout Publications
    ) {
        let changed = changed ?? values.differences(of: changes)
        guard !changed.isEmpty else { return }
        state.withLock { publish(changed, publication, with: &$0, into: &publications) }
    }

    /// As above, with the source's lock, which keeps the list of stores as it is.
    private func publish(
        _ changed: ShortList<ValueChange>,
        _ publication: Publication,
        with state: inout SourceState,
        into publications: inout Publications
    ) {
        guard !changed.isEmpty else { return }
        state.forgetReports(of: changed)
        change(changed, for: state.cores(showing: changed, of: self), preparing: changed, publication, &publications)
    }

    /// Changes the values while all stores are locked, one after the other in the order of their age.
    func change(
        _ changes: ShortList<ValueChange>,
        for cores: [any SourceUser],
        from index: Int = 0,
        preparing prepared: ShortList<ValueChange>,
        _ publication: Publication,
        _ publications: inout Publications
    ) {
        guard index < cores.count else { return values.make(changes) }
        cores[index].lock(preparing: prepared, of: self, publication, into: &publications) { publications in
            change(changes, for: cores, from: index + 1, preparing: prepared, publication, &publications)
        }
    }
}
