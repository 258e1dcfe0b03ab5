/// The stores that the whole program shares: created at the first use and never released.
enum SharedStores {
    private struct Registry {
        var suites: [String: PreferenceStore] = [:]
        /// All stores with a replacement.
        var replaceable: [Replaceable] = []
    }

    private struct Replaceable {
        weak var core: StoreCore?
    }

    private static let registry = Lock(Registry())

    static let standard = make(isStandard: true)
    static let state = make()

    static func suite(_ name: String) -> PreferenceStore {
        if let known = registry.withLock({ $0.suites[name] }) { return known }
        // Without the lock, as it is registered, too. If two threads get here, the first one's store is used.
        let made = make()
        return registry.withLock { registry in
            if let known = registry.suites[name] { return known }
            registry.suites[name] = made
            return made
        }
    }

    private static func make(isStandard: Bool = false) -> PreferenceStore {
        PreferenceStore(Layer(source: Source([:])), replacement: .memory(isStandard: isStandard))
    }

    /// Adds a store to those that `dropCachedValues` reaches.
    static func register(_ store: PreferenceStore) {
        registry.withLock { registry in
            // Those that are gone are removed when the list would grow, so an addition takes constant time.
            let all = registry.replaceable
            if all.count == all.capacity { registry.replaceable.removeAll { $0.core == nil } }
            registry.replaceable.append(Replaceable(core: store.core))
        }
    }

    /// Drops the decoded values that stores with a replacement have cached, if `isNeeded` returns true.
    static func dropCachedValues(if isNeeded: () -> Bool) {
        let cores = registry.withLock { registry -> [StoreCore] in
            isNeeded() ? registry.replaceable.compactMap(\.core) : []
        }
        for core in cores { core.dropCachedValues() }
    }
}

extension PreferenceStore {
    /// The store of this program; in memory, as in a test process, until there are files.
    public static var standard: PreferenceStore { SharedStores.standard }

    /// The store of what this program remembers by itself; in memory, as `standard`.
    public static var state: PreferenceStore { SharedStores.state }

    /// Returns the store of a name that several programs may share; in memory, as `standard`.
    public static func suite(_ name: String) -> PreferenceStore { SharedStores.suite(name) }

    /// Creates a store that combines several: the first that has a name determines its value.
    ///
    /// Writes go to the first writable layer; `arguments`, `environment`, `managed` and `system` are read-only. A name that a
    /// managed layer has can't be changed: `write` throws `managed`. A value set below a stronger layer's is stored and
    /// reported as `hidden`, once for each name; `update` and transactions read and write as if the read-only layers above the
    /// writable one were absent. `Preference.source` names the layer that a value comes from. A layer's change is visible in
    /// the layered store as soon as in the layer.
    public static func layered(_ layers: [PreferenceStore]) -> PreferenceStore {
        let showsShared = layers.contains { $0.replacement != nil }
        return PreferenceStore(layers: layers, replacement: showsShared ? .layers(layers) : nil)
    }
}

extension PreferenceStore {
    /// The stores that the calling code sees in place of the shared ones, to pass on to detached tasks, queues and threads.
    public static var isolation: PreferenceIsolation {
        PreferenceIsolation.current
    }

    /// Runs `body` with a new in-memory store in place of `.standard`, `.state` and of every `.suite`.
    ///
    /// Every preference uses the new stores while it is used inside `body`, also those in static properties and in objects
    /// created before; each suite has its own store. Layered stores over a shared one are replaced, too. Stores that the
    /// program creates, such as those of `file(at:)`, are not replaced. Child tasks and `Task { … }` inherit the scope until
    /// they end; detached tasks, dispatch queues and threads don't: pass `isolation` on to them. Observations and
    /// iterators continue with the stores of the scope that they were created in. Scopes nest; the innermost is used. Any
    /// number may be open at once.
    ///
    /// - Parameters:
    ///   - contents: The initial contents of `.standard`.
    ///   - body: The closure to run with the new stores, on the calling thread; its result is returned, its error thrown.
    public static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try IsolationScope.with(scope(contents), body)
    }

    /// Runs an asynchronous `body` as the synchronous form does. `body` runs on the caller's actor.
    public nonisolated(nonsending) static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolationScope.with(scope(contents), body)
    }

    private static func scope(_ contents: [String: PropertyListValue]) -> IsolationScope {
        IsolationScope(contents) { SharedStores.dropCachedValues(if: $0) }
    }
}
