internal import DurableFile
public import Preferences

/// Changes of a store that aren't stored until they are applied, as of a screen with the buttons *Apply* and *Cancel*.
///
///     let draft = store.draft()
///     let player = PlayerPreferences(in: draft.store)
///     player.volume = 8
///     try draft.apply()
///
/// The draft's store shows what the original store would show after `apply()`: it follows the changes of others, a `reset()` in it shows
/// the value of a weaker layer, and a value of a stronger layer hides what is set. All members may be used on any thread.
public final class PreferenceDraft: Sendable {
    /// The store with the changes, for groups, observers and views; it may outlive the draft.
    public let store: PreferenceStore
    private let original: PreferenceStore
    /// Nil if the original store has no writable layer.
    private let backend: DraftBackend?

    fileprivate init(of original: PreferenceStore) {
        let list = original.core.layers
        let backend = list.writableLayer.map { DraftBackend(over: $0, of: original) }
        let source = backend.map { Source($0) }
        self.original = original
        self.backend = backend
        store = PreferenceStore(like: original, keepsChecks: true) {
            original.asLayers.enumerated().map { index, layer in
                guard index == list.writableIndex, let source else { return layer }
                return .writable(source, name: layer.name)
            }
        }
        if let checks = store.core.checks { backend?.use(checks) }
    }

    /// Whether `apply()` would change what is stored.
    public var hasChanges: Bool { !changes.names.isEmpty }

    /// The changes that `apply()` would make: the values that the store itself has now, and those that it would have.
    public var changes: PreferenceStoreChange {
        let (old, new) = backend?.difference ?? ([:], [:])
        let names = Set(old.keys).union(new.keys)
        return PreferenceStoreChange(
            names: names,
            old: old,
            new: new,
            origin: .local,
            secretNames: original.core.secretNames(among: names).union(store.core.secretNames(among: names))
        )
    }

    /// Stores the changes in one transaction; the draft has none then, and can be edited again.
    ///
    /// A name that only others have changed keeps their value. A dictionary, a struct or a list that both have changed is merged, member by
    /// member; of other values the draft's is stored.
    ///
    /// - Throws: `invalid` if a value, after merging, breaks the rule of a preference in the draft's store; `unreadable` if it can't be
    ///   decoded; the errors of a transaction. Nothing is stored then, and the draft keeps its changes.
    public func apply() throws(PreferenceError) {
        guard let backend else { return }
        let attempt = backend.beginApplying(core: store.core)
        do {
            try original.resolved.core.transact { try backend.store(in: &$0, attempt, checkedBy: store.core) }
        } catch {
            backend.end(attempt, isApplied: false)
            throw PreferenceError(.unencodable, from: error)
        }
        backend.end(attempt, isApplied: true)
    }

    /// Stores the changes, as the blocking form does; the task is suspended while a backend with a timeout is called.
    ///
    /// - Throws: The errors of the blocking form, and `unavailable` if the backend was not called in time or the task was cancelled before.
    public nonisolated(nonsending) func apply() async throws(PreferenceError) {
        guard let backend else { return }
        let attempt = backend.beginApplying(core: store.core)
        do {
            try await original.resolved.core.transactSuspending {
                try backend.store(in: &$0, attempt, checkedBy: store.core)
            }
        } catch {
            backend.end(attempt, isApplied: false)
            throw PreferenceError(.unencodable, from: error)
        }
        backend.end(attempt, isApplied: true)
    }

    /// Discards the changes, so that the draft's store shows what the original store shows.
    public func revert() { backend?.revert() }
}

extension PreferenceStore {
    /// Creates a draft: changes that are shown in a store of their own, and stored together or not at all.
    ///
    ///     let draft = store.draft()
    ///     PlayerPreferences(in: draft.store).volume = 8
    ///     try draft.apply()
    ///
    /// Several drafts of a store may be edited at once. Opens the store when the draft is first used; for a store on a network call
    /// `load()` before.
    public func draft() -> PreferenceDraft { PreferenceDraft(of: resolved) }
}

