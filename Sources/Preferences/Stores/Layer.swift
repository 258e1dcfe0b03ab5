internal import Synchronization

/// One place in a store's order of precedence: a source, and how its values are taken there.
struct Layer: Sendable {
    let source: Source
    /// Names the layer in `PreferenceSource.layer`.
    var name = "store"
    var isReadOnly = false
    /// Whether a value of the layer keeps the user from setting another.
    var isManaged = false
    /// Whether values are text that a person wrote for a declared type, as in an argument.
    var isText = false
    /// Begins the names of the source that the layer shows, and is no part of the preferences' names.
    var prefix = ""
    /// Spells a preference's name as the layer has it, if that is another way; such names are not listed.
    var spelling: (@Sendable (String) -> String)?
    /// The store that was made into a layer of another, kept for its issue handler and its identity.
    var owner: (any AnyObject & Sendable)?

    static func managed(_ source: Source) -> Layer {
        Layer(source: source, name: "managed", isReadOnly: true, isManaged: true)
    }

    static func system(_ source: Source) -> Layer {
        Layer(source: source, name: "system", isReadOnly: true)
    }

    /// The command line among other sources of the system, which adds some of its own.
    static func unlistedArguments(_ source: Source) -> Layer {
        Layer(source: source, name: "arguments", isReadOnly: true, isText: true) { $0 }
    }

    static func arguments(_ source: Source) -> Layer {
        Layer(source: source, name: "arguments", isReadOnly: true, isText: true)
    }

    /// A preference's name as the source has it.
    func spelled(_ name: String) -> String {
        let name = prefix.isEmpty ? name : prefix + name
        return spelling?(name) ?? name
    }

    /// The preference's name that a name of the source stands for, if it is listed.
    func preferenceName(of name: String) -> String? {
        guard spelling == nil else { return nil }
        guard !prefix.isEmpty else { return name }
        return name.droppingPrefix(prefix).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The values that are listed, of these of the source.
    func listed(_ values: [String: PropertyListValue]) -> [String: PropertyListValue] {
        guard !prefix.isEmpty else { return values }
        return values.reduce(into: [:]) { listed, entry in
            if let name = preferenceName(of: entry.key) { listed[name] = entry.value }
        }
    }

    /// The same layer of a scope; its names continue the prefix.
    func scoped(_ prefix: String) -> Layer {
        var layer = self
        layer.prefix += prefix
        return layer
    }

    /// The same layer under another name, if it takes writes, which pass it by then.
    func readOnly(named name: String) -> Layer {
        guard !isReadOnly else { return self }
        var layer = self
        (layer.name, layer.isReadOnly) = (name, true)
        return layer
    }

    /// What the layer holds for a preference.
    func value(of name: String) -> PropertyListValue? {
        source.value(of: spelled(name))
    }
}

/// The layers of a store, the strongest first.
///
/// They show one moment only while the store's lock is held.
final class LayerList: Sendable {
    let layers: [Layer]
    /// The layer that takes the writes: the first that isn't read-only.
    let writableIndex: Int?
    /// What takes the writes.
    let writable: Source?
    /// As above, not counted: the layers keep it, and of what a weak reference points to, each count takes 75 instructions.
    let uncountedWritable: Unmanaged<Source>?
    /// Begins the names of what takes the writes, if it shows a part of its source.
    let writablePrefix: String?
    /// Whether there is one layer, and what it holds is what the store reads.
    let isPlain: Bool
    /// Whether a layer shows a part of its source.
    let isScoped: Bool
    /// The source that the calls of tasks wait for, if any has a timeout: the one that takes the writes before others.
    let slowSource: Source?
    /// Whether the sources know of the store.
    let isAttached = Atomic(false)
    /// Whether the sources were opened, or failed to be, and list all they have: then a read asks them nothing.
    let isSettled = Atomic(false)

    init(_ layers: [Layer]) {
        // An administrator decides, wherever the layer is listed.
        self.layers = layers.filter(\.isManaged) + layers.filter { !$0.isManaged }
        writableIndex = self.layers.firstIndex { !$0.isReadOnly }
        writable = writableIndex.map { [layers = self.layers] in layers[$0].source }
        uncountedWritable = writable.map { Unmanaged.passUnretained($0) }
        writablePrefix = writableIndex.flatMap { [layers = self.layers] in
            layers[$0].prefix.isEmpty ? nil : layers[$0].prefix
        }
        isScoped = layers.contains { !$0.prefix.isEmpty }
        let sources = [writable].compactMap { $0 } + self.layers.map(\.source)
        slowSource = sources.first { $0.timeout != nil }
        isPlain = layers.count == 1 && !layers[0].isText && layers[0].spelling == nil && !isScoped
    }

    /// The layer that takes the writes.
    var writableLayer: Layer? { writableIndex.map { layers[$0] } }

    /// Where the layers begin that an update reads: at the writable one, as what it stores lies there.
    var base: Int { writableIndex ?? 0 }

    /// What may answer for a name, the strongest first.
    func candidates(for name: String) -> StoredCandidates {
        candidates(from: 0) { layers[$0].value(of: name) }
    }

    /// As above, as if a source had another value under the name.
    func candidates(for name: String, with value: PropertyListValue?, in source: Source) -> StoredCandidates {
        candidates(from: 0) { layers[$0].source === source ? value : layers[$0].value(of: name) }
    }

    /// What the layers from `first` on have, by `value`, which is given their indices.
    func candidates(from first: Int, _ value: (Int) -> PropertyListValue?) -> StoredCandidates {
        var candidates = StoredCandidates()
        for index in first..<layers.count {
            if let value = value(index) { candidates.append(candidate(value, at: index)) }
        }
        return candidates
    }

    /// What a name reads as, before decoding.
    func value(of name: String, from first: Int = 0) -> PropertyListValue? {
        for layer in layers[first...] {
            if let value = layer.value(of: name) { return value }
        }
        return nil
    }

    /// All that is listed, each name as it reads.
    var contents: [String: PropertyListValue] { contents(from: 0) { layers[$0].source.contents } }

    /// As above, of the layers from `first` on, by their `values`.
    func contents(
        from first: Int,
        _ values: (Int) -> [String: PropertyListValue]
    ) -> [String: PropertyListValue] {
        var contents: [String: PropertyListValue] = [:]
        for index in first..<layers.count where layers[index].spelling == nil {
            let values = layers[index].listed(values(index))
            if contents.isEmpty { contents = values } else { contents.merge(values) { stronger, _ in stronger } }
        }
        return contents
    }

    func candidate(_ value: PropertyListValue, at index: Int) -> StoredCandidate {
        StoredCandidate(
            value: value,
            isText: layers[index].isText,
            layer: index == writableIndex ? nil : layers[index].name,
            source: layers[index].source
        )
    }
}

extension LayerList {
    /// Whether what is read of a name must not be kept.
    func isDoubted(_ name: String) -> Bool {
        layers.contains { $0.source.isDoubted($0.spelled(name)) }
    }

    /// Whether the backend that takes the writes says that an administrator decides about a name.
    func isManagedByBackend(_ name: String) -> Bool {
        writableLayer.map { $0.source.isManaged($0.spelled(name)) } ?? false
    }

    /// The first of the names that an administrator decides about.
    func managedName(among changes: ValueChanges) -> String? {
        let imposing = layers.prefix { $0.isManaged }
        guard !imposing.isEmpty else { return nil }
        var managed: String?
        changes.forEach { name, _ in
            if managed == nil, imposing.contains(where: { $0.value(of: name) != nil }) { managed = name }
        }
        return managed
    }
}
