// Values that are stored and can't be read now: of a layer that can't be opened, and locked ones.

/// Why values of a layer can't be read.
struct LayerFailure {
    let opening: PreferenceError?
    /// By the source's names.
    let locked: [String: PreferenceError]
}

extension StoreCore {
    /// Why values of the layers can't be read; nil if all can be. Asked before the values: they might become readable behind that.
    func failures() -> [LayerFailure]? {
        prepare()
        let isReadable = layers.allSatisfy { $0.source.isOpen && $0.source.locked.isEmpty }
        if isReadable { return nil }
        return layers.map { LayerFailure(opening: $0.source.openingError, locked: $0.source.locked) }
    }

    /// Returns why a value can't be read that comes before the one that is used, or before the default.
    func failure(of node: Node, before used: Candidate?, _ failures: [LayerFailure]) -> PreferenceError? {
        let names = names(of: node)
        for (index, failure) in failures.enumerated() where index <= used?.layer ?? .max {
            if let used, used.layer == index {
                return names.prefix(used.name).lazy.compactMap { failure.locked[self.layers[index].key($0)] }.first
            }
            let locked = names.lazy.compactMap { failure.locked[self.layers[index].key($0)] }.first
            if let error = failure.opening ?? locked { return error }
        }
        return nil
    }

    func names(of node: Node) -> [String] { publishing.withLock { [node.name] + node.formerNames } }

    /// Why values of the writable layer can't be read, by its own names.
    var locked: [String: PreferenceError] { target?.locked ?? [:] }

    /// Returns whether the writable layer's value of a preference is locked.
    func isLocked(_ name: String) -> Bool {
        guard let writable, case let locked = locked, !locked.isEmpty else { return false }
        return names(of: node(name)).contains { locked[writable.key($0)] != nil }
    }

    /// Throws if the writable layer's value of the first of these names that has one is locked.
    ///
    /// - Parameter edits: The values to assume there.
    func checkUnlocked(
        _ names: @autoclosure () -> [String],
        after edits: [String: PropertyListValue?]
    ) throws(PreferenceError) {
        guard let writable, case let locked = locked, !locked.isEmpty else { return }
        for name in names() {
            if let edit = edits[name] {
                if edit == nil { continue }
                return
            }
            let key = writable.key(name)
            if let error = locked[key] { throw error.named(name) }
            if publishing.withLock({ writable.source.table[key] }) != nil { return }
        }
    }

    /// Reports, once each, the locked values of names that are going to be read.
    func reportLocked(_ names: NamesInUse) {
        for layer in layers where layer.source.goesStale {
            let locked = layer.source.locked
            if locked.isEmpty { continue }
            let used: [String] =
                switch names {
                case .node(let node): self.names(of: node)
                case .nodes(let nodes): nodes.flatMap(self.names)
                case .name(let name): [name]
                case .all: []
                }
            for name in used { if let error = locked[layer.key(name)] { reportOnce(error.named(name)) } }
        }
    }
}
