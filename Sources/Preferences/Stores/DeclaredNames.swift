internal import DurableFile
internal import Synchronization

/// The former names of a store's preferences; guarded by the store's lock.
struct FormerNames: Sendable {
    private var byPreference: [String: [String]] = [:]
    private var preferences: [String: String] = [:] { didSet { isEmpty = preferences.isEmpty } }
    /// Whether there are none; stored, because asking a dictionary counts a reference in each set.
    private(set) var isEmpty = true

    /// All former names.
    var all: Dictionary<String, String>.Keys { preferences.keys }

    /// The former names of a preference, the first one first.
    subscript(name: String) -> [String] { isEmpty ? [] : byPreference[name] ?? [] }

    /// Returns the preference that has a former name.
    func preference(storedAs name: String) -> String? { isEmpty ? nil : preferences[name] }

    /// Returns whether a name is a former one, or that of a preference with former names.
    func concern(_ name: String) -> Bool {
        !isEmpty && (preferences[name] != nil || byPreference[name] != nil)
    }

    mutating func add(_ former: String, of name: String) {
        byPreference[name, default: []].append(former)
        preferences[former] = name
    }

    /// Removes a former name; returns whether the preference had it.
    mutating func remove(_ former: String, of name: String) -> Bool {
        guard preferences[former] == name else { return false }
        preferences[former] = nil
        byPreference[name]?.removeAll { $0 == former }
        if byPreference[name]?.isEmpty ?? false { byPreference[name] = nil }
        return true
    }

    mutating func removeAll(of name: String) {
        for former in byPreference.removeValue(forKey: name) ?? [] { preferences[former] = nil }
    }
}

extension StoreCore {
    /// Returns the cell of a declaration, with the caller counted as a user, and the node of its name.
    // Not generic: as a generic result, the tuple's type would be looked up at each call.
    func declare(
        _ name: String,
        _ key: SlotKey,
        create: () -> PreferenceCell
    ) -> (PreferenceCell, PreferenceNode) {
        let (cell, node, removed, hasMisuses) = state.withLock { state in
            let (node, removed) = state.declare(name)
            return (node.cell(for: key, create: create), node, removed, state.hasUnreportedMisuses)
        }
        withExtendedLifetime(removed) {}
        if hasMisuses { madeLayers?.isAttached.store(false, ordering: .releasing) }
        return (cell, node)
    }
}

// MARK: Former names

extension StoreCore {
    /// Records the former names of a preference.
    @inline(never)
    func noteFormerNames(_ names: [String], of name: String) {
        hasFormerNames = true
        state.withLock { $0.noteFormerNames(names, of: name) }
        madeLayers?.isAttached.store(false, ordering: .releasing)
    }

    /// Returns the former names of a preference, without those that another preference has.
    func formerNames(of name: String) -> [String] {
        hasFormerNames ? state.withLock { $0.formerNames[name] } : []
    }

    /// Returns the changes that store a value of a preference under its name alone, or that remove the value.
    func changes(of name: String, to value: PropertyListValue?) -> ValueChanges {
        let formerNames = formerNames(of: name)
        guard !formerNames.isEmpty else { return .one(name, value) }
        var changes: [String: PropertyListValue?] = [:]
        for former in formerNames { changes.updateValue(nil, forKey: former) }
        changes.updateValue(value, forKey: name)
        return .several(changes)
    }

    /// Returns the value of a preference in the writable layer, and the name that it is stored under: the preference's own or a former
    /// one.
    func ownValue(ofPreference name: String) -> (name: String, value: PropertyListValue)? {
        let names = [name] + formerNames(of: name)
        return read(names) { list in
            guard let layer = list.writableLayer else { return nil }
            for name in names {
                if let value = layer.value(of: name) { return (name, value) }
            }
            return nil
        }
    }
}

// MARK: Secrets

// A name is secret in a store if it was declared so there or in another store over the same source, or if all values of the
// store are secret. Only code that describes a value or creates an error checks that, never a read or a set.

extension StoreCore {
    /// Returns whether the value of a name is a secret; call without a lock.
    func isSecret(_ name: String) -> Bool {
        if isSecret || state.withLock({ $0.secretNames.contains(name) }) { return true }
        return madeLayers?.layers.contains { layer in
            guard layer.source.hasSecrets.load(ordering: .acquiring) else { return false }
            let spelled = layer.spelled(name)
            return layer.source.cores.contains { $0.declaresSecret(spelled, in: layer.source) }
        } ?? false
    }

    /// Returns the names whose values are secrets; call without a lock.
    func secretNames(among names: some Sequence<String>) -> Set<String> {
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
    func noteSecret(_ name: String) {
        guard state.withLock({ $0.noteSecrets([name]) }), let list = madeLayers else { return }
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

    /// Records the secret names of the store that this one replaces.
    func noteSecrets(of core: StoreCore) {
        let names = core.state.withLock { $0.secretNames }
        if !names.isEmpty { _ = state.withLock { $0.noteSecrets(names) } }
    }

    /// Reports mistakes in declarations, and each name that was declared secret and is stored as plain text, once; call without a lock.
    func checkDeclarations(in list: LayerList) {
        let (names, misuses) = state.withLock { ($0.drainUncheckedSecrets(), $0.drainMisuses()) }
        for misuse in misuses { reportOnce(misuse) }
        if names.isEmpty { return }
        for layer in list.layers { layer.source.hasSecrets.store(true, ordering: .releasing) }
        guard let backend = list.writable?.backend as? any PlainTextBackend else { return }
        for name in names.sorted() where state.withLock({ $0.formerNames.preference(storedAs: name) }) == nil {
            report(
                PreferenceError(
                    .misuse,
                    name: name,
                    "the preference is a secret, but \(backend.place) stores it as plain text; nothing was changed. Declare it "
                        + "with in: .keyring, from the product PreferencesKeyring"
                )
            )
        }
    }
}

/// A backend that stores values unencrypted, where other programs of the user can read them.
protocol PlainTextBackend: PreferenceBackend {
    /// The place of the values, as messages name it.
    var place: String { get }
}

extension FileBackend: PlainTextBackend {
    var place: String { path }
}
