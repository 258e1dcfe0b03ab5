extension PreferenceStore {
    /// What is stored under a name; nil where nothing is.
    ///
    /// For a layered store what the first layer that has the name holds. Not tracked by Observation.
    public subscript(name: String) -> PropertyListValue? {
        resolved.core.read(CollectionOfOne(name)) { $0.value(of: name) }
    }

    /// All names that have a value, sorted.
    public var names: [String] {
        contents.keys.sorted()
    }

    /// Everything stored, by name.
    public var contents: [String: PropertyListValue] {
        resolved.core.contents
    }

    /// Stores a value under a name, or removes the name where `value` is nil.
    ///
    /// When it returns, the value survives the death of the process. What goes wrong is reported to the issue handler;
    /// to have it thrown, use `transaction`.
    public func set(_ value: PropertyListValue?, for name: String) {
        write(.one(name, value))
    }

    /// Removes what is stored under a name; does nothing where nothing is.
    public func remove(_ name: String) {
        write(.one(name, nil))
    }

    /// Removes everything that this store itself holds, as one change.
    ///
    /// Nothing is removed, and that is reported, while what is stored can't be read.
    public func removeAll() {
        let core = resolved.core
        // Declared names that nobody has read are found by this.
        core.prepareDeclared()
        let list = core.preparedLayers()
        guard let writable = list.writable else { return }
        do throws(PreferencesError) {
            try core.checkRead()
            let names = core.read(EmptyCollection()) { _ in writable.contents.keys }
            _ = try core.commit(.several(Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })))
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
        return list.writable?.isManaged(name) ?? false ? .managed : .store
    }

    func isManaged(_ name: String) -> Bool {
        core.read(CollectionOfOne(name)) { list in
            list.layers.contains { $0.isManaged && (!$0.source.isOpen || $0.value(of: name) != nil) }
        } || core.layers.writable?.isManaged(name) ?? false
    }

    private func write(_ changes: ValueChanges) {
        let core = resolved.core
        do throws(PreferencesError) {
            _ = try core.commit(changes)
        } catch {
            core.report(changes.onlyName.map(error.named) ?? error)
        }
    }
}

/// Which place a preference's value comes from.
public enum PreferenceSource: Sendable, Hashable {
    /// Nothing readable is stored: the declared default.
    case `default`
    /// The store itself.
    case store
    /// Another layer of a layered store, by its name.
    case layer(String)

    /// The layer that an administrator writes and the user can't override.
    public static let managed = PreferenceSource.layer("managed")

    /// Whether an administrator imposes the value, so that a control for it should be disabled.
    public var isManaged: Bool { self == .managed }
}
