internal import DurableFile
internal import Synchronization

/// The former names of a store's preferences; guarded by the store's lock.
///
/// A declaration only records its former names. The next use of the store checks them: one that is the name, or a former name, of
/// another preference is ignored.
package struct FormerNames: Sendable {
    /// A former name of a preference.
    struct Pair: Hashable, Sendable {
        let former: String
        let name: String
    }

    /// The former names of each preference as they were declared, the first one first.
    private var declared: [String: [String]] = [:]
    /// The former names in use of each preference, in the same order.
    private var byPreference: [String: [String]] = [:]
    /// The preferences that have the former names in use.
    private var preferences: [String: String] = [:]
    /// The pairs that were declared since the last check, in that order.
    private var unchecked: [Pair] = []
    /// The pairs that are ignored, because another preference has the name.
    private(set) var ignored: Set<Pair> = []
    /// The pairs whose former name was declared as a preference only to be migrated from.
    private var migrated: Set<Pair> = []
    /// Whether there are none in use or to check; stored, because asking a dictionary counts a reference in each set.
    private(set) var isEmpty = true

    /// All former names in use.
    var all: Dictionary<String, String>.Keys { preferences.keys }

    /// The pairs in use, sorted.
    var pairs: [Pair] { preferences.map { Pair(former: $0.key, name: $0.value) }.sortedByBytes { $0.former } }

    /// The former names of a preference that are in use, the first one first.
    subscript(name: String) -> [String] { isEmpty ? [] : byPreference[name] ?? [] }

    /// Returns the preference that has a former name.
    func preference(storedAs name: String) -> String? { isEmpty ? nil : preferences[name] }

    /// Returns whether a name is a former one, or that of a preference with former names.
    func concern(_ name: String) -> Bool {
        !isEmpty && (preferences[name] != nil || byPreference[name] != nil)
    }

    /// Returns the preferences whose former names aren't the same in another version, sorted.
    func preferences(differentIn other: FormerNames) -> [String] {
        Set(byPreference.keys).union(other.byPreference.keys).filter { byPreference[$0] != other.byPreference[$0] }
            .sortedByBytes
    }

    /// Returns the preferences for which a former name was declared and not checked yet.
    func uncheckedPreferences(storedAs former: String) -> [String] {
        unchecked.filter { $0.former == former }.map(\.name)
    }

    /// Returns whether a former name was declared as a preference only to be migrated from.
    func isMigrated(_ pair: Pair) -> Bool { migrated.contains(pair) }

    // MARK: Declaring

    /// Records former names of a preference; returns whether they have to be checked.
    mutating func note(_ names: [String], of name: String, _ isDeclared: (String) -> Bool) -> Bool {
        let pairs = names.map { Pair(former: $0, name: name) }.filter { pair in
            pair.former != name && preferences[pair.former] != name && !unchecked.contains(pair)
                && !(ignored.contains(pair) && isTaken(pair, isDeclared))
        }
        guard !pairs.isEmpty else { return false }
        for former in names where !(declared[name]?.contains(former) ?? false) {
            declared[name, default: []].append(former)
        }
        add(pairs)
        return true
    }

    /// Records that a preference is migrated from one with a former name of it; returns whether that has to be checked.
    mutating func noteMigration(_ pair: Pair) -> Bool {
        guard migrated.insert(pair).inserted else { return false }
        add(ignored.remove(pair).map { [$0] } ?? [])
        return true
    }

    private mutating func add(_ pairs: [Pair]) {
        unchecked += pairs
        isEmpty = isEmpty && unchecked.isEmpty
    }

    mutating func removeAll(of name: String) {
        guard let names = declared.removeValue(forKey: name) else { return }
        for former in names {
            let pair = Pair(former: former, name: name)
            if preferences[former] == name { preferences[former] = nil }
            ignored.remove(pair)
            migrated.remove(pair)
        }
        byPreference[name] = nil
        unchecked.removeAll { $0.name == name }
        isEmpty = preferences.isEmpty && unchecked.isEmpty
    }

    // MARK: Checking

    /// Returns the former names after the check: each is in use, or ignored because another preference has it.
    ///
    /// - Parameter isDeclared: Returns whether a declaration of a name exists.
    func checked(_ isDeclared: (String) -> Bool) -> FormerNames {
        var checked = self
        for pair in pairs where isDeclared(pair.former) && !isMigrated(pair) {
            checked.remove(pair)
            if isDeclared(pair.name) { checked.ignored.insert(pair) }
        }
        for pair in unchecked {
            if checked.isTaken(pair, isDeclared) {
                checked.ignored.insert(pair)
            } else {
                checked.use(pair)
            }
        }
        checked.unchecked = []
        checked.isEmpty = checked.preferences.isEmpty
        return checked
    }

    /// Returns whether a former name is the name, or a former name, of another declared preference.
    func isTaken(_ pair: Pair, _ isDeclared: (String) -> Bool) -> Bool {
        if isDeclared(pair.former), !isMigrated(pair) { return true }
        guard let owner = preferences[pair.former], owner != pair.name else { return false }
        return isDeclared(owner)
    }

    private mutating func use(_ pair: Pair) {
        // The declaration of another preference that had it was released.
        if let owner = preferences[pair.former] { remove(Pair(former: pair.former, name: owner)) }
        ignored.remove(pair)
        preferences[pair.former] = pair.name
        updateNames(of: pair.name)
    }

    private mutating func remove(_ pair: Pair) {
        preferences[pair.former] = nil
        updateNames(of: pair.name)
    }

    private mutating func updateNames(of name: String) {
        let names = declared[name]?.filter { preferences[$0] == name } ?? []
        byPreference[name] = names.isEmpty ? nil : names
    }
}

