// Names of sources that are asked for single names.

/// Names that a store is going to read.
enum NamesInUse {
    case node(Node)
    case nodes([Node])
    case name(String)
    /// Those of all declarations.
    case all
}

extension StoreCore {
    /// Prepares, and asks keyed sources for what a read needs.
    func prepare(_ names: NamesInUse, until deadline: PreferenceDeadline? = nil) {
        prepare(until: deadline)
        // The source has reported what fails.
        if hasKeyed { do { try ask(for: names, until: deadline) } catch {} }
    }

    /// Asks keyed sources for names that they weren't asked for yet.
    func ask(for names: NamesInUse, until deadline: PreferenceDeadline? = nil) throws {
        for (index, layer) in layers.enumerated() where layer.source.isKeyed {
            let unknown = publishing.withLock { self.unknown(names, index, layer) }
            if !unknown.isEmpty { try layer.source.read(unknown, until: deadline ?? layer.source.timeout) }
        }
    }

    private func unknown(_ names: NamesInUse, _ index: Int, _ layer: Layer) -> [String] {
        switch names {
        case .node(let node): return node.unknown(in: index)
        case .nodes(let nodes): return nodes.flatMap { $0.unknown(in: index) }
        case .name(let name): return isUnknown(name, layer) ? [layer.key(name)] : []
        case .all:
            var all: [String] = []
            nodes.forEach { all += $0.unknown(in: index) }
            return all
        }
    }

    /// Whether a keyed source couldn't be asked for a name, so that the next read has to; call under the publish lock.
    func isUnknown(_ node: Node) -> Bool {
        layers.indices.contains { layers[$0].source.isKeyed && !node.unknown(in: $0).isEmpty }
    }

    private func isUnknown(_ name: String, _ layer: Layer) -> Bool {
        !(layer.source.table.entry(layer.key(name))?.isKnown ?? false)
    }

    /// Whether a keyed source wasn't asked for a name; call under the publish lock.
    func isUnknown(_ name: String) -> Bool {
        hasKeyed && layers.contains { $0.source.isKeyed && isUnknown(name, $0) }
    }
}
