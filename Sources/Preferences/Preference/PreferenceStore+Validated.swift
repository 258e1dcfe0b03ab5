internal import DurableFile

extension PreferenceStore {
    /// Returns a store over another one that shows only whole states in which a group has no problem.
    ///
    ///     let service = Service(in: try .validated(Service.self, over: store))
    ///
    /// A change of the other store, such as an edited file, is checked on a thread of the library and then shown in one step for observers. If
    /// the group has a problem then, the last valid state stays and the problems are reported to the issue handler, once for each set of
    /// problems. A value that can't be decoded or breaks a rule, a member that is replaced, an element that is left out and a `.required`
    /// preference without a value are problems; a missing member, an unknown name and a value below the used one aren't. A program that is
    /// started again sees the stored state, and so the error of this function.
    ///
    /// A write goes to the other store and is shown at once; one that would make a problem throws `invalid` or `unreadable`. `update` and
    /// transactions read the other store, which has the newest values. The other store never waits for this one. Put all layers into the
    /// other store, `.validated(Service.self, over: .layered([.arguments, .standard]))`, and load one on a network before. Of user defaults and
    /// other stores that are asked name by name, it shows the names of the group only.
    ///
    /// - Parameters:
    ///   - group: The group that is checked; all preferences of the program that must be valid together.
    ///   - store: The store of the values.
    /// - Throws: All problems of the present state, as `check()`, without unknown names.
    public static func validated<Group: PreferenceGroup>(
        _ group: Group.Type,
        over store: PreferenceStore
    ) throws(PreferenceProblems) -> PreferenceStore {
        let store = store.resolved
        let backend = ValidatedBackend(DeclaredPreferences.all(in: Group(in: store)), over: store)
        try backend.begin()
        let source = Source(backend)
        let validated = PreferenceStore(like: store, target: store) {
            store.asLayers.enumerated().map { index, layer in
                ValidatedBackend.mirrors(layer) ? layer.mirrored(by: source, under: ValidatedBackend.key(index)) : layer
            }
        }
        _ = validated.core.preparedLayers()
        return validated
    }
}

/// The values of the last valid state of a store, of all its layers in one source, so that another state is shown in one step.
private final class ValidatedBackend: PreferenceBackend {
    private let store: PreferenceStore
    /// The checked preferences, which are those of `store`.
    private let preferences: [any DeclaredPreference]
    private let state = Lock(State())
    private let checks = WorkerQueue()

    private struct State {
        /// The values of the last valid state, by the names of this backend.
        var values: [String: PropertyListValue] = [:]
        /// The changes that were written through this backend since the running check began, by the number of each.
        var written: [(number: Int, changes: [String: PropertyListValue?])] = []
        var count = 0
        var isCheckScheduled = false
        /// The problems that were reported last.
        var reported: Set<String> = []
        var host: PreferenceBackendHost?
        var observations: [PreferenceObservation] = []
    }

    init(_ preferences: [any DeclaredPreference], over store: PreferenceStore) {
        self.preferences = preferences
        self.store = store
    }

    /// Returns the beginning of the names that stand for those of a layer.
    static func key(_ index: Int) -> String { "\(index)\u{1F}" }

    /// Returns whether a layer's values are copied; those of layers that spell names differently never change.
    static func mirrors(_ layer: Layer) -> Bool { layer.spelling == nil }

    private var layers: [Layer] { store.core.layers.layers }

    private var names: Set<String> { Set(preferences.flatMap(\.storedNames)) }

    /// Follows the store, and copies its state; throws its problems.
    func begin() throws(PreferenceProblems) {
        // Also of those names, because observers of all names aren't notified of changes below another value.
        let observations = [nil, names].map { names in
            store.subscribe(to: names) { [weak self] _ in self?.scheduleCheck() }
        }
        let (values, problems) = storedState()
        if !problems.isEmpty { throw PreferenceProblems(problems) }
        state.withLock { state in
            state.values = values
            state.observations = observations
        }
        // A change before that line is in neither.
        scheduleCheck()
    }

    // MARK: Checking

    /// Returns the values of all layers at one moment, and the problems that the preferences have with them.
    private func storedState() -> ([String: PropertyListValue], [PreferenceError]) {
        let snapshot = store.snapshot(of: names)
        let failures = snapshot.failures.compactMap { $0 }
        let problems = preferences.flatMap { $0.problems(in: snapshot, .lastValidState) }
        return (snapshot.values { Self.mirrors($0) ? Self.key($1) : nil }, (failures + problems).withoutEqualTexts)
    }

