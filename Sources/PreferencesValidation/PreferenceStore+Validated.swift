internal import DurableFile
public import Preferences

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
        let backend = ValidatedBackend(over: store)
        try backend.begin(DeclaredPreferences.all(in: Group(in: store)))
        let source = Source(backend)
        let isShared = original.replacement != nil && IsolationScope.inEffect == nil
        let validated = PreferenceStore(like: store, target: store, replacement: isShared ? .layers([original]) : nil) {
            store.asLayers.enumerated().map { index, layer in
                ValidatedBackend.mirrors(layer) ? layer.mirrored(by: source, under: ValidatedBackend.key(index)) : layer
            }
        }
        _ = validated.core.preparedLayers()
        if isShared { SharedStores.register(layered: validated) }
        return validated
    }
}

/// A preference of a validated store's group, in the store or in a scope of it.
private struct CheckedPreference {
    let preference: any DeclaredPreference
    private let core: StoreCore
    private let scope: String

    /// Creates nothing for a preference of another store.
    init?(_ preference: any DeclaredPreference, in store: PreferenceStore) {
        let core = preference.store.resolved.core
        guard core.issues === store.core.issues, let scope = core.scope.droppingPrefix(store.core.scope) else {
            return nil
        }
        (self.preference, self.core, self.scope) = (preference, core, scope)
    }

    /// The names under which the store may have its value: the name, and then the former names.
    var names: [String] { ([preference.name] + core.formerNames(of: preference.name)).map { scope + $0 } }

    /// Returns its problems with the values that `candidates` returns for a name and its former names.
    func problems(
        _ outcome: ProblemOutcome,
        _ candidates: (_ name: String, _ formerNames: [String]) -> StoredCandidates
    ) -> [PreferenceError] {
        let names = names
        return preference.problems(in: candidates(names[0], Array(names.dropFirst())), of: core, outcome)
    }
}

/// The values of the last valid state of a store, of all its layers in one source, so that another state is shown in one step.
private final class ValidatedBackend: PreferenceBackend {
    private let store: PreferenceStore
    private let isolation = PreferenceIsolation.current
    private let state = Lock(State())
    private let checks = WorkerQueue()

    private struct State {
        var preferences: [CheckedPreference] = []
        /// The values of the last valid state, by the names of this backend.
        var values: [String: PropertyListValue] = [:]
        /// The change counts of the layers at the newest checked state.
        var versions: [UInt64] = []
        /// The changes that were written through this backend since the running check began, by the number of each.
        var written: [(number: Int, changes: [String: PropertyListValue?])] = []
        var count = 0
        var isCheckScheduled = false
        /// The problems that were reported last, without their lines.
        var reported: Set<String> = []
        var host: PreferenceBackendHost?
        var observations: [PreferenceObservation] = []
        /// The stores whose observers wait until the thread's call of `apply` and the turn are over.
        var paused: [ThreadIdentity: [StoreCore]] = [:]
    }

    init(over store: PreferenceStore) { self.store = store }

    /// Returns the beginning of the names that stand for those of a layer.
    static func key(_ index: Int) -> String { "\(index)\u{1F}" }

    /// Returns whether a layer's values are copied; those of layers that spell names differently never change.
    static func mirrors(_ layer: Layer) -> Bool { layer.spelling == nil && layer.source.words.isEmpty }

    private var layers: [Layer] { store.core.layers.layers }

    private var names: Set<String> { Set(state.withLock { $0.preferences }.flatMap(\.names)) }

    /// Follows the store, and copies its state; throws its problems and those of the preferences of other stores, which aren't checked
    /// again.
    func begin(_ preferences: [any DeclaredPreference]) throws(PreferenceProblems) {
        let checked = preferences.compactMap { CheckedPreference($0, in: store) }
        let others = preferences.filter { CheckedPreference($0, in: store) == nil }
        state.withLock { $0.preferences = checked }
        let names = names
        // Also of those names, because observers of all names aren't notified of changes below another value.
        let observations = [nil, names].map { names in
            store.subscribe(to: names) { [weak self] _ in self?.scheduleCheck() }
        }
        let (values, versions, found) = storedState()
        let problems = found + others.problems(.read)
        if !problems.isEmpty { throw PreferenceProblems(problems) }
        state.withLock { state in
            (state.values, state.versions) = (values, versions)
            state.observations = observations
        }
        // A change before that line is in neither.
        scheduleCheck()
    }

    // MARK: Checking

    /// Returns the values of all layers at one moment, their change counts, and the problems that the preferences have with them.
    private func storedState() -> ([String: PropertyListValue], versions: [UInt64], [PreferenceError]) {
        let snapshot = store.snapshot(of: names)
        let failures = snapshot.failures.compactMap { $0 }
        let problems = state.withLock { $0.preferences }.flatMap { preference in
            preference.problems(.lastValidState) { snapshot.candidates(for: $0, formerly: $1) }
        }
        let values = snapshot.values { Self.mirrors($0) ? Self.key($1) : nil }
        return (values, snapshot.versions, (failures + problems).withoutEqualTexts)
    }

