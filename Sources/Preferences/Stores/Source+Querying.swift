internal import DurableFile

// Backends that are queried by name, such as user defaults, and those whose reads may run code of the program.

/// The purpose of a turn, if it affects when observers are called.
enum TurnUse {
    /// The caller reads and may hold a lock, so observers are not called on this thread.
    case read
    /// The caller has stored changes, which the backend writes before observers are called.
    case commit
    case other
}

extension Source {
    /// Queries the backend for the names that were not queried yet or whose values may be stale.
    ///
    /// - Parameter isReading: Whether the caller reads and may hold a lock, so that observers of stale values are not called on
    ///   this thread.
    func queryBackend(for names: some Collection<String> & Sendable, isReading: Bool = true, _ call: StoreCall? = nil) {
        if isOpen, needsQuery(names) { query(Set(names), isReading, call) }
    }

    // Not generic, as the function above is: each type of names would compile its own.
    @inline(never)
    private func query(_ names: Set<String>, _ isReading: Bool, _ call: StoreCall?) {
        for attempt in 1...Self.attempts {
            guard isOpen, needsQuery(names) else { return }
            if let reentrant {
                reentrant.revalidate(state.withLock({ $0.queried.unqueried(among: names) }))
                if isReading, hasUnpublished { WorkerQueue().run { [weak self] in self?.applyExternalChanges() } }
            }
            do throws(PreferenceError) {
                let isDone = try withTurn(isReading ? .read : .other, call) {
                    (notifications) throws(PreferenceError) in
                    queryWithTurn(for: names, isLast: attempt == Self.attempts, &notifications)
                }
                if isDone { return }
            } catch {
                // The thread is calling the backend already, further up its stack, or can't wait for it: the name reads as
                // absent.
                return
            }
        }
    }

    /// Ends a turn at a backend that is queried by name.
    @inline(never)
    func finish(_ use: TurnUse, _ notifications: DeferredNotifications) {
        switch use {
        case .read: notifications.sendOnLibraryThread()
        case .commit:
            reentrant?.writeApplied()
            notifications.send()
        case .other: notifications.send()
        }
    }

    /// The number of attempts after which stale values are used, but not cached.
    private static var attempts: Int { 8 }

    /// Queries the backend, with the turn; returns false if something happened since the backend read the names.
    ///
    /// New names have no readers, so no observer is notified of their values.
    @discardableResult
    @inline(never)
    func queryWithTurn(
        for names: Set<String>,
        isLast: Bool = false,
        _ notifications: inout DeferredNotifications
    ) -> Bool {
        guard let backend else { return true }
        // Not a copy of the names, which the first change of the original would copy in full.
        let (unqueried, stale, invalidationCount) = state.withLock { state in
            let unqueried = state.queried.unqueried(among: names)
            return (unqueried, state.queried.staleNames(among: unqueried), state.queried.invalidationCount)
        }
        guard !unqueried.isEmpty else { return true }
        let isCurrent = reentrant?.isCurrent(unqueried) ?? true
        guard isCurrent || isLast else { return false }
        let values = backend.values(for: unqueried)
        var new = ShortList<ValueChange>()
        var shown: [String: PropertyListValue?] = [:]
        for name in unqueried {
            if stale.contains(name) {
                shown.updateValue(values[name], forKey: name)
            } else if let value = values[name] {
                new.append(ValueChange(name: name, to: value))
            }
        }
        publishExternal(shown, into: &notifications)
        return state.withLock { state in
            // No reader is notified, but the locks of the stores are taken, so that no snapshot sees only some of the values.
            var unsent = DeferredNotifications()
            let cores = state.cores(showing: new, of: self)
            change(new, for: cores, invalidating: ShortList(), .external, &unsent)
            guard isCurrent, state.queried.invalidationCount == invalidationCount else {
                // Readers may see these values from here on, so the names count as stale.
                state.queried.invalidate(unqueried)
                return false
            }
            state.queried.noteQueried(unqueried)
            return true
        }
    }

    /// Applies external changes now: makes a reentrant backend read the declared names again, and any other catch up.
    func refresh(_ call: StoreCall?) throws(PreferenceError) {
        let wasOpen = isOpen
        try open(call)
        guard wasOpen, backend != nil else { return }
        if reentrant != nil { return revalidate(names(of: cores)) }
        try withTurn(.other, call) { (_) throws(PreferenceError) in try catchUpBackend() }
    }

    /// Returns the names that stores declared and the backend was not queried for.
    var unqueriedNames: Set<String> {
        guard isQueriedByName else { return [] }
        return state.withLock { state in state.queried.unqueried(among: names(of: state.cores)) }
    }

    /// Returns whether the backend must be queried for a name before it is read.
    func needsQuery(_ name: String) -> Bool { needsQuery(CollectionOfOne(name)) }

