internal import DurableFile
internal import Synchronization

extension StoreCore {
    /// Returns the cell of a declaration, with the caller counted as a user, and the node of its name.
    // Not generic: as a generic result, the tuple's type would be looked up at each call.
    func declare(
        _ name: String,
        _ key: SlotKey,
        create: () -> PreferenceCell
    ) -> (PreferenceCell, PreferenceNode) {
        let (cell, node, removed, mustCheck) = state.withLock { state in
            let (node, removed, mustCheck) = state.declare(name)
            return (node.cell(for: key, create: create), node, removed, mustCheck)
        }
        if !removed.isEmpty { notifyReaders(of: removed) }
        if mustCheck { checkFormerNamesAtNextUse() }
        return (cell, node)
    }
}

extension StoreCore {
    /// Notifies the readers of names that were forgotten, which read them again if they are in use.
    @inline(never)
    private func notifyReaders(of nodes: [PreferenceNode]) {
        var notifications = DeferredNotifications()
        state.withLock { _ in for node in nodes { notifications.addSignal(of: node) } }
        // Not on this thread, which may be reading.
        notifications.sendOnLibraryThread()
    }
}

// MARK: Secrets

// A name is secret in a store if it was declared so there or in another store over the same source, or if all values of the
// store are secret. Only code that describes a value or creates an error checks that, never a read or a set.

extension StoreCore {
    /// Returns whether the value of a name is a secret; call without a lock.
    func isSecret(_ name: String) -> Bool {
        if isSecret || state.withLock({ $0.isSecret(name) }) { return true }
        if let original, original.state.withLock({ $0.isSecret(name) }) { return true }
        if secrecy == .layers, isInSecretLayer(name) { return true }
        return madeLayers?.layers.contains { layer in
            guard layer.source.hasSecrets.load(ordering: .acquiring) else { return false }
            let spelled = layer.spelled(name)
            return layer.source.cores.contains { $0.declaresSecret(spelled, in: layer.source) }
        } ?? false
    }

    /// Creates the layers, as the values of a secret layer are known before any of them is read.
    private func isInSecretLayer(_ name: String) -> Bool {
        let names = [name] + formerNames(of: name)
        return layers.layers.contains { layer in layer.isSecret && names.contains { layer.value(of: $0) != nil } }
    }

    /// Returns the names whose values are secrets; call without a lock.
    package func secretNames(among names: some Sequence<String>) -> Set<String> {
        Set(names.filter(isSecret))
    }

    /// Returns whether a preference stored under the given name of the source was declared secret; call without a lock.
    func declaresSecret(_ spelled: String, in source: Source) -> Bool {
        let names = state.withLock { $0.secretNames }
        guard !names.isEmpty, let list = madeLayers else { return false }
        return list.layers.contains { layer in
            layer.source === source && names.contains { layer.spelled($0) == spelled }
        }
    }

    /// Records that a name was declared secret; creates no layers, because a declaration reads nothing.
    @inline(never)
    package func noteSecret(_ name: String) {
        guard state.withLock({ $0.noteSecrets([name]) }) else { return }
        for core in replacements { core.noteSecret(name) }
        target?.core.noteSecret(name)
        guard let list = madeLayers else { return }
        for layer in list.layers { layer.source.hasSecrets.store(true, ordering: .releasing) }
        // The next use that isn't served from the cache attaches the store again, and so checks where the secret is stored. Not
        // here: a declaration is often the initial value of a global, which the issue handler may use.
        list.isAttached.store(false, ordering: .releasing)
    }

    /// Reports a mistake in a declaration, once, when the store is used next; creates no layers, because a declaration reads nothing.
    @inline(never)
    func noteMisuse(_ error: PreferenceError) {
        guard state.withLock({ $0.noteMisuse(error) }) else { return }
        madeLayers?.isAttached.store(false, ordering: .releasing)
    }

    /// Checks the declarations since the last check, and lets later uses of the store skip that; call without a lock.
    ///
    /// Reports mistakes, and each name that was declared secret and is stored as plain text, once; below a layer of secrets when the
    /// values are known.
    func checkDeclarations(in list: LayerList) {
        checkFormerNames(in: list)
        let (names, misuses) = state.withLock { state in
            // Under the lock, so that a declaration since the check is checked by the next use.
            list.isAttached.store(!state.hasUncheckedFormerNames, ordering: .releasing)
            return (state.drainUncheckedSecrets(), state.drainMisuses())
        }
        for misuse in misuses { reportOnce(misuse) }
        if names.isEmpty { return }
        for layer in list.layers { layer.source.hasSecrets.store(true, ordering: .releasing) }
        checkPlainText(of: names, in: list)
    }

