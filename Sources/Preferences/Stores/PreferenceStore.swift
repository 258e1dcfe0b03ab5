internal import DurableFile

/// Where values live: it caches, observes and isolates what a backend keeps.
///
/// All of it may be used on any thread. A store is loaded at its first read or write, not before. A set is visible to
/// every reader in the process before it returns, and observers are called without a lock held.
public final class PreferenceStore: Sendable {
    let state = Lock(StoreState())
    let source: any StoreSource
    /// What takes its place inside `withIsolatedStores`; nil for a store of one's own.
    let standIn: StandIn?
    /// What part the store plays as a layer of another.
    let role: StoreRole
    let issues = IssueReporter()

    init(source: any StoreSource, standIn: StandIn? = nil, role: StoreRole = StoreRole()) {
        self.source = source
        self.standIn = standIn
        self.role = role
    }

    /// Makes a store over a backend of one's own.
    ///
    /// Each call makes a store with a cache of its own: give one backend to one store. The backend is loaded at the
    /// first read or write; where that fails, reads give defaults, the error goes to the issue handler, and each write
    /// tries again.
    public convenience init(backend: any PreferenceBackend) {
        if let discovering = backend as? any DiscoveringBackend {
            self.init(source: BackendSource(discovering: discovering))
        } else {
            self.init(source: BackendSource { _ in backend })
        }
    }

    /// Makes a store that keeps its values in memory only.
    public static func inMemory(_ contents: [String: PropertyListValue] = [:]) -> PreferenceStore {
        PreferenceStore(source: BackendSource { _ in MemoryBackend(contents) })
    }

    /// Reads the backend unless that is done, and what it has under `names` where it doesn't list what it holds.
    func load(_ names: some Collection<String> & Sendable = EmptyCollection()) {
        let (isLoaded, undiscovered) = state.withLock { ($0.isLoaded, $0.undiscovered(among: names)) }
        if !isLoaded {
            source.load(into: self)
            return discover(state.withLock { $0.undiscovered(among: names) })
        }
        discover(undiscovered)
    }

    /// Whether nobody has asked the backend for the name yet, and it lists only what it was asked for.
    func isUndiscovered(_ name: String) -> Bool {
        state.withLock { !$0.undiscovered(among: CollectionOfOne(name)).isEmpty }
    }

    /// The names that were declared or observed, in this store or one that shows it, of which the backend was not asked.
    var undiscoveredDeclarations: Set<String> {
        let (names, dependents) = state.withLock { ($0.undiscoveredDeclarations, $0.dependents) }
        return dependents.reduce(names) { names, dependent in
            names.union(dependent.store?.undiscoveredDeclarations ?? [])
        }
    }

    private func discover(_ names: Set<String>) {
        if !names.isEmpty { source.discover(names, for: self) }
    }

    /// What may answer for a name, with the ticket to keep its decoded value in `cell`.
    func candidates(for name: String, cell: PreferenceCell) -> ([StoredCandidate], ticket: UInt64) {
        load(CollectionOfOne(name))
        return state.withLock { ($0.contents.candidates(for: name), cell.ticket) }
    }

    /// Everything that names read as just now, also those that were declared and never read.
    var snapshot: StoreContents {
        load()
        let (contents, isComplete) = state.withLock { ($0.contents, $0.discovered == nil) }
        guard !isComplete else { return contents }
        discover(undiscoveredDeclarations)
        return state.withLock { $0.contents }
    }

    /// What names read as just now; those given are among them.
    func snapshot(with name: String) -> StoreContents {
        load(CollectionOfOne(name))
        return state.withLock { $0.contents }
    }

    /// Stores all of `changes` or nothing, and tells who observes; false where `condition` no longer holds.
    func commit(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition = .none,
        for initiator: PreferenceStore? = nil
    ) throws(PreferencesError) -> Bool {
        guard !role.isReadOnly else {
            throw PreferencesError(.readOnly, "the \(role.name) store can only be read; nothing was changed")
        }
        load(changes.keys)
        guard AnswerDepth.current <= Self.answerDepthLimit else {
            throw PreferencesError(loopOver: changes, limit: Self.answerDepthLimit)
        }
        if state.withLock({ $0.announcedCount > 0 }) { try announce(changes) }
        return try source.commit(changes, if: condition, in: self, for: initiator ?? self)
    }
}

/// Where a store gets its values from: a backend, or other stores.
protocol StoreSource: AnyObject, Sendable {
    /// Gives the store its first contents; does nothing where it has them.
    func load(into store: PreferenceStore)

    /// Gets what is stored under names that `load` need not have told of; see `DiscoveringBackend`.
    func discover(_ names: Set<String>, for store: PreferenceStore)

    /// As `load`, but throws where the contents can't be had.
    func open(for store: PreferenceStore) throws(PreferencesError)

    /// Stores the changes, makes `store` take them, and delivers; false where `condition` did not hold.
    ///
    /// `initiator` is the store that was asked, which has announced the changes: `store`, or a layered store above it.
    func commit(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition,
        in store: PreferenceStore,
        for initiator: PreferenceStore
    ) throws(PreferencesError) -> Bool

    /// Blocks until everything committed so far survives a loss of power.
    func sync() throws(PreferencesError)

    /// Returns when everything committed so far survives a loss of power.
    func flush() async throws(PreferencesError)

    /// Whether an administrator decides about the name's value, or may have decided.
    func isManaged(_ name: String) -> Bool

    /// Whether the contents were read.
    var isOpen: Bool { get }

    /// The store that takes the writes of `store`.
    func writable(of store: PreferenceStore) -> PreferenceStore
}
