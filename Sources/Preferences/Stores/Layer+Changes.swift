/// The effect that a change in one layer has on the value that is read.
enum ChangeEffect {
    /// A stronger layer's value is read as before, if it can be decoded.
    case below
    case shown
}

extension LayerList {
    /// Returns the effect of a change on the value that a name reads as; nil if the layer spells names differently, because its
    /// values never change.
    @inline(__always)
    func effect(of change: ValueChange, in source: Source) -> ChangeEffect? {
        if isPlain { return .shown }
        var isConcerned = false
        var old: PropertyListValue?
        var new: PropertyListValue?
        // The source may be several layers. Each value is that of the first layer that has one.
        for layer in layers where old == nil || new == nil {
            if layer.source === source, layer.spelling == nil {
                isConcerned = true
                (old, new) = (old ?? change.old, new ?? change.new)
            } else if let value = layer.value(of: change.name) {
                (old, new) = (old ?? value, new ?? value)
            }
        }
        guard isConcerned || old != nil else { return nil }
        return old == new ? .below : .shown
    }

    /// Returns the changes of the values that names read as, for layers that show a part of the source.
    func entries(for changes: [String: PropertyListValue?], in source: Source) -> [ChangeEntry] {
        var names: Set<String> = []
        for layer in layers where layer.source === source {
            names.formUnion(changes.keys.compactMap(layer.preferenceName))
        }
        return names.compactMap { entry(for: $0, after: changes, in: source) }
    }

    /// Returns the change of the values that a name and its former names read as; nil if they stay the same.
    func entry(
        for name: String,
        formerly names: [String] = [],
        after changes: [String: PropertyListValue?],
        in source: Source
    ) -> ChangeEntry? {
        let old = candidates(for: name, formerly: names)
        let new = candidates(for: name, formerly: names) { index, name in
            let layer = layers[index]
            guard layer.source === source, let new = changes[layer.spelled(name)] else { return layer.value(of: name) }
            return new
        }
        return old == new ? nil : ChangeEntry(name: name, old: old, new: new)
    }

    func entry(for change: ValueChange, in source: Source) -> ChangeEntry {
        if isPlain {
            return ChangeEntry(
                name: change.name,
                old: candidate(change.old, of: change.name),
                new: candidate(change.new, of: change.name)
            )
        }
        return ChangeEntry(
            name: change.name,
            old: candidates(for: change.name),
            new: candidates(for: change.name, with: change.new, in: source)
        )
    }

    private func candidate(_ value: PropertyListValue?, of name: String) -> StoredCandidates {
        var candidates = StoredCandidates()
        if let value { candidates.append(candidate(value, at: 0, of: name)) }
        return candidates
    }
}
