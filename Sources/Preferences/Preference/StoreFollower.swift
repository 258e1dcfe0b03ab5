/// The values of a store's layers for a backend over it, and what has changed since it has read them, all at one moment.
package final class StoreFollower: Sendable {
    private let store: PreferenceStore
    private let observation = Lock<PreferenceObservation?>(nil)

    package init(_ layers: [Layer], of original: PreferenceStore) {
        store = PreferenceStore(layers, issues: original.core.issues, scope: original.core.scope, isFollowed: true)
    }

    private var core: StoreCore { store.core }

    package var sources: [Source] { core.layers.map(\.source) }

    /// Why layers can't be read.
    package var failures: [PreferenceError] { core.layers.compactMap(\.source.openingError) }

    /// Opens the layers, and returns all their values by the layers' own names. From then on, `changed` is called after each change; what
    /// changes meanwhile is among the next changes, too.
    package func begin(_ changed: @escaping @Sendable () -> Void) -> [(layer: Int, change: StoredChange)] {
        let observation = store.subscribe { _ in changed() }
        let replaced = self.observation.withLock { exchange(&$0, with: observation) }
        withExtendedLifetime(replaced) {}
        return core.layers.enumerated().flatMap { index, layer in
            layer.source.contents.compactMap { key, value in
                layer.name(of: key).map { (index, StoredChange($0, value)) }
            }
        }
    }

    /// Returns the values, in each layer, of the names that have changed since the last call.
    package func changes() -> [(layer: Int, change: StoredChange)] {
        core.publishing.withLock {
            exchange(&core.noted, with: []).flatMap { name in
                core.layers.enumerated().map { ($0, StoredChange(name, $1.source.table[$1.key(name)])) }
            }
        }
    }

    /// Asks keyed layers for names that they weren't asked for yet.
    package func ask(for names: [String]) throws(PreferenceError) {
        do { for name in names { try core.ask(for: .name(name)) } } catch {
            throw PreferenceError(.unavailable, from: error)
        }
    }

    /// Returns the value of a name in a layer.
    package func value(of name: String, in layer: Int = 0) -> PropertyListValue? {
        let layer = core.layers[layer]
        return layer.source.publishing.withLock { layer.source.table[layer.key(name)] }
    }
}
