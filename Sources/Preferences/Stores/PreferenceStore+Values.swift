extension PreferenceStore {
    /// The stored value of a name, or `nil` if the name has no value; setting `nil` removes the name.
    ///
    ///     store["theme"] = "dark"
    ///     store["volume"] = nil
    ///
    /// In a layered store, the value is that of the first layer with the name. A read isn't tracked by Observation. A value that
    /// was set survives the death of the process. If a set fails, the error is reported to the issue handler; `write(_:for:)`
    /// throws it.
    public subscript(name: String) -> PropertyListValue? {
        get { resolved.core.read(CollectionOfOne(name)) { $0.value(of: name) } }
        set { resolved.core.commitOrReport(.one(name, newValue)) }
    }

    /// Returns the value that the writable layer has under a name.
    package func ownValue(of name: String) -> PropertyListValue? { resolved.core.ownValue(of: name) }

    /// The names that have a value, sorted.
    public var names: [String] {
        contents.keys.sorted()
    }

    /// All stored values by name.
    public var contents: [String: PropertyListValue] {
        resolved.core.contents
    }

    /// Stores a value under a name, or removes the name if `value` is `nil`.
    ///
    /// When it returns, the value survives the death of the process.
    ///
    /// - Throws: `managed`, `readOnly`, or the error of the disk; nothing was changed.
    public func write(_ value: PropertyListValue?, for name: String) throws(PreferenceError) {
        _ = try resolved.core.commit(.one(name, value))
    }

    /// Stores a value under a name, or removes the name if `value` is `nil`. The task is suspended while a backend with a
    /// timeout is called, as in the `async` form of `Preference.write(_:)`.
    ///
    /// - Throws: The errors of the blocking form, and `unavailable` if the backend was not called in time or the task was
    ///   cancelled before.
    public nonisolated(nonsending) func write(
        _ value: PropertyListValue?,
        for name: String
    ) async throws(PreferenceError) {
        let core = resolved.core
        guard let call = core.beginSuspendingCall() else {
            _ = try core.commit(.one(name, value))
            return
        }
        _ = try await core.commit(.one(name, value), suspending: call)
    }

    /// Opens the store unless it is open, without blocking the thread if a backend has a timeout, as one over a network has.
    ///
    ///     try await store.load()
    ///
    /// When it returns, reads find the stored values and don't block. Call it at the start of the program for a store that
    /// waits for a network; otherwise the first read opens the store and blocks its thread until then. All layers of a layered
    /// store are opened, those with a timeout concurrently.
    ///
    /// - Throws: The first error of a layer that can't be read, after all other layers were opened. Reads give defaults for that
    ///   layer until a later call succeeds.
    public nonisolated(nonsending) func load() async throws(PreferenceError) {
        try await resolved.core.load()
    }

    /// Reads again the values that other processes may have changed, and notifies observers of the differences; opens the store
    /// unless it is open.
    ///
    ///     try await store.refresh()
    ///
    /// Only stores that aren't notified of external changes need it, such as the system's keyring. Like `load()`, it suspends
    /// while a backend with a timeout is called.
    ///
    /// - Throws: The error of the first layer that can't be read, after all other layers were read; the values read before are kept.
    public nonisolated(nonsending) func refresh() async throws(PreferenceError) {
        try await resolved.core.refresh()
    }

    /// Removes everything that this store itself holds, as one change.
    ///
    /// If the stored values can't be read, nothing is removed and the error is reported.
    public func removeAll() {
        let core = resolved.core
        // This finds declared names that have not been read yet.
        let call = core.beginCall()
        core.prepareDeclared(call)
        let list = core.preparedLayers(EmptyCollection(), call)
        guard let writable = list.writableLayer else { return }
        do throws(PreferenceError) {
            try core.checkRead(call)
            let names = core.read(EmptyCollection()) { _ in writable.source.names }.compactMap(writable.preferenceName)
            _ = try core.commit(.several(Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })), call)
        } catch {
            core.report(error)
        }
    }

    /// Waits until everything set so far survives a loss of power.
    ///
    /// Concurrent callers share one sync of the file. In a layered store only the writable layer is flushed.
    ///
    /// - Throws: `notDurable` if that fails; the values that were set can still be read.
    public nonisolated(nonsending) func flush() async throws(PreferenceError) {
        try await resolved.core.layers.writable?.flush()
    }

    /// Returns the source of a name's value, which is that of the first candidate for which `canRead` returns true.
    func source(of name: String, _ canRead: (StoredCandidate) -> Bool) -> PreferenceSource {
        let (list, candidates) = core.candidates(for: name)
        guard let candidate = candidates.first(where: canRead) else { return .default }
        if let layer = candidate.layer { return layer }
        return list.isManagedByBackend(candidate.formerName ?? name)
            ? PreferenceSource(layer: "managed", isManaged: true) : .store
    }

    /// Returns whether an administrator manages a preference, under its name or a former one.
    func isManaged(_ name: String) -> Bool {
        let names = [name] + core.formerNames(of: name)
        return core.read(names) { list in
            list.layers.contains { layer in
                layer.isManaged && (!layer.source.isOpen || names.contains { layer.value(of: $0) != nil })
            }
        } || names.contains(where: core.layers.isManagedByBackend)
    }
}

extension StoreCore {
    /// Stores the changes, or reports the error.
    ///
    /// - Parameter name: The preference that changes, which the error names; by default the only changed name.
    func commitOrReport(_ changes: ValueChanges, of name: String? = nil) {
        do throws(PreferenceError) {
            _ = try commit(changes)
        } catch {
            report((name ?? changes.onlyName).map(error.named) ?? error)
        }
    }
}

extension StoreCore {
    /// Opens all layers, those with a timeout concurrently while the task is suspended; throws the first error.
    nonisolated(nonsending) func load() async throws(PreferenceError) {
        try await forEachSource { (source, call) throws(PreferenceError) in try source.load(call) }
    }

    /// Applies the external changes of each source.
    nonisolated(nonsending) func refresh() async throws(PreferenceError) {
        try await forEachSource { (source, call) throws(PreferenceError) in try source.refresh(call) }
    }

    /// Runs `body` for each source; for those with a timeout concurrently on threads of the library.
    ///
    /// - Throws: The first error, after all calls have returned.
    private nonisolated(nonsending) func forEachSource(
        _ body: @escaping @Sendable (Source, StoreCall?) throws(PreferenceError) -> Void
    ) async throws(PreferenceError) {
        let call = beginCall()
        let sources = attachedLayers.layers.map(\.source)
        var failure: PreferenceError?
        for source in sources where source.timeout == nil {
            do throws(PreferenceError) { try body(source, call) } catch { failure = failure ?? error }
        }
        if let call {
            let failures = await withTaskGroup(of: PreferenceError?.self) { group in
                for source in sources where source.timeout != nil {
                    group.addTask { [self] in
                        do throws(PreferenceError) {
                            try await perform(call, at: source) { (call) throws(PreferenceError) in
                                try body(source, call)
                            }
                            return nil
                        } catch {
                            source.openOnLibraryThread(because: error)  // unless that was tried
                            source.noteOpenAttempt()
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            failure = failure ?? failures.compactMap { $0 }.first
        }
        if let failure { throw failure }
    }
}

extension Source {
    /// Reads the stored values, and those of the declared names if the backend is queried by name.
    fileprivate func load(_ call: StoreCall?) throws(PreferenceError) {
        defer { noteOpenAttempt() }
        try open(call)
        prepareDeclared(call)
    }
}
