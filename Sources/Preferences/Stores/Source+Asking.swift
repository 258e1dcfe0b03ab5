internal import DurableFile
internal import Synchronization

// Backends that are asked name by name, as user defaults are, those whose reads may call anybody's code, and those with a timeout.

/// A backend over a framework that may call anybody's code from inside a read.
///
/// So it is read by `revalidate`, without the source's turn. `values(for:)`, `refresh` and `apply`, which are called with the turn,
/// answer by what was read.
protocol ReentrantBackend: PreferenceBackend {
    /// Reads what is stored under some names, which are in use from then on; true if `refresh` has something to tell.
    ///
    /// Called without a lock or a turn, after `load`, on any thread and several at once.
    func revalidate(_ names: Set<String>) -> Bool

    /// Whether nothing has happened since these names were read that may have changed their values.
    func isCurrent(_ names: Set<String>) -> Bool

    /// Writes what `apply` took; called after the turn of a commit, before observers are called.
    func write()
}

/// What somebody who has the turn of a source does besides, where that matters.
enum TurnUse {
    /// Reads, and may hold a lock, so observers are not called on this thread.
    case read
    /// Has stored something, which is to be written before observers are called.
    case commit
    case other
}

extension Source {
    /// Asks the backend for names that it was not asked for yet, and for those whose values may be outdated.
    ///
    /// - Parameter isReading: Whether the caller reads, and may hold a lock, so that observers of what was outdated are not
    ///   called here.
    func askFor(_ names: some Collection<String> & Sendable, isReading: Bool = true, _ call: StoreCall? = nil) {
        for attempt in 1...Self.attempts {
            guard isOpen, isUnknown(names) else { return }
            if let reentrant, reentrant.revalidate(state.withLock({ $0.asked.unknown(among: names) })), isReading {
                WorkerQueue().run { [weak self] in self?.takeExternalChanges() }
            }
            do throws(PreferencesError) {
                let isDone = try withTurn(isReading ? .read : .other, call) { (publications) throws(PreferencesError) in
                    askWithTurn(for: names, isLast: attempt == Self.attempts, &publications)
                }
                if isDone { return }
            } catch {
                // The thread is at the backend already, further up its stack, or can't wait for it: the name reads as absent.
                return
            }
        }
    }

    /// Ends a turn at a backend that is asked for names.
    @inline(never)
    func finish(_ use: TurnUse, _ publications: Publications) {
        switch use {
        case .read: publications.sendElsewhere()
        case .commit:
            reentrant?.write()
            publications.send()
        case .other: publications.send()
        }
    }

    /// After so many times outdated values have to do, and aren't kept.
    private static var attempts: Int { 8 }

    /// Asks with the turn; false where something happened since the backend read the names.
    ///
    /// Nobody has read new names, so nobody is notified of these.
    @discardableResult
    func askWithTurn(
        for names: some Collection<String> & Sendable,
        isLast: Bool = false,
        _ publications: inout Publications
    ) -> Bool {
        guard let backend else { return true }
        let before = state.withLock { $0.asked }
        let unknown = before.unknown(among: names)
        guard !unknown.isEmpty else { return true }
        let isCurrent = reentrant?.isCurrent(unknown) ?? true
        guard isCurrent || isLast else { return false }
        let values = backend.values(for: unknown)
        var new = ShortList<ValueChange>()
        var shown: [String: PropertyListValue?] = [:]
        for name in unknown {
            if before.doubted.contains(name) {
                shown.updateValue(values[name], forKey: name)
            } else if let value = values[name] {
                new.append(ValueChange(name: name, to: value))
            }
        }
        publishExternal(shown, into: &publications)
        return state.withLock { state in
            // Nobody has to look again; but no snapshot may see a part of them.
            var nobody = Publications()
            let cores = state.cores(showing: new, of: self)
            change(new, for: cores, preparing: ShortList(), Publication(origin: .external), &nobody)
            guard isCurrent, state.asked.doubts == before.doubts else {
                // From here on these values are shown.
                state.asked.doubt(unknown)
                return false
            }
            state.asked.know(unknown)
            return true
        }
    }

    /// Applies external changes now: asks a backend that lists its names for the differences, any other for the declared names.
    func refresh(_ call: StoreCall?) throws(PreferencesError) {
        let wasOpen = isOpen
        try open(call)
        guard wasOpen, let backend else { return }
        if reentrant != nil { return revalidate(names(of: cores)) }
        try withTurn(.other, call) { (publications) throws(PreferencesError) in
            publishExternal(try backend.refresh(), into: &publications)
        }
    }

    /// What the backend has under the names that stores declared; with the turn.
    func askForAll() -> [String: PropertyListValue] {
        guard let backend, isAsked.load(ordering: .acquiring) else { return [:] }
        let names = state.withLock { state in
            let names = state.asked.unknown(among: self.names(of: state.cores))
            state.asked.know(names)
            return names
        }
        return names.isEmpty ? [:] : backend.values(for: names).filter { names.contains($0.key) }
    }

    /// Whether the backend was not asked for a name that it would tell of only then.
    func isUnknown(_ name: String) -> Bool { isUnknown(CollectionOfOne(name)) }