    private func scheduleCheck() {
        let isNew = state.withLock { !exchange(&$0.isCheckScheduled, with: true) }
        guard isNew else { return }
        checks.run { [weak self, isolation = PreferenceIsolation.current] in isolation.run { self?.check() } }
    }

    /// Shows the stored state if it is valid.
    private func check() {
        let began = state.withLock { state in
            state.isCheckScheduled = false
            return state.count
        }
        let (values, problems) = storedState()
        let (host, isNew) = state.withLock { state in
            let later = state.written.filter { $0.number > began }
            state.written = later
            let isNew = state.reported != Set(problems.map(\.description))
            state.reported = Set(problems.map(\.description))
            guard problems.isEmpty else { return (nil as PreferenceBackendHost?, isNew) }
            // What was written since lies over the state that was checked; the write itself has scheduled another check.
            let new = later.reduce(into: values) { $0.change($1.changes) }
            state.host?.collect(state.values.changes(to: new))
            state.values = new
            return (state.host, false)
        }
        host?.changed([:])
        if isNew { for problem in problems { store.report(problem) } }
    }

    // MARK: The backend

    var timeout: Duration? { store.core.layers.waitingSource.flatMap { $0.isSlow ? $0.timeout : nil } }

    func checkThreadMayBlock() throws(PreferenceError) {
        for layer in layers where layer.source.isSlow { try layer.source.backend?.checkThreadMayBlock() }
    }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        state.withLock { state in
            state.host = host
            return state.values
        }
    }

    func catchUp() throws(PreferenceError) { try store.refresh() }

    func sync() throws(PreferenceError) { try store.flush() }

    func isManaged(_ name: String) -> Bool {
        original(name).map { store.core.layers.isManagedByBackend($0) } ?? false
    }

    /// Stores the changes in the original store, unless they would make a problem.
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        if let problem = problem(after: changes) { throw problem }
        guard try store.core.commit(.several(original(changes)), ifStillHolds: TransactionReads(original(condition)))
        else {
            return PreferenceBackendCommit(isStored: false)
        }
        state.withLock { state in
            state.count += 1
            state.written.append((state.count, changes))
            state.values.change(changes)
            // Before a state that a check finds from now on.
            state.host?.noteApplied()
        }
        scheduleCheck()
        return PreferenceBackendCommit()
    }

    /// Returns the first problem that the changes would make of the state that is shown.
    private func problem(after changes: [String: PropertyListValue?]) -> PreferenceError? {
        let values = state.withLock { $0.values }
        let (list, core) = (store.core.layers, store.core)
        for preference in preferences {
            let names = core.formerNames(of: preference.name)
            let keys = ([preference.name] + names).flatMap { name in
                list.layers.indices.map { Self.key($0) + list.layers[$0].spelled(name) }
            }
            guard keys.contains(where: { changes[$0] != nil }) else { continue }
            let candidates = list.candidates(for: preference.name, formerly: names) { index, name in
                guard Self.mirrors(list.layers[index]) else { return list.layers[index].value(of: name) }
                let name = Self.key(index) + list.layers[index].spelled(name)
                return changes[name] ?? values[name]
            }
            if let problem = preference.problems(in: candidates, of: core, .rejected).first { return problem }
        }
        return nil
    }

    // MARK: Names

    /// The beginning of the names of the writable layer.
    private var prefix: String {
        guard let index = store.core.layers.writableIndex else { return "" }
        return Self.key(index) + layers[index].prefix
    }

    private func original(_ name: String) -> String? { name.droppingPrefix(prefix) }

    private func original(_ values: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        let prefix = prefix
        return Dictionary(values.map { ($0.droppingPrefix(prefix) ?? $0, $1) }) { first, _ in first }
    }

    private func original(_ condition: PreferenceCondition) -> PreferenceCondition {
        var original = condition
        original.values = self.original(condition.values)
        original.prefix = self.original(condition.prefix) ?? condition.prefix
        return original
    }
}

extension [String: PropertyListValue] {
    /// Applies changes; nil removes a name.
    fileprivate mutating func change(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes { self[name] = value }
    }

    /// Returns the changes that lead to other values.
    fileprivate func changes(to new: Self) -> [String: PropertyListValue?] {
        var changes: [String: PropertyListValue?] = [:]
        for name in Set(keys).union(new.keys) where self[name] != new[name] {
            changes.updateValue(new[name], forKey: name)
        }
        return changes
    }
}
