internal import DurableFile

/// Several stores shown as one: the first that has a name answers, the first that takes writes gets them.
///
/// It has no lock over its layers: each pushes its changes into the layered store in the same step in which it takes
/// them itself, under the lock that orders its commits.
final class LayeredSource: StoreSource {
    private enum Stage {
        case unmade(@Sendable () -> [PreferenceStore])
        case made([PreferenceStore])
    }

    private let stage: Lock<Stage>
    private let attached = Lock(false)
    private let discovery = Lock(())

    /// Makes a source whose layers, the strongest first, are made at the first use.
    init(_ make: @escaping @Sendable () -> [PreferenceStore]) {
        stage = Lock(.unmade(make))
    }

    /// The layers, the strongest first; those of a layered store in its place.
    private var layers: [PreferenceStore] {
        stage.withLock { stage in
            switch stage {
            case .made(let layers):
                return layers
            case .unmade(let make):
                let all = make().flatMap { ($0.source as? LayeredSource)?.layers ?? [$0] }
                // An administrator decides, wherever the layer is listed.
                let layers = all.filter(\.role.isManaged) + all.filter { !$0.role.isManaged }
                stage = .made(layers)
                return layers
            }
        }
    }

    private var writableLayer: PreferenceStore? { layers.first { !$0.role.isReadOnly } }

    private func writableIndex(in layers: [PreferenceStore]) -> Int? {
        layers.firstIndex { !$0.role.isReadOnly }
    }

    func load(into store: PreferenceStore) {
        let layers = layers
        for layer in layers { layer.issues.forward(to: store.issues) }
        for layer in layers { layer.load() }
        let writable = writableIndex(in: layers)
        attached.withLock { isAttached in
            guard !isAttached else { return }
            isAttached = true
            let empty = layers.enumerated().map { index, layer in
                StoreContents.Layer(
                    name: index == writable ? nil : layer.role.name,
                    isText: layer.role.isText,
                    spelling: layer.role.spelling
                )
            }
            let isComplete = layers.allSatisfy { layer in layer.state.withLock { $0.discovered == nil } }
            store.state.withLock { $0.begin(with: StoreContents(layers: empty), isComplete: isComplete) }
            for (index, layer) in layers.enumerated() {
                // In one step with the layer's state, so that no change is missed and none comes twice.
                let others = layer.state.withLock { below in
                    let changes = below.contents.merged.mapValues { Optional($0) }
                    store.state.withLock { state in _ = state.take(changes, layer: index, origin: .local) }
                    return below.attach(StoreDependent(store: store, layer: index))
                }
                withExtendedLifetime(others) {}
            }
            // Last, so that no other thread reads while layers are missing.
            _ = store.state.withLock { $0.finishLoading() }
        }
    }

    func discover(_ names: Set<String>, for store: PreferenceStore) {
        // One at a time, so that a name is taken silently only before anybody can have read it here.
        discovery.withLock { _ in
            let names = store.state.withLock { $0.undiscovered(among: names) }
            guard !names.isEmpty else { return }
            var discovered = names
            for (index, layer) in layers.enumerated() {
                layer.load(names)
                let missing = layer.state.withLock { below in
                    let values = below.contents.merged.filter { names.contains($0.key) }
                    store.state.withLock { $0.discover(values, layer: index) }
                    return below.undiscovered(among: names)
                }
                // A layer that can't be loaded will tell of these once it can.
                discovered.subtract(missing)
            }
            store.state.withLock { [discovered] in $0.finishDiscovery(of: discovered) }
        }
    }

    func open(for store: PreferenceStore) {
        load(into: store)
    }

    func commit(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition,
        in store: PreferenceStore,
        for initiator: PreferenceStore
    ) throws(PreferencesError) -> Bool {
        let layers = layers
        guard let index = writableIndex(in: layers) else {
            throw PreferencesError(
                .readOnly,
                "no layer of the store takes writes; add one that does, such as a file or a memory store"
            )
        }
        for layer in layers where layer.role.isManaged { try Self.checkPolicy(of: layer) }
        let (managed, below) = store.state.withLock { state -> (String?, PreferenceCondition?) in
            let imposing = layers.indices.prefix(index).filter { layers[$0].role.isManaged }
            let managed = changes.keys.first { name in
                imposing.contains { state.contents.layers[$0].values[name] != nil }
            }
            return (managed, state.contents.condition(condition, onLayer: index))
        }
        if let managed {
            throw PreferencesError(
                .managed,
                name: managed,
                "the value is managed by an administrator and can't be changed here; nothing was changed"
            )
        }
        guard let below else { return false }
        return try layers[index].commit(changes, if: below, for: initiator)
    }

    func sync() throws(PreferencesError) {
        try writableLayer?.source.sync()
    }

    func flush() async throws(PreferencesError) {
        try await writableLayer?.source.flush()
    }

    func isManaged(_ name: String) -> Bool {
        layers.contains { layer in
            if layer.role.isManaged {
                return !layer.source.isOpen || layer.state.withLock { $0.contents.merged[name] != nil }
            }
            return !layer.role.isReadOnly && layer.source.isManaged(name)
        }
    }

    var isOpen: Bool { true }

    /// Throws if it isn't known what an administrator has decided: then anything might be.
    private static func checkPolicy(of layer: PreferenceStore) throws(PreferencesError) {
        guard !layer.source.isOpen else { return }
        do throws(PreferencesError) { try layer.source.open(for: layer) } catch {
            throw PreferencesError(
                .managed,
                "what an administrator has decided can't be read, so that nothing can be changed here; mend that file",
                cause: error
            )
        }
    }

    func writable(of store: PreferenceStore) -> PreferenceStore {
        writableLayer ?? store
    }
}

extension PreferenceStore {
    /// Makes a store that shows several as one: the first that has a name answers.
    ///
    /// Writes go to the first layer that takes them; `arguments`, `environment`, `managed` and `system` don't. A name
    /// that a managed layer has can't be changed: `write` throws `managed`. `Preference.source` tells which layer
    /// answers. A layer's change is visible in the layered store as soon as in the layer.
    public static func layered(_ layers: [PreferenceStore]) -> PreferenceStore {
        let showsShared = layers.contains { $0.standIn != nil }
        let store = PreferenceStore(source: LayeredSource { layers }, standIn: showsShared ? .layers(layers) : nil)
        if showsShared { SharedStores.register(layered: store) }
        return store
    }
}
