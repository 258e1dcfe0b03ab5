public import Preferences

extension PreferenceStore {
    /// Returns a store over another one that shows only whole states in which a group has no problem.
    ///
    ///     let service = Service(in: try .validated(Service.self, over: store))
    ///
    /// A change of the other store, such as an edited file, is checked on a thread of the library and then shown in one step for observers. If
    /// the group has a problem then, the last valid state stays; the problems are reported to the issue handler, each once, and
    /// `PreferenceGroup.problems` of a group over this store has them until they are corrected. A value that can't be decoded or breaks a
    /// rule, a member that is replaced, an element that is left out and a `.required` preference without a value are problems; a missing
    /// member, an unknown name and a value below the used one aren't. A program that is started again sees the stored state, and so the
    /// error of this function.
    ///
    /// A write goes to the other store and is shown at once; one that would make a problem throws `invalid` or `unreadable`. `update` and
    /// transactions read the other store, which has the newest values. The other store never waits for this one. Put all layers into the
    /// other store, `.validated(Service.self, over: .layered([.arguments, .standard]))`, and load one on a network before. Of user defaults and
    /// other stores that are asked name by name, it shows the names of the group only. A preference of the group that is in another store
    /// (`in:`) is checked once, here. Inside `withIsolatedStores` a validated
    /// store over a shared one is replaced by one that checks nothing, unless it was created there.
    ///
    /// - Parameters:
    ///   - group: The group that is checked; all preferences of the program that must be valid together.
    ///   - store: The store of the values.
    /// - Throws: All problems of the present state, as `check()`, without unknown names.
    public static func validated<Group: PreferenceGroup>(
        _ group: Group.Type,
        over store: PreferenceStore
    ) throws(PreferenceProblems) -> PreferenceStore {
        let original = store
        let store = store.resolved
        let preferences = DeclaredPreferences.all(in: Group(in: store))
        let backend = ValidatedBackend(of: preferences, over: store)
        let source = Source(backend)
        let problems = backend.begin(with: source) + preferences.filter { !$0.isStored(in: store) }.problems()
        if !problems.isEmpty { throw PreferenceProblems(problems.withoutEqualTexts) }
        let isShared = original.replacement != nil && IsolationScope.inEffect == nil
        return PreferenceStore(
            store.asLayers.enumerated().map { backend.copies($1) ? $1.copied(in: source, under: backend.key($0)) : $1 },
            issues: store.core.issues,
            scope: store.core.scope,
            secrecy: store.core.secrecy,
            replacement: isShared ? .layers([original]) : nil,
            standIns: store.standIns
        )
    }
}

extension DeclaredPreference {
    /// Whether the preference is in a store or a scope of it.
    fileprivate func isStored(in store: PreferenceStore) -> Bool {
        let layers = resolvedNode.core.layers
        return layers.count == store.core.layers.count
            && zip(layers, store.core.layers).allSatisfy { $0.source === $1.source && $0.prefix.hasPrefix($1.prefix) }
    }
}

/// The values of the last valid state of a store, of all its layers in one source, so that another state is shown in one step.
private final class ValidatedBackend: Backend {
    private let store: PreferenceStore
    private let preferences: [any DeclaredPreference]
    private let follower: StoreFollower
    /// The indices of the layers that it follows: those of texts never change.
    private let followed: [Int]
    private let isolation = PreferenceStore.isolation
    private let state = Lock(State())

    private struct State {
        weak var source: Source?
        /// Why the newest state isn't shown.
        var problems: [PreferenceError] = []
        /// Whether the first state was valid.
        var hasBegun = false
    }

    init(of preferences: [any DeclaredPreference], over store: PreferenceStore) {
        self.store = store
        self.preferences = preferences.filter { $0.isStored(in: store) }
        let layers = store.asLayers
        followed = layers.indices.filter { !layers[$0].isText }
        follower = StoreFollower(followed.map { layers[$0] }, of: store)
    }

    /// Loads the source with the store's state; returns the problems of that.
    func begin(with source: Source) -> [PreferenceError] {
        state.withLock { $0.source = source }
        for preference in preferences { preference.resolvedNode.prepare() }
        do { try source.withTurn(until: source.timeout) { _ in } } catch {
            return [PreferenceError(.unavailable, from: error)]
        }
        return state.withLock { state in
            state.hasBegun = true
            return state.problems
        }
    }

    /// Whether a layer's values are copied.
    func copies(_ layer: Layer) -> Bool { !layer.isText }

    /// Returns the beginning of the names that stand for those of a layer.
    func key(_ layer: Int) -> String { "\(layer)\u{1F}" }

    // MARK: Checking

