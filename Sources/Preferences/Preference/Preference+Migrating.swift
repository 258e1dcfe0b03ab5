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
            return store.resolved.report(
                PreferenceError(
                    .misuse,
                    name: self.name,
                    "a former name can't be moved to a member of a value; nothing was changed. Migrate the whole value"
                )
            )
        }
        for name in [name] + others {
            // Before the name is declared, so that it isn't taken from this preference.
            inUse.noteMigration(from: name, in: store.resolved)
            noteMigration(from: name, in: store)
            migrate(
                from: Preference(
                    PreferenceDeclaration(
                        name: name,
                        in: store,
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
        target.noteMigration(from: source.name, in: source.store)
        do {
            try source.move(to: target) { old in
                do { return try transform(old) } catch { throw MappingError(cause: error) }
            }
        } catch {
            // If one of them is a secret, the errors of the other one and of the closure must not show the value either.
            let issue =
                source.isSecret || target.isSecret ? source.redacted(error, target) : source.issue(error, target)
            target.store.report(issue)
        }
    }

    private func issue(_ error: any Error, _ target: Preference<some Sendable>) -> PreferenceError {
        let error = (error as? MappingError)?.cause ?? error
        return error as? PreferenceError ?? unmoved(to: target, ": its mapping failed", error)
    }

    private func redacted(_ error: any Error, _ target: Preference<some Sendable>) -> PreferenceError {
        guard let error = error as? PreferenceError else { return unmoved(to: target, ": its mapping failed") }
        guard [.unreadable, .invalid, .unencodable].contains(error.code) else { return error }
        return unmoved(to: target, ": \(String.redacted) can't be read or stored as declared", code: error.code)
    }

    private func unmoved(
        to target: Preference<some Sendable>,
        _ reason: String,
        _ cause: (any Error)? = nil,
        code: PreferenceError.Code = .unencodable
    ) -> PreferenceError {
        let message = "the value was not moved to \"\(target.name)\", and nothing was changed"
        return PreferenceError(code, name: name, message + reason, cause: cause)
    }

    /// Records that this preference is migrated from one whose name is a former name of it, so that it still counts as a former one.
    private func noteMigration(from name: String, in other: PreferenceStore) {
        let formerNames = declaration.options?.formerNames ?? []
        guard let layer = store.core.writable, let otherLayer = other.core.writable,
            layer.source === otherLayer.source
        else { return }
        for former in formerNames where layer.key(former) == otherLayer.key(name) {
            store.core.noteMigration(from: former, of: declaration.node, formerNames)
        }
    }

    private func move<New>(to target: Preference<New>, _ transform: (Value) throws -> New) throws {
        guard declaration.member == nil else {
            throw PreferenceError(
                .misuse,
                name: name,
                "a member of a value can't be moved away; nothing was changed. Migrate the whole value with a mapping"
            )
        }
        let (core, node) = (store.core, declaration.node)
        var deadline = core.deadline
        try core.target?.open(until: deadline.start())
        guard let old = declaration.own().first(where: declaration.isOwn) else { return }
        guard let new = try migrated(old, to: target, transform) else { return }
        let removals = core.changes(of: node, to: nil)
        let changes = target.store.core.changes(of: target.declaration.node, to: new)
        if store === target.store {
            let sourceNames = Set(removals.map(\.name))
            try core.transact(until: deadline) { transaction in
                // One that was set in the meantime stays for the next launch.
                guard transaction.own(node).first == old else { return }
                for name in changes.map(\.name) where !sourceNames.contains(name) {
                    if let stored = transaction.ownValue(of: name), stored != new { return }
                }
                transaction.apply(removals + changes)
            }
        } else {
            try target.store.core.transact { transaction in
                for name in changes.map(\.name) where transaction.ownValue(of: name) != nil { return }
                transaction.apply(changes)
            }
            guard target.declaration.own().first(where: target.declaration.isOwn)?.value == new else { return }
            try target.store.flush()
            try core.transact(until: deadline) { if $0.own(node).first == old { $0.apply(removals) } }
        }
    }

    /// Returns what the target stores for a value of this preference; nil if it stores nothing.
    ///
    /// Members of the value that this preference doesn't know are kept, as in a set.
    private func migrated<New>(
        _ old: Candidate,
        to target: Preference<New>,
        _ transform: (Value) throws -> New
    ) throws -> PropertyListValue?? {
        if old.value.isUnset { return nil }
        // In place, a value that the new declaration can read was migrated before. The new declaration's value lacks members of this one,
        // which must not be read from its default.
        if declaration.node === target.declaration.node {
            if target.isForm(old) || !isForm(old) && target.declaration.canRead(old) { return nil }
        }
        var parts: [EvolvingProblem] = []
        // Checks the rules, too.
        guard let value = try declaration.decode(old.value, &parts) else { return nil }
        guard target.declaration.member == nil else {
            return try target.declaration.encode(transform(value), over: target.declaration.own())
        }
        guard let new = try target.declaration.encode(try transform(value)) else { return .some(nil) }
        guard target.declaration.dependsOnStored(new), let base = try declaration.encodeUnchecked(value) else {
            return new
        }
        let (_, reader) = try declaration.decodedWithReader(old.value, fillsOnly: false)
        return target.declaration.merged(new, base, into: old.value, reader)
    }

    /// Returns whether a stored value is one of this version, with all members that its type needs.
    private func isForm(_ stored: Candidate) -> Bool {
        guard declaration.member == nil else { return declaration.canRead(stored) }
        do { return try declaration.coding.decode(stored.value) != nil } catch { return false }
    }
}

/// The error of a closure that maps the old value.
private struct MappingError: Error { let cause: any Error }
