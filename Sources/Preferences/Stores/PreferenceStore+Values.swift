extension PreferenceStore {
    /// The value that is stored under a name; `nil` if none is, and setting `nil` removes.
    ///
    /// In a layered store, that of the first layer that has the name. A read isn't tracked by Observation. An error of a
    /// set is reported to the issue handler; `write(_:for:)` throws it.
    public subscript(name: String) -> PropertyListValue? {
        get { resolved.core.read(CollectionOfOne(name)) { $0.value(of: name) } }
        set { set(newValue, for: name) }
    }

    /// The value that the layer which takes the writes has under a name.
    package func ownValue(of name: String) -> PropertyListValue? { resolved.core.ownValue(of: name) }

    /// All names that have a value, sorted.
    public var names: [String] {
        contents.keys.sorted()
    }

    /// Everything stored, by name.
    public var contents: [String: PropertyListValue] {
        resolved.core.contents
    }

    /// Stores a value under a name, or removes the name if `value` is `nil`.
    ///
    /// When it returns, the value survives the death of the process.
    ///
    /// - Throws: Why nothing was changed: `managed`, `readOnly`, or the error of the disk.
    public func write(_ value: PropertyListValue?, for name: String) throws(PreferencesError) {
        _ = try resolved.core.commit(.one(name, value))
    }

    /// Stores a value under a name, or removes the name if `value` is `nil`; the task is suspended while a backend with a timeout is
    /// called, as by `Preference.write(_:)` in its `async` form.
    ///
    /// - Throws: As the blocking form; `unavailable` if the backend was not called in time or the task was cancelled before.
    public nonisolated(nonsending) func write(
        _ value: PropertyListValue?,
        for name: String
    ) async throws(PreferencesError) {
        let core = resolved.core
        guard let call = core.beginSuspendingCall() else {
            _ = try core.commit(.one(name, value))
            return
        }
        _ = try await core.commit(.one(name, value), suspending: call)
    }

    /// Opens the store unless that is done, without blocking the thread where a backend has a timeout, as one of a network.
    ///
    ///     try await store.load()
    ///
    /// When it returns, reads find what is stored and don't block. For a store that waits for a network, call it at the start of
    /// the program: the first read opens the store otherwise, and blocks its thread until then. All layers of a layered store are
    /// opened; those with a timeout at the same time.
    ///
    /// - Throws: What keeps a layer from being read, after the others were opened. Reads give defaults for it then; call again to
    ///   try again.
    public nonisolated(nonsending) func load() async throws(PreferencesError) {
        try await resolved.core.load()
    }

    /// Reads again what another process may have changed, and notifies observers of what differs; opens the store unless that is
    /// done.
    ///
    ///     try await store.refresh()
    ///
    /// Only a store that isn't notified of external changes needs it, as the system's keyring. Suspends, as `load()` does, while a
    /// backend with a timeout is called.
    ///
    /// - Throws: The error of the first layer that can't be read, after the others were; values stay as they were read before.
    public nonisolated(nonsending) func refresh() async throws(PreferencesError) {
        try await resolved.core.refresh()
    }

    /// Stores a value under a name, or removes the name if `value` is `nil`, as the subscript does.
    ///
    /// When it returns, the value survives the death of the process. An error is reported to the issue handler;
    /// `write(_:for:)` throws it.
    public func set(_ value: PropertyListValue?, for name: String) {
        resolved.core.commitOrReport(.one(name, value))
    }

    /// Removes what is stored under a name; does nothing where nothing is.
    public func remove(_ name: String) {
        resolved.core.commitOrReport(.one(name, nil))
    }

    /// Removes everything that this store itself holds, as one change.
    ///
    /// Nothing is removed, and that is reported, while what is stored can't be read.
    public func removeAll() {
        let core = resolved.core
        // Declared names that nobody has read are found by this.
        let call = core.beginCall()
        core.prepareDeclared(call)
        let list = core.preparedLayers(EmptyCollection(), call)
        guard let writable = list.writableLayer else { return }
        do throws(PreferencesError) {
            try core.checkRead(call)
            let names = core.read(EmptyCollection()) { _ in writable.source.names }.compactMap(writable.preferenceName)
            _ = try core.commit(.several(Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })), call)
        } catch {
            core.report(error)
        }
    }

    /// Returns when everything set so far survives a loss of power.
    ///
    /// Waits for one synchronisation of the file, which many callers share; of a layered store's files only the one that
    /// takes the writes. Throws `notDurable` where that fails: what was set stays readable then.
    public nonisolated(nonsending) func flush() async throws(PreferencesError) {
        try await resolved.core.layers.writable?.flush()
    }

    /// Where a name's value comes from; `canRead` says whether a candidate answers.
    func source(of name: String, _ canRead: (StoredCandidate) -> Bool) -> PreferenceSource {
        let (list, candidates) = core.read(CollectionOfOne(name)) { ($0, $0.candidates(for: name)) }
        guard let candidate = candidates.first(where: canRead) else { return .default }
        if let layer = candidate.layer { return .layer(layer) }
        return list.isManagedByBackend(name) ? .managed : .store
    }

    func isManaged(_ name: String) -> Bool {
        core.read(CollectionOfOne(name)) { list in
            list.layers.contains { $0.isManaged && (!$0.source.isOpen || $0.value(of: name) != nil) }
        } || core.layers.isManagedByBackend(name)
    }

}

