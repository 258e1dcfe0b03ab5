internal import DurableFile

extension PreferenceStore {
    /// What is stored under a name; nil where nothing is.
    ///
    /// For a layered store what the first layer that has the name holds. Not tracked by Observation.
    public subscript(name: String) -> PropertyListValue? {
        let store = resolved
        store.load(CollectionOfOne(name))
        return store.state.withLock { $0.contents.value(of: name) }
    }

    /// All names that have a value, sorted.
    public var names: [String] {
        contents.keys.sorted()
    }

    /// Everything stored, by name.
    public var contents: [String: PropertyListValue] {
        resolved.snapshot.merged
    }

    /// Stores a value under a name, or removes the name where `value` is nil.
    ///
    /// When it returns, the value survives the death of the process. What goes wrong is reported to the issue handler;
    /// to have it thrown, use `transaction`.
    public func set(_ value: PropertyListValue?, for name: String) {
        write([name: value])
    }

    /// Removes what is stored under a name; does nothing where nothing is.
    public func remove(_ name: String) {
        write([name: nil])
    }

    /// Removes everything that this store itself holds, as one change.
    public func removeAll() {
        let store = resolved
        // Declared names that nobody has read are found by this.
        _ = store.snapshot
        let own = store.source.writable(of: store)
        own.write(own.snapshot.merged.mapValues { _ in nil })
    }

    /// Returns when everything set so far survives a loss of power.
    ///
    /// Waits for one synchronisation of the file, which many callers share. Throws `notDurable` where that fails: what
    /// was set stays readable then.
    public nonisolated(nonsending) func flush() async throws(PreferencesError) {
        try await resolved.source.flush()
    }

    /// What the store itself holds under a name: for a layered store what its writable layer does.
    func ownValue(of name: String) -> PropertyListValue? {
        source.writable(of: self).snapshot(with: name).merged[name]
    }

    /// Where a name's value comes from; `canRead` says whether a candidate answers.
    func source(of name: String, _ canRead: (StoredCandidate) -> Bool) -> PreferenceSource {
        guard let candidate = snapshot(with: name).candidates(for: name).first(where: canRead) else { return .default }
        if let layer = candidate.layer { return .layer(layer) }
        return !(source is LayeredSource) && source.isManaged(name) ? .managed : .store
    }

    func isManaged(_ name: String) -> Bool {
        load(CollectionOfOne(name))
        return source.isManaged(name)
    }

    private func write(_ changes: [String: PropertyListValue?]) {
        let store = resolved
        do throws(PreferencesError) {
            _ = try store.commit(changes)
        } catch {
            store.report(changes.count == 1 ? changes.keys.first.map(error.named) ?? error : error)
        }
    }
}