    /// Takes over the store's newest state if it is valid; call in the turn.
    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        let (source, hasBegun) = state.withLock { ($0.source, $0.hasBegun) }
        let changes = follower.changes()
        guard let source, !changes.isEmpty || !hasBegun else { return .none }
        var newest = source.unshownValues
        for (index, change) in changes {
            newest.updateValue(
                change.value,
                forKey: key(followed[index]) + store.core.layers[followed[index]].key(change.name)
            )
        }
        let found = isolation.run { problems(hasBegun ? Self.outcome : nil, over: source, newest) }
        state.withLock { state in
            // One whose line has moved is the same.
            state.problems = found.map { new in state.problems.first { $0.isSame(as: new) } ?? new }
        }
        source.noteUnshown(found.isEmpty ? [:] : newest)
        return found.isEmpty ? .changes([newest.map { StoredChange($0.key, $0.value) }]) : .none
    }

    private static let outcome = "the last valid values of the group stay in use; a restart reads the stored ones"

    /// Returns the problems of the preferences with the values that are shown, and others under some names.
    private func problems(
        _ outcome: String?,
        of preferences: [any DeclaredPreference]? = nil,
        over source: Source,
        _ others: [String: PropertyListValue?]
    ) -> [PreferenceError] {
        let layers = store.core.layers
        return (preferences ?? self.preferences).flatMap { preference in
            let candidates = preference.resolvedNode.candidates { index, name in
                guard copies(layers[index]) else { return layers[index].source.value(of: name) }
                return others[key(index) + name] ?? source.storedValue(of: key(index) + name)
            }
            return preference.problems(with: candidates, outcome)
        }.withoutEqualTexts
    }

    /// Returns the first problem that changes would make of the state that is shown.
    private func problem(after changes: [StoredChange], of source: Source) -> PreferenceError? {
        let values = Dictionary(changes.map { ($0.name, $0.value) }) { $1 }
        let changed = preferences.filter { preference in
            preference.resolvedNode.keys.contains { index, name in values.index(forKey: key(index) + name) != nil }
        }
        let found = problems("nothing was changed", of: changed, over: source, values)
        if found.isEmpty { return nil }
        // A layer that can't be read is one already.
        let known = problems("nothing was changed", of: changed, over: source, [:])
        return found.first { problem in !known.contains { $0.isSame(as: problem) } }
    }

    // MARK: The backend

    private var writable: Source? { store.core.target }

    var place: String { writable?.place ?? "a validated store" }
    var timeout: Duration { writable?.longestWait ?? .seconds(5) }
    var saysWhenItWaits: Bool { writable?.saysWhenItWaits ?? true }
    var isWritable: Bool { writable?.isWritable ?? false }
    /// Only the layers below have to look.
    var isStale: Bool? { below.contains(where: \.goesStale) ? false : nil }
    var storesEqualValues: Bool { true }
    var below: [Source] { follower.sources }
    var problems: [PreferenceError] { state.withLock { $0.hasBegun ? $0.problems : [] } }

    var locked: [String: PreferenceError] {
        followed.reduce(into: [:]) { locked, index in
            for (name, error) in store.core.layers[index].source.locked { locked[key(index) + name] = error }
        }
    }

    func describe(_ name: String?) -> StoredPlace {
        let parts = name?.split(separator: "\u{1F}", maxSplits: 1, omittingEmptySubsequences: false)
        let layer = parts.flatMap { Int($0[0]) }.map { store.core.layers[$0] } ?? store.core.writable
        return layer?.source.describe(parts.map { String($0[1]) }) ?? StoredPlace()
    }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        follower.begin(host.changed).map { index, change in
            StoredChange(key(followed[index]) + store.core.layers[followed[index]].key(change.name), change.value)
        }
    }

    /// Stores the changes in the original store, unless they would make a problem.
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        guard let source = state.withLock({ $0.source }), let layer = store.core.writable else { return }
        let prefix = key(store.core.base) + layer.prefix
        var changed: [StoredChange] = []
        try store.core.change(until: deadline) {
            changed = try body(catchUp(until: deadline))
            if let problem = problem(after: changed, of: source) { throw problem }
            return changed.map { StoredChange(String($0.name.dropFirst(prefix.count)), $0.value) }
        }
        var unshown = source.unshownValues
        for change in changed { unshown.removeValue(forKey: change.name) }
        source.noteUnshown(unshown)
    }
}

extension PreferenceError {
    /// Returns whether two problems are the same, apart from the lines that they name.
    fileprivate func isSame(as other: PreferenceError) -> Bool {
        func withoutLines(_ text: String) -> String {
            let parts = text.split(separator: ", line ", omittingEmptySubsequences: false)
            return parts[0] + parts.dropFirst().map { $0.drop { ("0"..."9").contains($0) } }.joined()
        }
        return withoutLines(description) == withoutLines(other.description)
    }
}