// MARK: Names and values of a preference

extension StoreCore {
    /// Returns the former names of a preference, without those that another preference has.
    package func formerNames(of name: String) -> [String] {
        guard hasFormerNames else { return [] }
        // This checks names that were declared since the last use.
        _ = attachedLayers
        return state.withLock { $0.formerNames[name] }
    }

    /// Returns the former names as they will be in use; creates no layers, because nothing is read.
    package func declaredFormerNames(of name: String) -> [String] {
        hasFormerNames ? (original ?? self).state.withLock { $0.checkedFormerNames()[name] } : []
    }

    /// Whether a set can compare what is stored without opening anything, under one name.
    var isWritableOpen: Bool { !hasFormerNames && (madeLayers?.writable?.isOpen ?? false) }

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
    package func ownValue(ofPreference name: String) -> (name: String, value: PropertyListValue)? {
        let names = [name] + formerNames(of: name)
        return newest.read(names) { list in
            guard let layer = list.writableLayer else { return nil }
            for name in names {
                if let value = layer.value(of: name) { return (name, value) }
            }
            return nil
        }
    }
}

// MARK: Declaring

extension StoreCore {
    /// Records the former names of a preference, which the next use of the store checks.
    @inline(never)
    func noteFormerNames(_ names: [String], of name: String) {
        // A replacement asks the store that it replaces, where the preference is declared, too.
        guard original == nil else { return }
        hasFormerNames = true
        if state.withLock({ $0.noteFormerNames(names, of: name) }) { checkFormerNamesAtNextUse() }
    }

    /// Records that a preference is migrated from one whose name is a former name of it, which therefore is no other preference.
    func noteMigration(from former: String, of name: String) {
        guard original == nil else { return }
        if state.withLock({ $0.noteMigration(FormerNames.Pair(former: former, name: name)) }) {
            checkFormerNamesAtNextUse()
        }
    }

    /// Lets the next use that isn't served from the cache check the former names, in this store and in its replacements.
    @inline(never)
    func checkFormerNamesAtNextUse() {
        madeLayers?.isAttached.store(false, ordering: .releasing)
        for core in replacements { core.adoptFormerNames() }
    }

    /// Lets the next use get the former names of the store that this one replaces.
    func adoptFormerNames() {
        hasFormerNames = true
        state.withLock { state in
            state.noteUncheckedFormerNames()
            state.dropCachedValues()
        }
        madeLayers?.isAttached.store(false, ordering: .releasing)
    }
}

// MARK: Checking

// A former name must not be the name of another preference, because a write of the one would remove the value of the other. For another
// store over the same source, `problems` of a group finds it.

extension StoreCore {
    /// Checks the former names that were declared since the last check, and notifies observers of what they change.
    func checkFormerNames(in list: LayerList) {
        while true {
            // Another thread may be checking them, and this one must not use the store before that is done. So both do the same.
            let unchecked = state.withLock { state in
                state.hasUncheckedFormerNames ? (state.formerNameDeclarations, state.checkedFormerNames()) : nil
            }
            guard let (declarations, own) = unchecked else { return }
            let names = original?.state.withLock { $0.checkedFormerNames() } ?? own
            if !names.isEmpty { list.writableLayer?.source.hasFormerNames.store(true, ordering: .releasing) }
            // Names that were declared in the meantime are checked in the next round.
            useFormerNames(in: list) { $0.noteCheckedFormerNames(after: declarations) ? names : nil }
        }
    }

    /// Replaces the former names in use unless there are no new ones, and notifies observers on a thread of the library.
    private func useFormerNames(in list: LayerList, _ new: (inout StoreState) -> FormerNames?) {
        var notifications = DeferredNotifications()
        state.withLock { state in
            guard let names = new(&state) else { return }
            if state.useFormerNames(names, in: list, into: &notifications) { notifications.addDelivery(by: self) }
        }
        // The caller may be reading, and hold a lock that observers wait for.
        notifications.sendOnLibraryThread()
    }

    /// Returns the first of the changed names that a policy manages under another name that a preference of another store, such as a
    /// scope, has for the value.
    func managedNameElsewhere(among changes: ValueChanges, in list: LayerList) -> String? {
        let managedLayers = list.layers.prefix { $0.isManaged }
        guard !managedLayers.isEmpty, let layer = list.writableLayer,
            layer.source.hasFormerNames.load(ordering: .acquiring)
        else { return nil }
        let cores = layer.source.cores.filter { $0 !== self && $0.hasFormerNames }
        return changes.dictionary.keys.sortedByBytes.first { name in
            let names = cores.flatMap { $0.namesOfPreference(storedAs: layer.spelled(name), in: layer.source) }
            return names.compactMap(layer.preferenceName).contains { name in
                managedLayers.contains { $0.value(of: name) != nil }
            }
        }
    }

    /// Returns the names that a source has for a preference of this store with former names, of which one is given.
    private func namesOfPreference(storedAs spelled: String, in source: Source) -> [String] {
        guard let layer = madeLayers?.writableLayer, layer.source === source,
            let name = layer.preferenceName(of: spelled)
        else { return [] }
        let names = state.withLock { state in
            let name = state.formerNames.preference(storedAs: name) ?? name
            return [name] + state.formerNames[name]
        }
        return names.map(layer.spelled)
    }
}
