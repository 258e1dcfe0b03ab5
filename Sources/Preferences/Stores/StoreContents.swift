/// What a store's names read as, before decoding: a value that can be taken as a snapshot.
struct StoreContents: Sendable {
    /// For a layered store the layers, the strongest first; else empty.
    private(set) var layers: [Layer] = []
    /// What each name reads as; for a layered store the strongest layer's value.
    private(set) var merged: [String: PropertyListValue] = [:]

    /// One layer's values.
    struct Layer: Sendable {
        /// Nil for the layer that takes the writes.
        let name: String?
        /// Whether the values are text that a person wrote for a declared type, as in an argument.
        let isText: Bool
        /// How a preference's name is written in the layer, where that is another way; such names are not listed.
        let spelling: (@Sendable (String) -> String)?
        var values: [String: PropertyListValue] = [:]

        func candidate(for preference: String) -> StoredCandidate? {
            values[spelling?(preference) ?? preference].map(candidate)
        }

        func candidate(_ value: PropertyListValue) -> StoredCandidate {
            StoredCandidate(value: value, isText: isText, layer: name)
        }
    }

    init(_ values: [String: PropertyListValue] = [:]) {
        merged = values
    }

    /// Makes the contents of a layered store whose layers hold nothing yet.
    init(layers: [Layer]) {
        self.layers = layers
    }

    /// The layer that takes the writes; nil where the store has no layers, or none of them does.
    var writableLayer: Int? { layers.firstIndex { $0.name == nil } }

    /// What may answer for a name, the strongest first.
    func candidates(for name: String) -> [StoredCandidate] {
        guard !layers.isEmpty else { return merged[name].map { [StoredCandidate(value: $0)] } ?? [] }
        return layers.compactMap { $0.candidate(for: name) }
    }

    /// What a name would read as before and after it was set, in a layered store in that layer; nil where nobody would
    /// read anything else.
    func change(of name: String, to value: PropertyListValue?, layer index: Int?) -> ChangeEntry? {
        let old = self.value(of: name)
        guard let index else { return old == value ? nil : ChangeEntry(name: name, old: old, new: value) }
        let after = layers.indices.compactMap { layer in
            layer == index ? value.map { layers[layer].candidate($0) } : layers[layer].candidate(for: name)
        }
        let before = candidates(for: name)
        return before == after ? nil : ChangeEntry(name: name, old: before, new: after)
    }

    /// What a name reads as.
    func value(of name: String) -> PropertyListValue? {
        isSpelledOtherwise ? candidates(for: name).first?.value : merged[name]
    }

    private var isSpelledOtherwise: Bool { layers.contains { $0.spelling != nil } }

    /// What becomes of a value that is set.
    enum Effect {
        case none
        /// A stronger layer's answers as before, for those who can read it.
        case below
        case shown
    }

    /// Makes a name read as `value`, in a layered store as that layer's value.
    @discardableResult
    mutating func set(_ value: PropertyListValue?, for name: String, layer index: Int? = nil) -> Effect {
        guard let index else {
            let old = value.map { merged.updateValue($0, forKey: name) } ?? merged.removeValue(forKey: name)
            return old == value ? .none : .shown
        }
        guard layers[index].values[name] != value else { return .none }
        let old = self.value(of: name)
        layers[index].values[name] = value
        merged[name] = layers.lazy.filter { $0.spelling == nil }.compactMap { $0.values[name] }.first
        return old == self.value(of: name) ? .below : .shown
    }

    /// Makes a name read as it does in other contents with the same layers.
    mutating func take(_ name: String, from other: StoreContents) {
        merged[name] = other.merged[name]
        for index in layers.indices { layers[index].values[name] = other.layers[index].values[name] }
    }

    /// What must hold in one layer for `condition` to go on holding for the whole; nil where it doesn't hold now.
    func condition(_ condition: PreferenceCondition, onLayer index: Int) -> PreferenceCondition? {
        guard condition.holds(for: merged, value(of:)) else { return nil }
        let values = layers[index].values
        if condition.isComplete { return PreferenceCondition(values: values.mapValues { $0 }, isComplete: true) }
        var below = PreferenceCondition.none
        for name in condition.values.keys { below.values.updateValue(values[name], forKey: name) }
        return below
    }
}

/// A stored value that may answer for a name.
struct StoredCandidate: Equatable, Sendable {
    let value: PropertyListValue
    /// Whether the value is text that a person wrote for a declared type.
    var isText = false
    /// The layer it stands in, in a layered store.
    var layer: String?
}