    private func scheduleCheck() {
        let isNew = state.withLock { !exchange(&$0.isCheckScheduled, with: true) }
        guard isNew else { return }
        checks.run { [weak self] in
            self?.isolation.run {
                self?.state.withLock { $0.isCheckScheduled = false }
                self?.report(self?.check() ?? [])
            }
        }
    }

    /// Shows the stored state if it is valid; returns its problems, if they are others than before.
    private func check() -> [PreferenceError] {
        let began = state.withLock { $0.count }
        let (values, versions, problems) = storedState()
        let (host, isNew) = state.withLock { state in
            // Unless a check on another thread has found a newer state.
            guard !zip(versions, state.versions).contains(where: { $0 < $1 }) else {
                return (nil as PreferenceBackendHost?, false)
            }
            let later = state.written.filter { $0.number > began }
            (state.versions, state.written) = (versions, later)
            // Not by their lines, which another change of the file moves.
            let found = Set(problems.map(\.description.withoutLines))
            let isNew = state.reported != found
            state.reported = found
            guard problems.isEmpty else { return (nil, isNew) }
            // What was written since lies over the state that was checked; the write itself has scheduled another check.
            let new = later.reduce(into: values) { $0.change($1.changes) }
            state.host?.collect(state.values.changes(to: new))
            state.values = new
            return (state.host, false)
        }
        host?.changed([:])
        return isNew ? problems : []
    }

    private func report(_ problems: [PreferenceError]) {
        for problem in problems { store.report(problem) }
    }

    // MARK: The backend

    var timeout: Duration? { store.core.layers.timeout }

    func checkThreadMayBlock() throws(PreferenceError) { try store.core.layers.checkThreadMayBlock() }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        state.withLock { state in
            state.host = host
            return state.values
        }
    }

    func catchUp() throws(PreferenceError) {
        let problems = try isolation.run { () throws(PreferenceError) in
            // In a child of `fork` there might be no thread that does what its parent has scheduled.
            state.withLock { $0.isCheckScheduled = false }
            try store.load()
            return check()
        }
        // Not in the turn, as the issue handler may use the store.
        if !problems.isEmpty { checks.run { [self] in isolation.run { report(problems) } } }
    }

    func sync() throws(PreferenceError) { try isolation.run { () throws(PreferenceError) in try store.flush() } }

    var isWritable: Bool { isolation.run { store.isWritable } }

    func isManaged(_ name: String) -> Bool {
        original(name).map { store.core.layers.isManagedByBackend($0) } ?? false
    }

    /// Stores the changes in the original store, unless they would make a problem.
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        if let problem = problem(after: changes) { throw problem }
        // The store's observers may set something in this store, which is possible when the turn is over.
        let paused = store.core.layers.writable?.cores.filter { $0.pauseDelivery() } ?? []
        var isStored = false
        defer {
            if isStored {
                state.withLock { $0.paused[.current] = paused }
            } else {
                for core in paused { core.endPauseOfDelivery(elsewhere: true) }
            }
        }
        isStored = try store.core.commit(
            .several(original(changes)),
            ifStillHolds: TransactionReads(original(condition))
        )
        guard isStored else { return PreferenceBackendCommit(isStored: false) }
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

    func didApply() {
        let paused = state.withLock { $0.paused.removeValue(forKey: .current) ?? [] }
        for core in paused { core.endPauseOfDelivery(elsewhere: false) }
    }

    /// Returns the first problem that the changes would make of the state that is shown.
    private func problem(after changes: [String: PropertyListValue?]) -> PreferenceError? {
        let (values, preferences) = state.withLock { ($0.values, $0.preferences) }
        let list = store.core.layers
        for preference in preferences {
            let keys = preference.names.flatMap { name in
                list.layers.indices.map { Self.key($0) + list.layers[$0].spelled(name) }
            }
            guard keys.contains(where: { changes[$0] != nil }) else { continue }
            let problems = preference.problems(.rejected) { name, formerNames in
                list.candidates(for: name, formerly: formerNames) { index, name in
                    guard Self.mirrors(list.layers[index]) else { return list.layers[index].value(of: name) }
                    let name = Self.key(index) + list.layers[index].spelled(name)
                    return changes[name] ?? values[name]
                }
            }
            if let problem = problems.first { return problem }
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
}

extension String {
    /// The text without the numbers of lines that it names.
    fileprivate var withoutLines: String {
        let parts = split(separator: ", line ", omittingEmptySubsequences: false)
        return parts[0] + parts.dropFirst().map { $0.drop { ("0"..."9").contains($0) } }.joined()
    }
}