    private func isUnknown(_ names: some Collection<String> & Sendable) -> Bool {
        isAsked.load(ordering: .acquiring) && state.withLock { !$0.asked.unknown(among: names).isEmpty }
    }

    /// Asks for the names that any store over this source declared or observes.
    func prepareDeclared(_ call: StoreCall? = nil) {
        prepare(EmptyCollection(), call)
        guard isAsked.load(ordering: .acquiring) else { return }
        var names = names(of: cores)
        // Under no name, so that a backend that lists all it has reads stale values again, though none may be declared.
        if reentrant == nil, state.withLock({ $0.asked.doubts > 0 }) { names.insert("") }
        askFor(names, call)
    }

    private func names(of cores: [any SourceUser]) -> Set<String> {
        cores.reduce(into: []) { $0.formUnion($1.names(in: self)) }
    }
}

// MARK: Values that may be outdated

extension Source {
    /// Whether what is read of a name just now must not be kept: it may be outdated, and the backend won't say so.
    func isDoubted(_ name: String) -> Bool {
        // A backend with a timeout may not have been asked for it in time.
        if reentrant == nil { timeout != nil && isOpen && isUnknown(name) } else { !isOpen || isUnknown(name) }
    }

    /// Notes that any value that was read may be outdated: each name is asked for again before it is read.
    func doubt() {
        // First doubted: who keeps a value after that asks first, and who kept one before forgets it.
        let cores = state.withLock { state in
            state.asked.doubtAll()
            return state.cores
        }
        for core in cores { core.forgetValues() }
    }

    /// Notes that all names that stores have may be outdated, as they were read while the backend could not be opened; with the
    /// turn.
    func doubtDeclared() {
        let cores = cores
        let names = names(of: cores)
        state.withLock { $0.asked.doubt(names) }
        for core in cores { core.forgetValues() }
    }

    /// Takes in what others changed under some names, though nobody may have told of it.
    func revalidate(_ names: some Collection<String>) {
        guard let reentrant, isOpen, reentrant.revalidate(Set(names)) else { return }
        takeExternalChanges()
    }

    /// As above, of all that was declared.
    func revalidateDeclared() {
        if reentrant != nil { revalidate(names(of: cores)) }
    }

    /// Has the backend, if its reads may call anybody's code, read what a commit depends on, which it then returns.
    @inline(never)
    func revalidate(_ changes: ValueChanges, _ condition: PreferenceCondition?) throws(PreferencesError) {
        guard let reentrant else { return }
        try open()
        var names = Set(changes.dictionary.keys)
        if let condition {
            names.formUnion(condition.values.keys)
            if condition.isComplete { names.formUnion(state.withLock { $0.asked.all }) }
        }
        let unknown = state.withLock { $0.asked.unknown(among: names) }
        askFor(unknown, isReading: false)
        _ = reentrant.revalidate(names.subtracting(unknown))  // `apply` tells what it found
    }

    /// Tries to open the backend, which says that this may be possible now.
    func reopen() {
        do throws(PreferencesError) {
            try open()
        } catch {
            // It was reported when it failed first.
        }
    }
}

// MARK: Backends with a timeout

extension Source {
    /// The call, or one that begins now; throws where it must not block the thread.
    @inline(never)
    func admit(_ call: StoreCall?) throws(PreferencesError) -> StoreCall {
        let call = call ?? StoreCall()
        try checkThread(of: call)
        return call
    }

    /// When a call's time for this source is over.
    func deadline(of call: StoreCall) -> ContinuousClock.Instant? { timeout.map { call.start + $0 } }

    /// Throws where a call must not block the thread for this source.
    func checkThread(of call: StoreCall) throws(PreferencesError) {
        if timeout != nil, !call.isOnLibraryThread { try backend?.checkThreadMayBlock() }
    }

    /// Notes, with the turn, until when the backend has time.
    @inline(never)
    func begin(_ call: StoreCall) throws(PreferencesError) {
        guard let deadline = deadline(of: call), ContinuousClock.now < deadline else {
            throw PreferencesError(late: ())
        }
        state.withLock { $0.deadline = deadline }
    }

    /// Opens a backend on a thread of the library, as this call can't do it or wait for it; what is found is a change then.
    func openElsewhere(because error: PreferencesError) {
        let calls = state.withLock { state -> CallQueue? in
            guard !isOpen, state.failure == nil else { return nil }
            state.failure = error
            return state.calls
        }
        calls?.run { [weak self] in
            guard let self else { return }
            do throws(PreferencesError) {
                try open(StoreCall(isOnLibraryThread: true), isReading: true)
            } catch {
                report(error)
            }
        }
    }

    /// Returns when everything set so far survives a loss of power; blocks a thread of the library.
    func flush() async throws(PreferencesError) {
        try checkStored()
        guard isOpen, let backend else { return }
        let deadline = timeout.map { ContinuousClock.now + $0 }
        let syncs = state.withLock { $0.syncs }
        do throws(PreferencesError) {
            try await syncs.perform(until: deadline) { () throws(PreferencesError) in
                try backend.sync(until: deadline)
            }
        } catch {
            guard deadline != nil, error.code == .unavailable else { throw error }
            throw PreferencesError(
                .notDurable,
                "what was set may not survive a loss of power yet; flush again",
                cause: error
            )
        }
    }
}