/// The writable layer of a draft's store: that of the original store, with the edits.
private final class DraftBackend: PreferenceBackend {
    private let layer: Layer
    /// A store of that layer alone, which notifies of all its changes, also of those that a stronger layer hides.
    private let own: PreferenceStore
    private let original: StoreCore
    private let state = Lock(State())
    /// The preferences of the draft's store, once it is there.
    private let checks = Lock<DeclaredChecks?>(nil)

    private struct State {
        var edits: [String: DraftEdit] = [:]
        var attempts = 0
        var host: PreferenceBackendHost?
        var observation: PreferenceObservation?
    }

    init(over layer: Layer, of original: PreferenceStore) {
        var owned = layer
        owned.owner = original
        self.layer = owned
        self.original = original.core
        own = PreferenceStore(like: original) { [owned] in [owned] }
    }

    func use(_ checks: DeclaredChecks) { self.checks.withLock { $0 = checks } }

    var listsAllNames: Bool { !layer.source.isQueriedByName }

    func isManaged(_ name: String) -> Bool { layer.source.isManaged(layer.spelled(name)) }

    var isWritable: Bool { own.isWritable }

    func path(of name: String?) -> String? { layer.source.path(of: name.map(layer.spelled)) }

    func line(of name: String) -> Int? { layer.source.line(of: layer.spelled(name)) }

    func failure(of name: String) -> PreferenceError? { layer.failure(of: name) }

