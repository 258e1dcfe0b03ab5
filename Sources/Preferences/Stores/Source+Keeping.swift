internal import DurableFile

// What is set while the backend can't be opened: it is shown, and stored once the backend can be opened.

extension Source {
    /// Shows changes that can't be stored because the backend can't be opened, and keeps them until they can be stored.
    ///
    /// - Parameters:
    ///   - owner: The preference whose value is merged into the one that is stored by then, if any.
    ///   - context: The origin of the changes.
    /// - Returns: Whether any of the names was not kept before; nil, and nothing is kept, if the backend is open now.
    func keep(
        _ changes: ValueChanges,
        of owner: Outbox.Owner?,
        _ context: ChangeContext
    ) throws(PreferenceError) -> Bool? {
        try withTurn(.commit) { (notifications) throws(PreferenceError) in
            guard !isOpen else { return nil }
            try JSONLine.check(changes)
            publish(changes, context, into: &notifications)
            return state.withLock { $0.outbox.add(changes, of: owner) }
        }
    }

    /// Stores what was kept, at a backend that is read without the turn.
    func storeKept() {
        let outbox = state.withLock { exchange(&$0.outbox, with: Outbox()) }
        guard let reentrant, !outbox.isEmpty else { return }
        reentrant.revalidate(outbox.names)
        do throws(PreferenceError) {
            let kept = outbox.changes(over: reentrant.values(for: outbox.names))
            _ = try commit(.several(kept), if: nil, .local)
        } catch {
            // The stored values are shown again.
            state.withLock { $0.queried.invalidate(outbox.names) }
            report(error)
        }
    }

    /// Throws if values that were set are only in memory, or nothing could be read.
    func checkStored() throws(PreferenceError) {
        guard !isOpen, let failure else { return }
        let names = state.withLock { $0.outbox.names }.sorted()
        let listed = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and others" : "")
        let kept = names.isEmpty ? "nothing was set" : "the values of \(listed) are only in memory"
        throw PreferenceError(
            .notDurable,
            "the store could not be opened, and \(kept); fix the cause: the next set then stores everything that was set",
            cause: failure
        )
    }
}

extension StoreCore {
    /// Throws if the writable layer can't be opened, unless a stronger layer has a value of the preference.
    ///
    /// If the backend's calls are short, tries again; returns whether that has opened it.
    func checkOpened(for name: String) throws(PreferenceError) -> Bool {
        let list = attachedLayers
        guard let index = list.writableIndex, !list.layers[index].source.isOpen,
            let failure = list.layers[index].source.failure
        else { return false }
        let names = [name] + formerNames(of: name)
        let isDecided = list.layers[..<index].contains { layer in names.contains { layer.value(of: $0) != nil } }
        guard !isDecided else { return false }
        guard list.layers[index].source.timeout == nil else { throw PreferenceError(unread: failure) }
        do throws(PreferenceError) { try list.layers[index].source.open() } catch {
            throw PreferenceError(unread: error)
        }
        return true
    }

    /// Shows and keeps changes that can't be stored because the store can't be opened, and reports that once for each name.
    ///
    /// - Parameters:
    ///   - name: The preference that changes, which the report names.
    ///   - merge: What merges its value into the one that is stored by then.
    ///   - error: The error because of which the store can't be opened.
    /// - Returns: False, and nothing is kept, if the store can be opened now.
    func keep(
        _ changes: ValueChanges,
        of name: String?,
        merge: Outbox.Merge? = nil,
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
        guard let isNew = try layer.source.keep(changes.prefixed(layer.prefix), of: owner, context) else {
            return false
        }
        if isNew { report(PreferenceError(keeping: name ?? changes.onlyName, because: error)) }
        return true
    }
}

extension PreferenceError {
    /// Creates the issue that a value is shown but can't be stored yet.
    fileprivate init(keeping name: String?, because error: PreferenceError) {
        self.init(
            .unavailable,
            name: name,
            "the store can't be opened, so the value is only in memory: it is stored once the store can be opened, and lost if the "
                + "program ends before. Fix the cause",
            cause: error
        )
    }
}
