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
    /// Prepares, and asks keyed sources for what a read needs; reports what of that is locked.
    func prepare(_ names: NamesInUse, until deadline: PreferenceDeadline? = nil) {
        prepare(until: deadline)
        if goesStale { reportLocked(names) }
        // The source has reported what fails.
        if hasKeyed { do { try ask(for: names, until: deadline) } catch {} }
    }

    /// Asks keyed sources for names that they weren't asked for yet, or that might have changed since.
    ///
    /// - Parameters:
    ///   - again: Whether those are included that they were asked for already.
    ///   - deadline: Until when it waits for a source; the source's own if it is nil.
    func ask(for names: NamesInUse, again: Bool = false, until deadline: PreferenceDeadline? = nil) throws {
        for (index, layer) in layers.enumerated() where layer.source.isKeyed {
            let needed = publishing.withLock { self.needed(names, again, index, layer) }
            if !needed.isEmpty { try layer.source.read(needed, for: .use, until: deadline ?? layer.source.timeout) }
        }
    }

    /// Asks keyed sources for what an update or a transaction is going to read, even if it is known: not each change by another process is
    /// noticed.
    func askBeforeChange(for names: NamesInUse, until deadline: PreferenceDeadline) throws {
        for layer in layers where layer.source.isKeyed { try layer.source.readChanged(until: deadline) }
        let again = if case .node = names { true } else { false }
        try ask(for: names, again: again, until: deadline)
    }

    private func needed(_ names: NamesInUse, _ again: Bool, _ index: Int, _ layer: Layer) -> [String] {
        switch names {
        case .node(let node): return node.names(in: index, again: again)
        case .nodes(let nodes): return nodes.flatMap { $0.names(in: index, again: again) }
        case .name(let name): return isUnknown(name, layer) ? [layer.key(name)] : []
        case .all:
            var all: [String] = []
            nodes.forEach { all += $0.names(in: index, again: again) }
            return all
        }
    }

    private func isUnknown(_ name: String, _ layer: Layer) -> Bool {
        !(layer.source.table.entry(layer.key(name))?.isKnown ?? false)
    }

    /// Whether a keyed source wasn't asked for a name; call under the publish lock.
    func isUnknown(_ name: String) -> Bool {
        hasKeyed && layers.contains { $0.source.isKeyed && isUnknown(name, $0) }
    }
}
