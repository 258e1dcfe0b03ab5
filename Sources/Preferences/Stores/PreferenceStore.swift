internal import DurableFile

/// Where values live: it caches, observes and isolates what a backend keeps.
///
/// All of it may be used on any thread. A store is loaded at its first read or write, not before. A set is visible to
/// every reader in the process before it returns, and observers are called without a lock held.
public final class PreferenceStore: Sendable {
    let core: StoreCore
    /// What takes its place inside `withIsolatedStores`; nil for a store of one's own.
    let standIn: StandIn?

    /// Makes a store over one source, whose issues are the store's.
    init(_ layer: Layer, standIn: StandIn? = nil) {
        core = StoreCore(issues: layer.source.issues) { [layer] }
        self.standIn = standIn
    }

    /// Makes a store over layers, the strongest first, which are made at the first use.
    init(standIn: StandIn?, layers: @escaping @Sendable () -> [Layer]) {
        core = StoreCore(issues: IssueReporter(), layers: layers)
        self.standIn = standIn
    }

    /// Makes a store over the layers of others.
    convenience init(layers stores: [PreferenceStore], standIn: StandIn? = nil) {
        self.init(standIn: standIn) { stores.flatMap(\.asLayers) }
    }

    deinit {
        core.detach()
    }

    /// Makes a store over a backend of one's own.
    ///
    /// Each call makes a store with a cache of its own: give one backend to one store. The backend is loaded at the
    /// first read or write; where that fails, reads give defaults, the error goes to the issue handler, and each write
    /// tries again.
    public convenience init(backend: any PreferenceBackend) {
        self.init(Layer(source: Source(backend, asked: backend as? any DiscoveringBackend)))
    }

    /// Makes a store that keeps its values in memory only.
    public static func inMemory(_ contents: [String: PropertyListValue] = [:]) -> PreferenceStore {
        PreferenceStore(Layer(source: Source(contents)))
    }

    /// The store's layers, as another store has them among its own.
    var asLayers: [Layer] {
        core.layers.layers.map { layer in
            var layer = layer
            layer.owner = self
            return layer
        }
    }
}

/// What takes a store's place inside `withIsolatedStores`.
enum StandIn: Sendable {
    /// A fresh store in memory, with the contents that the scope was opened with where it stands for the standard store.
    case memory(isStandard: Bool)
    /// The same layers, each by its stand-in where it has one.
    case layers([PreferenceStore])

    fileprivate func make(in scope: IsolationScope) -> PreferenceStore {
        switch self {
        case .memory(let isStandard): .inMemory(isStandard ? scope.initialContents : [:])
        case .layers(let layers): PreferenceStore(layers: layers.map { $0.standIn(in: scope) ?? $0 })
        }
    }
}

extension PreferenceStore {
    /// This store, or the one that stands in for it inside `withIsolatedStores`.
    var resolved: PreferenceStore { isolated ?? self }

    /// The store that stands in for this one just now, if any.
    var isolated: PreferenceStore? {
        guard standIn != nil, let scope = IsolationScope.inEffect else { return nil }
        return standIn(in: scope)
    }

    fileprivate func standIn(in scope: IsolationScope) -> PreferenceStore? {
        standIn.map { standIn in scope.standIn(for: self) { standIn.make(in: scope) } }
    }

    /// Whether reads must not be kept, since another store answers for some of the readers.
    var keepsNothing: Bool { standIn != nil && IsolationScope.areOpen }
}

extension PreferenceStore {
    /// Sets who is told of unreadable values, refused sets that can't throw, and damage; nil for the default handler.
    ///
    /// The handler is called on the thread where the issue arose, without a lock held, and may use the store. An issue that
    /// arises on that thread while a handler runs is handled when it has returned; where each one leads to another, the
    /// handlers are no longer called after a thousand. One store
    /// has one handler: a later call replaces it. A layered store's also gets what its layers find, such as a damaged
    /// line of a file, unless the layer has a handler of its own.
    public func onIssue(_ handler: (@Sendable (PreferencesError) -> Void)?) {
        resolved.core.issues.setHandler(handler)
    }

    /// Who is told of the issues of stores that have no handler of their own.
    ///
    /// At first it writes to the log: `os.Logger` on Apple platforms, standard error elsewhere.
    public static var defaultIssueHandler: @Sendable (PreferencesError) -> Void {
        get { IssueReporter.standardHandler }
        set { IssueReporter.standardHandler = newValue }
    }

    func report(_ error: PreferencesError) {
        core.report(error)
    }

    /// Reports what could not be read, once for each stored value and kind of reader.
    func report(unreadable problems: [PreferencesError], name: String, key: SlotKey) {
        guard !problems.isEmpty, core.state.withLock({ $0.isFirstReport(on: name, by: key) }) else { return }
        for problem in problems { report(problem) }
    }
}
