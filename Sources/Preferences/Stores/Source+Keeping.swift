internal import DurableFile

// What is set while the backend can't be opened: it is shown, and stored once the backend can be opened.

extension Source {
    /// Shows changes that can't be stored because the backend can't be opened, and keeps them until they can be stored.
    ///
    /// - Parameters:
    ///   - owner: The preference whose value is merged into the one that is stored by then, if any.
    ///   - context: The origin of the changes.
    ///   - condition: The values that the changes depend on.
    /// - Returns: Whether any of the names was not kept before; nil, and nothing is kept, if the backend is open now, or the condition
    ///   isn't true.
    func keep(
        _ changes: ValueChanges,
        of owner: Outbox.Owner?,
        if condition: PreferenceCondition?,
        _ context: ChangeContext
    ) throws(PreferenceError) -> Bool? {
        try withTurn(.commit) { (notifications) throws(PreferenceError) in
            if isOpen { return nil }
            if let condition, !values.hold(condition) { return nil }
            try JSONLine.check(changes)
            publish(changes, context, into: &notifications)
            return state.withLock { $0.outbox.add(changes, of: owner) }
        }
    }

    /// Publishes the values that could not be read before, and stores what was kept; call with the turn, before the source is open.
    ///
    /// Reads gave defaults until now, so the values are changes.
    func recover(
        _ contents: [String: PropertyListValue],
        into notifications: inout DeferredNotifications
    ) throws(PreferenceError) {
        let outbox = state.withLock { $0.outbox }
        let names = unqueriedNames.union(isQueriedByName ? outbox.names : [])
        var stored = contents
        if let backend, !names.isEmpty {
            stored.merge(backend.values(for: names).filter { names.contains($0.key) }) { $1 }
        }
        var changes = stored.mapValues(Optional.some)
        if !outbox.isEmpty { try store(outbox, over: &stored, &changes) }
        publishExternal(changes, into: &notifications)
        state.withLock { state in
            state.queried.noteQueried(names)
            state.outbox = Outbox()
        }
    }

    /// Stores what was kept, merged into the stored values; what the backend refuses for good is dropped and reported.
    ///
    /// - Parameters:
    ///   - stored: The stored values, to which external changes in between are added.
    ///   - changes: Receives the external changes, and what is stored under the kept names.
    private func store(
        _ outbox: Outbox,
        over stored: inout [String: PropertyListValue],
        _ changes: inout [String: PropertyListValue?]
    ) throws(PreferenceError) {
        do throws(PreferenceError) {
            var isStored = false
            for attempt in 1...8 where !isStored {
                let kept = outbox.changes(over: stored)
                let condition = attempt < 8 ? outbox.condition(over: stored) : .none
                isStored = try apply(.several(kept), if: condition)
                if isStored { changes.merge(kept) { $1 } }
                // The changes before the own ones are overwritten by these under their names.
                var isOwnStored = false
                while let batch = values.withInbox({ $0.next() }) {
                    isOwnStored = isOwnStored || batch.isOwn
                    for (name, value) in batch.dictionary where !batch.isOwn {
                        stored[name] = value
                        if isOwnStored || !isStored || kept[name] == nil { changes.updateValue(value, forKey: name) }
                    }
                }
            }
        } catch {
            guard error.isRefusal else { throw error }
            let names = outbox.names
            guard names.count < 2 else {
                for part in outbox.parts { try store(part, over: &stored, &changes) }
                return
            }
            for name in names {
                changes.updateValue(stored[name], forKey: name)
                reportFromBackend(error.named(name))
            }
        }
    }

    /// Stores what was kept and is still shown, at a backend that is read without the turn. If that fails, the next commit tries again,
    /// unless the backend refuses it for good.
    func storeKept() {
        guard let reentrant else { return }
        let names = state.withLock { $0.outbox.names }
        guard !names.isEmpty else { return }
        reentrant.revalidate(names)
        do throws(PreferenceError) {
            try withTurn(.commit) { (notifications) throws(PreferenceError) in
                let outbox = state.withLock { $0.outbox }.shown(in: values)
                defer { publishStored(.local, into: &notifications) }
                _ = try apply(.several(outbox.changes(over: reentrant.values(for: names))), if: nil)
                state.withLock { $0.outbox = Outbox() }
            }
        } catch {
            if error.isRefusal {
                state.withLock { state in
                    state.outbox = Outbox()
                    state.queried.invalidate(names)
                }
            }
            report(error)
        }
    }

