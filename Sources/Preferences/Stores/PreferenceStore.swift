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

    /// Makes a store that shows several as one: the first that has a name answers.
    ///
    /// Writes go to the first layer that takes them; `arguments`, `environment`, `managed` and `system` don't. A name
    /// that a managed layer has can't be changed: `write` throws `managed`. A value that is set below a stronger layer's
    /// is stored and reported as `hidden`, once for each name; `update` and transactions read and write as if the read-only
    /// layers above the writable one were absent. `Preference.source` tells which layer answers. A layer's change is
    /// visible in the layered store as soon as in the layer.
    public static func layered(_ layers: [PreferenceStore]) -> PreferenceStore {
        let showsShared = layers.contains { $0.standIn != nil }
        let store = PreferenceStore(layers: layers, standIn: showsShared ? .layers(layers) : nil)
        if showsShared { SharedStores.register(layered: store) }
        return store
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