    /// Records that the values of all layers are known, so that a read prepares none, and checks the secrets that have waited for that.
    func notePrepared(_ list: LayerList) {
        list.isPrepared.store(true, ordering: .releasing)
        if list.isWritableBelowSecrets { checkDeclarations(in: list) }
    }

    /// Reports each of the secrets that is stored as plain text, or will be if it is set.
    private func checkPlainText(of names: Set<String>, in list: LayerList) {
        guard let writable = list.writableLayer, let place = writable.source.backend?.plainTextPlace else { return }
        // One below a layer of secrets comes from there, and needs no other place unless the program has stored it.
        let isBelowSecrets = list.isWritableBelowSecrets
        if isBelowSecrets, !list.isPrepared.load(ordering: .acquiring) {
            // The values are known later.
            return state.withLock { $0.keepUnchecked(secrets: names) }
        }
        for name in names.sortedByBytes where state.withLock({ $0.formerNames.preference(storedAs: name) }) == nil {
            let isStored = ([name] + formerNames(of: name)).contains { writable.value(of: $0)?.isUnset == false }
            if isBelowSecrets, !isStored { continue }
            report(
                PreferenceError(
                    .misuse,
                    name: name,
                    "the preference is a secret, but \(place) stores it as plain text; nothing was changed. Declare it "
                        + "with in: .keyring, from the product PreferencesKeyring"
                )
            )
        }
    }
}

/// The values of a store that are secrets, the fewest first.
package enum Secrecy: Comparable {
    /// Those under the names that preferences have declared secret.
    case declared
    /// These, and the values of some layers.
    case layers
    case all
}

/// The preferences of a store whose values are checked again, and merged with others, before they are stored.
package struct DeclaredChecks: Sendable {
    private let table = Table()
    private var prefix = ""

    private final class Table: Sendable {
        let preferences = Lock<[String: Preference]>([:])
    }

    /// A preference without its type.
    package final class Preference: Sendable {
        package let form: CodedForm
        /// Returns the names under which it is read, too.
        package let formerNames: @Sendable () -> [String]
        /// Throws if it can't have a stored value, or if its rules forbid it.
        let check: @Sendable (PropertyListValue) throws(PreferenceError) -> Void
        /// Returns the form of what a program understands of stored values, without rules for own ones, and the value of which.
        package let understand: @Sendable (StoredCandidates) -> (shown: PropertyListValue?, stored: PropertyListValue?)
        /// Returns a set value merged into a stored one.
        package let merge: Merge
        package typealias Merge =
            @Sendable (_ new: PropertyListValue, _ base: PropertyListValue, _ stored: PropertyListValue) ->
            PropertyListValue

        init(
            _ form: CodedForm,
            formerNames: @escaping @Sendable () -> [String],
            check: @escaping @Sendable (PropertyListValue) throws(PreferenceError) -> Void,
            understand: @escaping @Sendable (StoredCandidates) -> (PropertyListValue?, PropertyListValue?),
            merge: @escaping Merge
        ) {
            self.form = form
            self.formerNames = formerNames
            self.check = check
            self.understand = understand
            self.merge = merge
        }
    }

    /// Records the newest declaration of a name.
    ///
    /// - Parameter core: The store in which it is declared.
    func note(
        _ name: String,
        in core: StoreCore,
        _ make: (_ formerNames: @escaping @Sendable () -> [String]) -> Preference
    ) {
        let preference = make { [prefix, weak core] in core?.formerNames(of: name).map { prefix + $0 } ?? [] }
        let replaced = table.preferences.withLock { $0.updateValue(preference, forKey: prefix + name) }
        withExtendedLifetime(replaced) {}
    }

    /// Returns the checks of a scope.
    func scoped(_ prefix: String) -> DeclaredChecks {
        var checks = self
        checks.prefix += prefix
        return checks
    }

    fileprivate func preference(of name: String) -> Preference? {
        table.preferences.withLock { $0[prefix + name] }
    }

    /// Returns the preferences among names.
    package func preferences(of names: some Sequence<String>) -> [String: Preference] {
        table.preferences.withLock { preferences in names.reduce(into: [:]) { $0[$1] = preferences[prefix + $1] } }
    }
}

extension StoreCore {
    /// Throws if a preference of the store can't have a stored value, or if its rules forbid it.
    package func check(_ value: PropertyListValue, of name: String) throws(PreferenceError) {
        try checks?.preference(of: name)?.check(value)
    }
}
