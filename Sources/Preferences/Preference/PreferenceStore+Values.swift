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
        get {
            let core = resolved.core
            core.prepare(.name(name))
            return core.publishing.withLock { core.candidates(name).first?.value }
        }
        set {
            let core = resolved.core
            let error = name.isEmpty ? Self.emptyName : core.set([StoredChange(name, newValue)])
            if let error { return core.report(error.named(name)) }
            if newValue != nil { core.reportHidden(name) }
        }
    }

    static var emptyName: PreferenceError {
        PreferenceError(.invalidName, "a preference needs a name that is not empty")
    }

    /// The name under which a store keeps the version of its data.
    static let versionName = "preferences.version"
    /// The name under which a store records the user defaults domains that were imported.
    package static let importedName = "preferences.imported"
    /// The name under which a suite that many machines share keeps the schema for its values, as text; see `PreferenceSchema`.
    public static let schemaName = "preferences.schema"
    /// The names under which a store records what has been done with its data, or must be done.
    package static let recordNames: Set = [versionName, importedName, schemaName]

    /// The names that have a value, sorted.
    public var names: [String] {
        contents.keys.sortedByBytes
    }

    /// All stored values by name.
    public var contents: [String: PropertyListValue] {
        let core = resolved.core
        core.prepare(.all)
        return core.contents()
    }

    /// Stores a value under a name, or removes the name if `value` is `nil`.
    ///
    /// When it returns, the value survives the death of the process.
    ///
    /// - Throws: `managed`, `readOnly`, or the error of the disk; nothing was changed.
    public func write(_ value: PropertyListValue?, for name: String) throws(PreferenceError) {
        if name.isEmpty { throw Self.emptyName }
        let core = resolved.core
        do { try core.write([StoredChange(name, value)]) } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
        if value != nil { core.reportHidden(name) }
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
        if name.isEmpty { throw Self.emptyName }
        let core = resolved.core
        do { try await core.write([StoredChange(name, value)]) } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
        if value != nil { core.reportHidden(name) }
    }

    /// Removes everything that this store itself holds, as one change, except the records of migrations and imports,
    /// `preferences.version` and `preferences.imported`, as these would otherwise run again over new data, and the schema of a suite on
    /// etcd, `preferences.schema`.
    ///
    /// If the stored values can't be read, nothing is removed and the error is reported. Over `userDefaults(_:)`, also a stored value
    /// is removed that equals the registered one.
    public func removeAll() {
        let core = resolved.core
        guard let layer = core.writable else { return }
        var timeout = core.deadline
        let deadline = timeout.start()
        core.prepare(until: deadline)
        if let error = layer.source.openingError { return core.report(error) }
        do {
            try core.change(until: deadline) { _ in
                layer.source.noteRead(nil)
                let all = layer.source.publishing.withLock {
                    var keys = Array(layer.source.unshown.keys)
                    // A keyed place may hide a value below an equal one of another place.
                    layer.source.table.forEach { if $0.value != nil || $0.isKnown { keys.append($0.name) } }
                    return keys
                }
                let names = (all + core.locked.keys).compactMap(layer.name)
                    .filter { !PreferenceStore.recordNames.contains($0) }
                return names.map { StoredChange($0, nil) }
            }
        } catch { core.report(PreferenceError(.unavailable, from: error)) }
    }
}
