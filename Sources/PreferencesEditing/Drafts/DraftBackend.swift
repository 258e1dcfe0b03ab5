internal import Preferences

/// The writable layer of a draft's store: that of the original store, with the edits.
///
/// Its source has the stored values as the draft has last read them, so that in a turn each edit is compared with what its body has read.
final class DraftBackend: Backend {
    private let layer: Layer
    /// Follows that layer alone, also where a stronger layer hides it.
    private let follower: StoreFollower
    /// The preferences of the draft's store by name.
    private let rules = Lock<[String: any DeclaredRules]>([:])
    private let state = Lock(State())
    private let source = Lock(WeakSource())

    private struct WeakSource { weak var source: Source? }

    /// Changed in the turn only.
    private struct State {
        var edits: [String: DraftEdit] = [:]
        /// Stored values that the source is yet to show, under names without an edit.
        var unshown: [String: PropertyListValue?] = [:]
        /// The names of edits that show another value over what is stored now.
        var rejoined: Set<String> = []
    }

    init(over layer: Layer, of original: PreferenceStore) {
        var owned = layer
        owned.owner = original
        self.layer = owned
        follower = StoreFollower([owned], of: original)
    }

    func begin(with source: Source) { self.source.withLock { $0.source = source } }

    func note(_ rules: any DeclaredRules, of name: String) {
        let replaced = self.rules.withLock { $0.updateValue(rules, forKey: name) }
        withExtendedLifetime(replaced) {}
    }

    var editedNames: Set<String> { state.withLock { Set($0.edits.keys) } }

    /// Returns the value that the original store itself has now.
    func original(_ name: String) -> PropertyListValue? { follower.value(of: name) }

    // MARK: Edits

    /// Notes what has changed in the original store; call in the turn, unless it is keyed.
    private func readStored() {
        let changes = follower.changes().map(\.change)
        if changes.isEmpty { return }
        state.withLock { state in
            for change in changes {
                if state.edits[change.name] == nil {
                    state.unshown.updateValue(change.value, forKey: change.name)
                } else {
                    state.edits[change.name]?.stored = change.value
                }
                for (name, edit) in state.edits where edit.names.contains(change.name) { state.rejoined.insert(name) }
            }
        }
    }

    /// Returns the stored value of a name as the draft has last read it.
    private func stored(_ name: String, _ state: State) -> PropertyListValue? {
        if let edit = state.edits[name] { return edit.stored }
        if let value = state.unshown[name] { return value }
        return isKeyed ? follower.value(of: name) : source.withLock { $0.source }?.storedValue(of: name)
    }

    /// Returns what an edit shows over what is stored.
    private func value(of edit: DraftEdit, _ state: State) -> PropertyListValue? {
        edit.joined(to: edit.names.lazy.compactMap { self.stored($0, state) }.first)
    }

    /// Returns the edit that a change is.
    private func edit(_ change: StoredChange, _ state: State) -> DraftEdit {
        let rules = change.value == nil ? nil : self.rules.withLock { $0[change.name] }
        let names = [change.name] + (rules?.formerNames ?? [])
        let own = names.map { stored($0, state) }
        return DraftEdit(change.value, of: names, over: own, rules, after: state.edits[change.name])
    }

    /// Returns the changes that the edits make of what is stored now; throws if a rule forbids one. Call in the turn.
    func changes() throws(PreferenceError) -> [StoredChange] {
        readStored()
        let state = state.withLock { $0 }
        var changes: [StoredChange] = []
        for (name, edit) in state.edits.sorted(by: { $0.key < $1.key }) {
            let value = value(of: edit, state)
            if let value { try rules.withLock { $0[name] }?.check(value) }
            if value != edit.stored { changes.append(StoredChange(name, value)) }
        }
        return changes
    }

    /// Call in the turn.
    func removeEdits() {
        state.withLock { state in
            for (name, edit) in state.edits { state.unshown.updateValue(edit.stored, forKey: name) }
            (state.edits, state.rejoined) = ([:], [])
        }
    }

    // MARK: The backend

    var place: String { layer.source.place }
    var timeout: Duration { layer.source.longestWait }
    /// Only `apply()` waits; an edit doesn't.
    var saysWhenItWaits: Bool { layer.source.saysWhenItWaits }
    var isWritable: Bool { layer.source.isWritable }
    var isKeyed: Bool { layer.source.isKeyed }
    /// Only the layer itself has to look.
    var isStale: Bool? { layer.source.goesStale ? false : nil }
    var storesEqualValues: Bool { true }
    var below: [Source] { [layer.source] }
    var locked: [String: PreferenceError] {
        Dictionary(layer.source.locked.compactMap { key, error in layer.name(of: key).map { ($0, error) } }) { $1 }
    }
    func describe(_ name: String?) -> StoredPlace { layer.source.describe(name.map(layer.key)) }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        follower.begin(host.changedNow).map(\.change)
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        let changes = unshown()
        return changes.isEmpty ? .none : .changes([changes])
    }

    func values(for names: [String]?) throws(PreferenceError) -> [StoredChange] {
        guard let names else { return unshown() }
        try follower.ask(for: names)
        let state = state.withLock { $0 }
        return names.map { name in
            StoredChange(name, state.edits[name].map { value(of: $0, state) } ?? follower.value(of: name))
        }
    }

    private func unshown() -> [StoredChange] {
        readStored()
        let state = state.withLock { state in
            let taken = state
            (state.unshown, state.rejoined) = ([:], [])
            return taken
        }
        let edited = state.rejoined.compactMap { name in
            state.edits[name].map { StoredChange(name, value(of: $0, state)) }
        }
        return edited + state.unshown.map { StoredChange($0.key, $0.value) }
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        let changes = try body(catchUp(until: deadline))
        // An edit would begin with the default, and replace the stored value when it is applied.
        let locked = locked
        for change in changes { if let error = locked[change.name] { throw error.named(change.name) } }
        try JSONLine.check(changes)
        let known = state.withLock { $0 }
        let edits = changes.map { ($0.name, edit($0, known)) }
        state.withLock { state in for (name, edit) in edits { state.edits[name] = edit } }
    }
}