    var lockedNames: Set<String> {
        Set((layer.source.locking?.lockedNames ?? []).compactMap(layer.preferenceName))
    }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        state.withLock { $0.host = host }
        // Before the values are read: a change in between is then published after them.
        let observation = own.subscribe { [weak self] batch in self?.publish(batch.stored.map(\.name)) }
        return state.withLock { state in
            state.observation = observation
            return values(state)
        }
    }

    func catchUp() throws(PreferenceError) { try own.load() }

    func values(for names: Set<String>) -> [String: PropertyListValue] {
        _ = own.core.preparedLayers(names)
        return state.withLock { state in
            names.reduce(into: [:]) { $0[$1] = value(of: $1, state) }
        }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        try JSONLine.check(.several(changes))
        // The draft shows the default in place of a locked value, so an edit would store the default's parts over that value's.
        for name in changes.keys.sortedByBytes {
            if let failure = failure(of: name) { throw failure.named(name) }
        }
        let preferences = checks.withLock { $0?.preferences(of: changes.keys) } ?? [:]
        return state.withLock { state in
            let names = condition.isComplete ? nil : Set(changes.keys).union(condition.values.keys)
            // Read first: if the condition holds for what is stored afterwards, it is what the caller has read before.
            let understood = preferences.filter { changes[$0.key] != .some(nil) }.reduce(into: [:]) { found, entry in
                found[entry.key] = self.understood(of: entry.key, entry.value)
            }
            // Read once: the condition must hold for the values that the edits are compared with.
            var stored: [String: PropertyListValue?] =
                names == nil ? layer.listed(layer.source.contents).mapValues { $0 } : [:]
            let own = { [layer] (name: String) -> PropertyListValue? in
                if let known = stored[name] { return known }
                let value = names == nil ? nil : layer.value(of: name)
                stored.updateValue(value, forKey: name)
                return value
            }
            let values = (names ?? Set(stored.keys).union(state.edits.keys)).reduce(into: [:]) { values, name in
                values[name] = state.edits[name].map { $0.joined(to: first(of: $0.names, own)) } ?? own(name)
            }
            let asked = Set(changes.keys).union(condition.values.keys)
            state.host?.collect(Dictionary(uniqueKeysWithValues: asked.map { ($0, values[$0]) }))
            guard condition.holds(for: values) else { return PreferenceBackendCommit(isStored: false) }
            for (name, new) in changes {
                let over = understood[name]
                let names = [name] + (over?.formerNames ?? [])
                let stored = first(of: names, own)
                state.edits[name] = DraftEdit(new, of: names, over: over, after: state.edits[name], stored)
            }
            // Where others have changed the value since the first edit, it isn't shown as it was set.
            state.host?.noteApplied()
            state.host?.collect(Dictionary(uniqueKeysWithValues: changes.keys.map { ($0, value(of: $0, state)) }))
            return PreferenceBackendCommit(isStored: true)
        }
    }

    /// Returns what a preference's value is set over, apart from the edits.
    @inline(never)
    private func understood(of name: String, _ preference: DeclaredChecks.Preference) -> DraftEdit.Understood {
        let formerNames = preference.formerNames()
        let list = original.layers
        let candidates = list.candidates(for: name, formerly: formerNames, from: list.base)
        let (shown, stored) = preference.understand(candidates)
        return DraftEdit.Understood(preference: preference, formerNames: formerNames, shown: shown, stored: stored)
    }

    /// The values of the edited names that the edits change, before and after.
    var difference: (old: [String: PropertyListValue], new: [String: PropertyListValue]) {
        _ = own.core.attachedLayers
        return state.withLock { state in
            var (old, new) = ([String: PropertyListValue](), [String: PropertyListValue]())
            for (name, edit) in state.edits {
                let stored = layer.value(of: name)
                let value = edit.joined(to: first(of: edit.names, layer.value))
                if stored != value { (old[name], new[name]) = (stored, value) }
            }
            return (old, new)
        }
    }

    /// Returns the number of a new `apply()`.
    ///
    /// - Parameter core: The draft's store: what was declared secret there is a secret in the original one, too.
    func beginApplying(core: StoreCore) -> Int {
        let (attempt, names) = state.withLock { state in
            state.attempts += 1
            return (state.attempts, Array(state.edits.keys))
        }
        for name in core.secretNames(among: names) { original.noteSecret(name) }
        return attempt
    }

    /// Stores the edits, merged into what is stored now, in a transaction of the original store.
    func store(in transaction: inout PreferenceTransaction, _ attempt: Int, checkedBy core: StoreCore) throws {
        let edits = state.withLock { $0.edits }
        for name in edits.keys.sortedByBytes {
            guard let edit = edits[name] else { continue }
            let stored = transaction.ownValue(of: name)
            let value = edit.joined(to: first(of: edit.names) { transaction.ownValue(of: $0) })
            if let value { try core.check(value, of: name) }
            if value != stored { transaction[name] = value }
            state.withLock { $0.edits[name]?.note(value, in: attempt, of: edit.number) }
        }
    }

    /// Removes the edits that were applied; those that were made in the meantime stay.
    func end(_ attempt: Int, isApplied: Bool) {
        let names = state.withLock { state in
            let names = Array(state.edits.keys)
            for name in names { state.edits[name] = state.edits[name]?.rest(after: attempt, isApplied: isApplied) }
            return names
        }
        publish(names)
    }

    func revert() {
        let names = state.withLock { Array(exchange(&$0.edits, with: [:]).keys) }
        publish(names)
    }

    /// Has the draft's store show the newest values of names, which may have changed below the edits.
    private func publish(_ names: [String]) {
        let host = state.withLock { state in
            let changes = names.map { ($0, value(of: $0, state)) }
            // With the lock, which gives the changes their order.
            state.host?.collect(Dictionary(changes) { first, _ in first })
            return state.host
        }
        host?.changed([:])
    }

    @inline(never)
    private func value(of name: String, _ state: State) -> PropertyListValue? {
        state.edits[name].map { $0.joined(to: first(of: $0.names, layer.value)) } ?? layer.value(of: name)
    }

    private func values(_ state: State) -> [String: PropertyListValue] {
        let stored = layer.listed(layer.source.contents)
        return state.edits.reduce(into: stored) { values, edit in
            values[edit.key] = edit.value.joined(to: first(of: edit.value.names) { stored[$0] })
        }
    }
}

/// Returns the value of the first of the names that has one.
@inline(never)
private func first(of names: [String], _ value: (String) -> PropertyListValue?) -> PropertyListValue? {
    for name in names { if let value = value(name) { return value } }
    return nil
}