extension StoreCore {
    /// Stores the changes, or reports why that is impossible.
    func commitOrReport(_ changes: ValueChanges) {
        do throws(PreferencesError) {
            _ = try commit(changes)
        } catch {
            report(changes.onlyName.map(error.named) ?? error)
        }
    }
}

/// The place that a preference's value comes from.
public enum PreferenceSource: Sendable, Hashable, CustomStringConvertible {
    /// Nothing readable is stored: the declared default.
    case `default`
    /// The store itself.
    case store
    /// Another layer of a layered store, by its name.
    case layer(String)

    /// The layer that an administrator writes and the user can't override.
    public static let managed = PreferenceSource.layer("managed")

    /// Whether the value comes from the layer of that name; `Preference.isManaged` also knows managed layers of other names.
    public var isManaged: Bool { self == .managed }

    /// The name of the layer, `store` or `default`.
    public var description: String {
        switch self {
        case .default: "default"
        case .store: "store"
        case .layer(let name): name
        }
    }
}

extension StoreCore {
    /// Opens all layers, those with a timeout at the same time while the task is suspended; throws why one can't be read.
    nonisolated(nonsending) func load() async throws(PreferencesError) {
        try await forEachSource { (source, call) throws(PreferencesError) in try source.load(call) }
    }

    /// Applies the external changes of each source.
    nonisolated(nonsending) func refresh() async throws(PreferencesError) {
        try await forEachSource { (source, call) throws(PreferencesError) in try source.refresh(call) }
    }

    /// Runs `body`, which opens a source, for each; for those with a timeout at the same time on threads of the library.
    ///
    /// - Throws: The first error, after all have ended.
    private nonisolated(nonsending) func forEachSource(
        _ body: @escaping @Sendable (Source, StoreCall?) throws(PreferencesError) -> Void
    ) async throws(PreferencesError) {
        let call = beginCall()
        let sources = attachedLayers.layers.map(\.source)
        var failure: PreferencesError?
        for source in sources where source.timeout == nil {
            do throws(PreferencesError) { try body(source, call) } catch { failure = failure ?? error }
        }
        if let call {
            let failures = await withTaskGroup(of: PreferencesError?.self) { group in
                for source in sources where source.timeout != nil {
                    group.addTask { [self] in
                        do throws(PreferencesError) {
                            try await perform(call, at: source) { (call) throws(PreferencesError) in
                                try body(source, call)
                            }
                            return nil
                        } catch {
                            source.openElsewhere(because: error)  // if it has not been tried
                            source.settle()
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
    /// Reads what is stored, and what was declared where the backend is asked for names.
    fileprivate func load(_ call: StoreCall?) throws(PreferencesError) {
        defer { settle() }
        try open(call)
        prepareDeclared(call)
    }
}