    private func needsQuery(_ names: some Collection<String> & Sendable) -> Bool {
        isQueriedByName && state.withLock { $0.queried.isUnqueried(anyOf: names) }
    }

    /// Queries the backend for the names that any store over this source declared or observes.
    func prepareDeclared(_ call: StoreCall? = nil) {
        prepare(EmptyCollection(), call)
        guard isQueriedByName else { return }
        var names = names(of: cores)
        // With an empty name, so that a backend that lists its names reads stale values again even if none is declared.
        if reentrant == nil, state.withLock({ $0.queried.invalidationCount > 0 }) { names.insert("") }
        queryBackend(for: names, call)
    }

    private func names(of cores: [StoreCore]) -> Set<String> {
        cores.reduce(into: []) { $0.formUnion($1.names(in: self)) }
    }
}

// MARK: The backend's connection

extension Source {
    /// The connection that the backend gets.
    var host: PreferenceBackendHost {
        PreferenceBackendHost(
            add: { [values] changes, position in values.withInbox { $0.add(changes, at: position) } },
            addOwn: { [values] position in values.withInbox { $0.addOwn(at: position) } },
            announce: { [weak self] in self?.applyExternalChanges(catchingUp: $0) },
            { [weak self, issues] error in
                // A backend may report an issue while it is deinitialized.
                if let self { reportFromBackend(error) } else { IssueReporter.report(error, to: [issues]) }
            },
            { [weak self] in self?.state.withLock { $0.deadline } },
            invalidate: { [weak self] in self?.invalidateValues() },
            observed: { [weak self] in self?.observedNames(includingTracked: $0) ?? [] }
        )
    }
}

// MARK: Stale values

extension Source {
    /// Returns whether a value read under the name may be stale without a notification by the backend, and so must not be
    /// cached.
    func mayBeStale(_ name: String) -> Bool {
        // A file that nothing watches, in a child of `fork`, is looked at by each read.
        if looksAfterFork, isOpen { return !isPrepared }
        if file != nil { return false }
        // A query of a backend with a timeout may have failed.
        return reentrant == nil ? isSlow && isOpen && needsQuery(name) : !isOpen || needsQuery(name)
    }

    /// Marks all values as possibly stale: each name is queried again before it is read.
    func invalidateValues() {
        // Marked first: a reader that caches a value after this queries first, and values cached before are dropped below.
        let cores = state.withLock { state in
            state.queried.invalidateAll()
            return state.cores
        }
        for core in cores { core.dropLoadedValues() }
    }

    /// Returns the names whose changes an observer of a store waits for, or also those whose readers Observation may track.
    func observedNames(includingTracked: Bool) -> Set<String> {
        var observed: Set<String> = []
        for core in cores {
            guard let names = core.observedNames(in: self, includingTracked: includingTracked) else {
                return state.withLock { $0.queried.all }
            }
            observed.formUnion(names)
        }
        return observed
    }

    /// Marks all names that stores have as possibly stale, because they were read while the backend could not be opened; call
    /// with the turn.
    func invalidateDeclaredValues() {
        let cores = cores
        let names = names(of: cores)
        state.withLock { $0.queried.invalidate(names) }
        for core in cores { core.dropCachedValues() }
    }

    /// Applies external changes of some names, even if the backend was not notified of them.
    func revalidate(_ names: some Collection<String>) {
        guard let reentrant, isOpen else { return }
        reentrant.revalidate(Set(names))
        applyExternalChanges()
    }

    /// Applies external changes of all declared names.
    func revalidateDeclared() {
        if reentrant != nil { revalidate(names(of: cores)) }
    }

    /// Asks a reentrant backend to read the values that a commit depends on; the commit then publishes changes among them first.
    @inline(never)
    func revalidate(_ changes: ValueChanges, _ condition: PreferenceCondition?) throws(PreferenceError) {
        guard let reentrant else { return }
        do throws(PreferenceError) { try open() } catch {
            throw condition?.isNone ?? true ? error.ofOpening : PreferenceError(unread: error)
        }
        var names = Set(changes.dictionary.keys)
        if let condition {
            names.formUnion(condition.values.keys)
            if condition.isComplete { names.formUnion(state.withLock { $0.queried.all }) }
        }
        let unqueried = state.withLock { $0.queried.unqueried(among: names) }
        queryBackend(for: unqueried, isReading: false)
        reentrant.revalidate(names.subtracting(unqueried))
        // A removal shows the values of weaker layers, which the backend may have read, too.
        for core in cores {
            for layer in core.layers.layers where layer.source !== self && layer.source.hasUnpublished {
                layer.source.applyExternalChanges()
            }
        }
    }

    /// Tries to open the backend, after it signalled that this may be possible now.
    func reopen() {
        do throws(PreferenceError) {
            try open()
        } catch {
            // The error was reported at the first failure.
        }
    }
}
