extension PreferenceStore {
    /// The stored value of a name, or `nil` if the name has no value; setting `nil` removes the name.
    ///
    ///     store["theme"] = "dark"
    ///     store["volume"] = nil
    ///
    /// In a layered store, the value is that of the first layer with the name. A read isn't tracked by Observation. A value that
    /// was set survives the death of the process. If a write fails, the error is reported to the issue handler; `write(_:for:)`
    /// throws it. If the store can't be opened, the value is shown and reported, and stored once the store can be opened.
    public subscript(name: String) -> PropertyListValue? {
        get { resolved.core.read(CollectionOfOne(name)) { $0.value(of: name) } }
        set { resolved.core.commitOrReport(.one(name, newValue)) }
    }

    /// The name under which a store keeps the version of its data.
    static let versionName = "preferences.version"
    /// The name under which a store records the user defaults domains that were imported.
    package static let importedName = "preferences.imported"
    /// The name under which a suite that many machines share keeps the schema for its values, as text; see `PreferenceSchema`.
    public static let schemaName = "preferences.schema"
    /// The names under which a store records what has been done with its data, or must be done.
    package static let recordNames: Set = [versionName, importedName, schemaName]

    /// Returns the value that the writable layer has under a name.
    package func ownValue(of name: String) -> PropertyListValue? { resolved.core.ownValue(of: name) }

    /// The names that have a value, sorted.
    public var names: [String] {
        contents.keys.sortedByBytes
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

    /// Removes everything that this store itself holds, as one change, except the records of migrations and imports,
    /// `preferences.version` and `preferences.imported`, as these would otherwise run again over new data, and the schema of a suite on
    /// etcd, `preferences.schema`.
    ///
    /// If the stored values can't be read, nothing is removed and the error is reported. Over `userDefaults(_:)`, also a stored value
    /// is removed that equals the registered one.
    public func removeAll() {
        let core = resolved.core
        // This finds declared names that have not been read yet.
        let call = core.beginCall()
        core.prepareDeclared(call)
        let list = core.preparedLayers(EmptyCollection(), call)
        guard list.writableLayer != nil else { return }
        do throws(PreferenceError) {
            try core.checkRead(call)
            let names = core.newest.ownNames.filter { !PreferenceStore.recordNames.contains($0) }
            _ = try core.commit(.several(Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })), call)
        } catch {
            core.report(error)
        }
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
    /// The names in the writable layer, including those whose values are locked.
    fileprivate var ownNames: Set<String> {
        read(EmptyCollection()) { list in
            guard let layer = list.writableLayer else { return [] }
            let names = layer.source.names + (layer.source.locking?.lockedNames ?? [])
            return Set(names.compactMap(layer.preferenceName)).union(list.uncertainNames)
        }
    }

    /// Stores the changes, or keeps them if the store can't be opened, or reports the error.
    ///
    /// - Parameter name: The preference that changes, which the error names; by default the only changed name.
    func commitOrReport(_ changes: ValueChanges, of name: String? = nil) {
        do throws(PreferenceError) {
            do throws(PreferenceError) { _ = try commit(changes) } catch {
                guard error.isOfOpening else { throw error }
                if try !keep(changes, of: name, because: error) { _ = try commit(changes) }
            }
        } catch {
            report((name ?? changes.onlyName).map(error.named) ?? error)
        }
    }
}

extension LayerList {
    /// The names for which a value of a weaker layer is shown that may also be the writable layer's: a backend over a framework might
    /// not tell these apart. It ignores the removal of a value that isn't there.
    fileprivate var uncertainNames: Set<String> {
        guard let writableIndex, layers[writableIndex].source.reentrant != nil else { return [] }
        let managed = layers.prefix { $0.isManaged }
        let below = layers.dropFirst(writableIndex + 1).prefix { $0.source.reentrant != nil }
        let names = below.flatMap { layer in layer.source.names.compactMap(layer.preferenceName) }
        // Their removal would be refused, and that of the others with it.
        return Set(names.filter { name in !managed.contains { $0.value(of: name) != nil } })
    }
}
