/// The values of a store's layers at one moment.
package struct StoreSnapshot: Sendable {
    private let core: StoreCore
    /// Those of each layer, by the source's names.
    private let values: [[String: PropertyListValue]]
    private let failures: [LayerFailure]?

    /// Creates the snapshot of all names, or of some preferences.
    fileprivate init(of core: StoreCore, _ nodes: [Node]?) {
        self.core = core
        failures = core.failures()
        // In one piece, in which a transaction is seen as a whole.
        values = core.publishing.withLock {
            core.layers.map { layer in
                var values: [String: PropertyListValue] = [:]
                if let nodes {
                    for name in nodes.flatMap({ [$0.name] + $0.formerNames }) {
                        values[layer.key(name)] = layer.source.table[layer.key(name)]
                    }
                } else {
                    layer.source.table.forEach { values[$0.name] = $0.value }
                }
                return values
            }
        }
    }

    /// The value of a name, as the store's subscript returns it.
    package subscript(name: String) -> PropertyListValue? { candidates([name]).first?.value }

    /// Returns the values of a preference's names, the strongest first.
    func candidates(_ names: [String]) -> [Candidate] {
        var found: [Candidate] = []
        for (index, layer) in core.layers.enumerated() {
            var keys: [String] = []
            for (number, name) in names.enumerated() {
                let key = layer.key(name)
                if !keys.contains(key), let value = values[index][key] {
                    found.append(Candidate(value: value, layer: index, name: number))
                }
                keys.append(key)
            }
        }
        return found
    }

    /// Returns why a name might have another value: the first layer that has one, or can't be read.
    package func failure(above name: String) -> PreferenceError? {
        for (index, failure) in (failures ?? []).enumerated() {
            let key = core.layers[index].key(name)
            if values[index][key] != nil { return nil }
            if let error = failure.opening ?? failure.locked[key] { return error }
        }
        return nil
    }
}

extension StoreSnapshot: Equatable {
    /// Returns whether both have the same values, and lack those of the same layers.
    package static func == (left: StoreSnapshot, right: StoreSnapshot) -> Bool {
        left.core === right.core && left.values == right.values
            && left.failures?.map { $0.opening == nil } == right.failures?.map { $0.opening == nil }
    }
}

extension StoreCore {
    /// Returns the values of all names at one moment, or those of some names and of their former names.
    func snapshot(of names: [String]? = nil) -> StoreSnapshot {
        guard let names else {
            prepare(.all)
            return StoreSnapshot(of: self, nil)
        }
        let nodes = names.map(node)
        prepare(.nodes(nodes))
        return StoreSnapshot(of: self, nodes)
    }
}