    /// Throws if values that were set are only in memory, or nothing could be read.
    func checkStored() throws(PreferenceError) {
        guard !isOpen, let failure else { return }
        let names = state.withLock { $0.outbox.names }.sortedByBytes
        let listed = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and others" : "")
        let kept = names.isEmpty ? "nothing was written" : "the values of \(listed) are only in memory"
        throw PreferenceError(
            .notDurable,
            "the store can't be opened, and \(kept); fix the cause, and the next write stores all values that are in memory",
            cause: failure
        )
    }
}

extension Layer {
    /// Returns the error because of which the value of a name can't be read now, if it is locked.
    package func failure(of name: String) -> PreferenceError? { source.locking?.failure(of: spelled(name)) }

    /// Throws if the value of the first of these names that has one is locked.
    fileprivate func checkUnlocked(_ names: [String]) throws(PreferenceError) {
        for name in names.prefix(while: { value(of: $0) == nil }) {
            if let failure = failure(of: name) { throw PreferenceError(unread: failure) }
        }
    }
}

extension StoreCore {
    /// Returns whether the writable layer has a locked value under a preference's name or a former name of it.
    func isLocked(_ name: String) -> Bool {
        guard let layer = newest.layers.writableLayer, layer.source.locking != nil else { return false }
        return ([name] + formerNames(of: name)).contains { layer.failure(of: $0) != nil }
    }

    /// Whether a read finds all that is stored: the writable layer is open, and its values are never locked.
    var isReadable: Bool {
        let list = attachedLayers
        guard let source = list.writableIndex.map({ list.layers[$0].source }) else { return true }
        return source.isOpen && source.locking == nil
    }

    /// Throws if the writable layer can't be opened or has a locked value of the preference, unless a stronger layer has a value.
    ///
    /// If the backend's calls are short, tries again.
    func checkOpened(for name: String) throws(PreferenceError) {
        let list = attachedLayers
        guard let index = list.writableIndex else { return }
        let source = list.layers[index].source
        guard !source.isOpen || source.locking != nil else { return }
        let names = [name] + formerNames(of: name)
        let isDecided = list.layers[..<index].contains { layer in names.contains { layer.value(of: $0) != nil } }
        guard !isDecided else { return }
        if source.isOpen { return try list.layers[index].checkUnlocked(names) }
        guard let failure = source.failure else { return }
        guard !source.isSlow else { throw PreferenceError(unread: failure) }
        do throws(PreferenceError) { try source.open() } catch {
            throw PreferenceError(unread: error)
        }
    }

    /// Shows and keeps changes that can't be stored because the store can't be opened, and reports that once for each name.
    ///
    /// - Parameters:
    ///   - name: The preference that changes, which the report names.
    ///   - merge: What merges its value into the one that is stored by then.
    ///   - reads: The values that the changes depend on.
    ///   - error: The error because of which the store can't be opened.
    /// - Returns: False, and nothing is kept, if the store is open now, or these values have changed.
    func keep(
        _ changes: ValueChanges,
        of name: String?,
        merge: Outbox.Merge? = nil,
        ifStillHolds reads: TransactionReads? = nil,
        because error: PreferenceError
    ) throws(PreferenceError) -> Bool {
        guard let layer = attachedLayers.writableLayer else { return false }
        let owner = merge.flatMap { merge in
            name.map { name in
                Outbox.Owner(
                    name: layer.spelled(name),
                    formerNames: formerNames(of: name).map(layer.spelled),
                    merge: merge
                )
            }
        }
        var context = ChangeContext.local
        context.announcedUpTo = ChangeSubscription.newest
        context.initiator = ObjectIdentifier(self)
        let spelled = changes.prefixed(layer.prefix)
        let condition = reads?.condition.prefixed(layer.prefix)
        guard let isNew = try layer.source.keep(spelled, of: owner, if: condition, context) else { return false }
        if isNew { report(PreferenceError(keeping: name ?? changes.onlyName, because: error)) }
        return true
    }
}

extension PreferenceError {
    /// Whether the backend would refuse the same changes again.
    fileprivate var isRefusal: Bool {
        let temporary: [Code] = [.unavailable, .busy, .outcomeUnknown, .notDurable, .conflict]
        return !temporary.contains(code)
    }

    /// Creates the issue that a value is shown but can't be stored yet.
    fileprivate init(keeping name: String?, because error: PreferenceError) {
        self.init(
            .unavailable,
            name: name,
            "the store can't be opened, so the value is only in memory, and is lost if the program ends now; fix the cause, and it is "
                + "stored when the store can be opened",
            cause: error
        )
    }
}
