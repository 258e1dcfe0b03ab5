extension Preference {
    /// Moves the stored value of another preference to this one, once.
    ///
    /// Does nothing if the source has no stored value, so it is safe to call at every launch. The value is stored here first and
    /// only then removed from the source: in one transaction if both belong to one store, else after this store is
    /// flushed, so that neither a crash nor a loss of power loses it. A value that is already set here is kept; the source
    /// is then kept, too, unless both values are equal.
    ///
    /// Errors (an unreadable source, a value that breaks the rule, a full disk) are reported to this store's issue
    /// handler, and both values are kept.
    public func migrate(from source: Preference<Value>) {
        migrate(from: source) { $0 }
    }

    /// Moves the value that this store holds under a former name to this preference, once; it must have this preference's type and
    /// satisfy its rule; see `migrate(from:)`.
    ///
    ///     preferences.$nickname.migrate(from: "userName")
    ///
    /// Of several names, the first that is set is moved. The other values are kept unless they equal it: if this preference is
    /// reset later, the next call moves the next one. Moving to a member of a composite value isn't possible and is reported as
    /// `misuse`.
    public func migrate(from name: String, _ others: String...) {
        guard declaration.member == nil else {
            return inUse.store.report(
                PreferenceError(
                    .misuse,
                    name: self.name,
                    "a former name can't be moved to a member of a value; nothing was changed. Migrate the whole value"
                )
            )
        }
        for name in [name] + others {
            noteMigration(from: name, in: store)
            migrate(
                from: Preference(
                    PreferenceDeclaration(
                        name: name,
                        in: declaration.store,
                        coding: declaration.coding,
                        options: declaration.options?.underAnotherName,
                        default: declaration.makeDefault
                    )
                )
            )
        }
    }

    /// Moves the stored value of another preference to this one, once, mapped by `transform`; see `migrate(from:)`.
    ///
    /// If `transform` throws, the error is reported and both values are kept.
    public func migrate<Old>(from source: Preference<Old>, _ transform: (Old) throws -> Value) {
        noteMigration(from: source.name, in: source.store)
        let target = inUse
        let source = source.inUse
        // If one of them is a secret, the errors of the other one and of the closure must not show the value either.
        let isSecret = source.isSecret || target.isSecret
        var mappingError: (any Error)?
        do {
            try source.move(to: target) { old in
                do { return try transform(old) } catch {
                    mappingError = error
                    throw error
                }
            }
        } catch {
            var failure = mappingError == nil || !isSecret ? error as? PreferenceError : nil
            if isSecret, let code = failure?.code, [.unreadable, .invalid, .unencodable].contains(code) {
                failure = PreferenceError(
                    code,
                    name: source.name,
                    "the value was not moved to \"\(target.name)\", and nothing was changed: \(String.redacted) can't be read or "
                        + "stored as declared"
                )
            }
            target.store.report(
                failure
                    ?? PreferenceError(
                        .unencodable,
                        name: source.name,
                        "the value was not moved to \"\(target.name)\", and nothing was changed: its mapping failed",
                        cause: isSecret ? nil : error
                    )
            )
        }
    }

    /// Records that this preference is migrated from one with a former name of it, so that the name still counts as a former one.
    private func noteMigration(from source: String, in sourceStore: PreferenceStore) {
        let core = store.core
        for former in declaration.options?.formerNames ?? [] {
            let isSame =
                store === sourceStore ? former == source : inUse.stores(former, as: source, of: sourceStore.resolved)
            if isSame { core.noteMigration(from: former, of: name) }
        }
    }

    /// Returns whether this store stores a name where another store stores another name.
    private func stores(_ name: String, as other: String, of otherStore: PreferenceStore) -> Bool {
        guard let layer = store.core.layers.writableLayer, let otherLayer = otherStore.core.layers.writableLayer else {
            return false
        }
        return layer.source === otherLayer.source && layer.spelled(name) == otherLayer.spelled(other)
    }

    private func move<New>(to target: Preference<New>, _ transform: (Value) throws -> New) throws {
        guard declaration.member == nil else {
            throw PreferenceError(
                .misuse,
                name: name,
                "a member of a value can't be moved away; nothing was changed. Migrate the whole value with a mapping"
            )
        }
        let call = StoreCall()
        try store.core.checkRead(call)
        guard let (storedName, old) = store.core.ownValue(ofPreference: name) else { return }
        let isInPlace = store === target.store && name == target.name
        // In place, a value that the new declaration can read was migrated before.
        if isInPlace, target.isForm(old) { return }
        guard let new = try migrated(old, to: target, isInPlace: isInPlace, transform) else { return }
        // The value may be left under older names, too, which would be read once this one is gone.
        let sourceNames = store.core.changes(of: name, to: nil).dictionary.keys
        let strongerNames = ([name] + store.core.formerNames(of: name)).prefix { $0 != storedName }
        // Removes only the value that was moved: one that was set in the meantime stays for the next launch.
        func remove(in transaction: inout PreferenceTransaction) -> Bool {
            guard transaction.ownValue(of: storedName) == old else { return false }
            for name in strongerNames where transaction.ownValue(of: name) != nil { return false }
            for name in sourceNames { transaction[name] = nil }
            return true
        }
        let isInSameStore = store === target.store
        let changes = target.store.core.changes(of: target.name, to: new).dictionary
        let targetNames = changes.keys.filter { !(isInSameStore && sourceNames.contains($0)) }
        if isInSameStore {
            try store.core.transact(in: call) { transaction in
                for name in targetNames where !isInPlace {
                    let stored = transaction.ownValue(of: name)
                    guard stored == nil || stored == new else { return }
                }
                guard remove(in: &transaction) else { return }
                for (name, value) in changes { transaction[name] = value }
            }
        } else {
            try target.store.core.transact(in: call) { transaction in
                for name in targetNames where transaction.ownValue(of: name) != nil { return }
                for (name, value) in changes { transaction[name] = value }
            }
            guard target.store.core.ownValue(of: target.name) == new else { return }
            try target.store.core.layers.writable?.flush(call)
            try store.core.transact(in: call) { transaction in _ = remove(in: &transaction) }
        }
    }

    /// Returns what the target stores for a value of this preference; nil if it stores nothing.
    ///
    /// Members of the value that this preference doesn't know are kept, as in a set.
    private func migrated<New>(
        _ old: PropertyListValue,
        to target: Preference<New>,
        isInPlace: Bool,
        _ transform: (Value) throws -> New
    ) throws -> PropertyListValue?? {
        if old.isUnset { return nil }
        // In place, the new declaration's value lacks members of this one, which must not be read from its default.
        if isInPlace, !isForm(old), target.declaration.canRead(StoredCandidate(value: old)) { return nil }
        var parts: [EvolvingProblem] = []
        // Checks the rules, too.
        guard let value = try declaration.decode(old, &parts) else { return nil }
        guard target.declaration.member == nil else {
            return try target.declaration.encode(transform(value), over: try target.store.core.base(for: target.name))
        }
        guard let new = try target.declaration.encode(try transform(value)) else { return .some(nil) }
        let (_, reader) = try declaration.decodedWithReader(old, fillsOnly: false)
        guard target.declaration.dependsOnStored(new), let base = try declaration.encodeUnchecked(value) else {
            return new
        }
        return target.declaration.merged(new, base, into: old, reader)
    }

    /// Returns whether a stored value is one of this version, with all members that its type needs.
    private func isForm(_ stored: PropertyListValue) -> Bool {
        guard declaration.member == nil else { return declaration.canRead(StoredCandidate(value: stored)) }
        do { return try declaration.coding.decode(stored) != nil } catch { return false }
    }
}
