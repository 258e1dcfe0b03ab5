internal import Synchronization

/// One level of a store's order of precedence: a source, and how its values are interpreted there.
package struct Layer: Sendable {
    package let source: Source
    /// The layer's name in `Preference.source`.
    package var name = "store"
    var isReadOnly = false
    /// Whether the user can't override the layer's values.
    var isManaged = false
    /// Whether values are text written by a person for a declared type, as in a command-line argument.
    var isText = false
    /// Whether all of the layer's values are secrets, also in stores that have other layers.
    var isSecret = false
    /// The text before a name in the place where its value is written, such as `--`.
    var optionPrefix = ""
    /// The prefix of the source's names that the layer shows. It isn't part of the preferences' names.
    package var prefix = ""
    /// The length of the prefix's beginning that no message shows, because it only tells copied layers of one source apart; in ASCII.
    var hiddenLength = 0
    /// Converts a preference's name to the layer's spelling if that differs, as in environment variables; such names are not
    /// listed.
    package var spelling: (@Sendable (String) -> String)?
    /// The store that this layer was taken from, retained for its issue handler and its identity.
    package var owner: (any AnyObject & Sendable)?

    package static func writable(_ source: Source, name: String = "store") -> Layer {
        Layer(source: source, name: name)
    }

    static func managed(_ source: Source) -> Layer {
        Layer(source: source, name: "managed", isReadOnly: true, isManaged: true)
    }

    static func system(_ source: Source) -> Layer {
        Layer(source: source, name: "system", isReadOnly: true)
    }

    /// Returns the layer of a command line; with a spelling, even of the same names, these are not listed.
    static func arguments(_ source: Source, spelling: (@Sendable (String) -> String)? = nil) -> Layer {
        Layer(source: source, name: "arguments", isReadOnly: true, isText: true, optionPrefix: "--", spelling: spelling)
    }

    /// Returns the name under which the source has a preference.
    package func spelled(_ name: String) -> String {
        let name = prefix.isEmpty ? name : prefix + name
        return spelling?(name) ?? name
    }

    /// Returns the name as the place of the layer's values spells it, for messages.
    func shown(_ name: String) -> String { shown(name: spelled(name)) }

    /// Returns a name of the source as its place spells it, for messages.
    func shown(name: String) -> String { String(name.dropFirst(hiddenLength)) }

    /// Returns the same layer over a source that has copies of its values, under names that begin with `key`.
    package func mirrored(by source: Source, under key: String) -> Layer {
        Layer(
            source: source,
            name: name,
            isReadOnly: isReadOnly,
            isManaged: isManaged,
            isText: isText,
            isSecret: isSecret,
            optionPrefix: optionPrefix,
            prefix: key + prefix,
            hiddenLength: key.utf8.count + hiddenLength
        )
    }

    /// Returns the former names of a preference that the layer spells differently from its name and from each other.
    func distinct(_ formerNames: [String], from name: String) -> [String] {
        guard spelling != nil, !formerNames.isEmpty else { return formerNames }
        var known: Set = [spelled(name)]
        return formerNames.filter { known.insert(spelled($0)).inserted }
    }

    /// Returns the name of the preference that a name in the source stands for, or nil if it isn't listed.
    package func preferenceName(of name: String) -> String? {
        guard spelling == nil else { return nil }
        guard !prefix.isEmpty else { return name }
        return name.droppingPrefix(prefix).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the listed values among those of the source, under the preferences' names.
    package func listed(_ values: [String: PropertyListValue]) -> [String: PropertyListValue] {
        guard !prefix.isEmpty else { return values }
        return values.reduce(into: [:]) { listed, entry in
            if let name = preferenceName(of: entry.key) { listed[name] = entry.value }
        }
    }

    /// Returns where a value was written, for messages: the option, the variable, or the name as the source spells it; nil if that is the
    /// preference's.
    func origin(of name: String) -> String? {
        if isText { return optionPrefix + shown(name) }
        return prefix.utf8.count == hiddenLength && spelling == nil ? nil : shown(name)
    }

    /// Returns the layer of a scope, whose prefix follows this layer's.
    func scoped(_ prefix: String) -> Layer {
        var layer = self
        layer.prefix += prefix
        return layer
    }

    /// Returns a read-only layer of another name, or this layer if it is read-only already.
    func readOnly(named name: String) -> Layer {
        guard !isReadOnly else { return self }
        var layer = self
        (layer.name, layer.isReadOnly) = (name, true)
        return layer
    }

    /// Returns the value that the layer has for a preference.
    package func value(of name: String) -> PropertyListValue? {
        source.value(of: spelled(name))
    }
}

/// The layers of a store, strongest first.
///
/// They form a consistent snapshot only while the store's lock is held.
package final class LayerList: Sendable {
    package let layers: [Layer]
    /// The index of the layer that receives writes: the first that isn't read-only.
    package let writableIndex: Int?
    /// The source that receives writes.
    package let writable: Source?
    /// The same source without reference counting: the layers retain it, and each retain of an object that has a weak reference
    /// takes 75 instructions.
    let uncountedWritable: Unmanaged<Source>?
    /// The prefix of the writable layer, or nil if that shows all of its source.
    package let writablePrefix: String?
    /// Whether there is only one layer and the store reads its values unchanged.
    let isPlain: Bool
    /// Whether a layer shows only a part of its source.
    let isScoped: Bool
    /// The source whose queue runs the calls of tasks that have to wait, if any has a timeout: preferably the writable one, and one
    /// that is slow.
    let waitingSource: Source?
    /// Whether the store is attached to the sources.
    let isAttached = Atomic(false)
    /// Whether all sources were opened, or failed to open, and need no queries by name: then a read doesn't call them.
    let isPrepared = Atomic(false)

    init(_ layers: [Layer]) {
        // Managed layers are the strongest, wherever they are listed.
        self.layers = layers.filter(\.isManaged) + layers.filter { !$0.isManaged }
        writableIndex = self.layers.firstIndex { !$0.isReadOnly }
        writable = writableIndex.map { [layers = self.layers] in layers[$0].source }
        uncountedWritable = writable.map { Unmanaged.passUnretained($0) }
        writablePrefix = writableIndex.flatMap { [layers = self.layers] in
            layers[$0].prefix.isEmpty ? nil : layers[$0].prefix
        }
        isScoped = layers.contains { !$0.prefix.isEmpty }
        let sources = [writable].compactMap { $0 } + self.layers.map(\.source)
        waitingSource = sources.first(where: \.isSlow) ?? sources.first { $0.timeout != nil }
        isPlain = layers.count == 1 && !layers[0].isText && layers[0].spelling == nil && !isScoped
    }

    /// The layer that receives writes.
    package var writableLayer: Layer? { writableIndex.map { layers[$0] } }

    /// Whether a stronger layer than the writable one has secrets.
    var isWritableBelowSecrets: Bool { layers[..<base].contains(where: \.isSecret) }

    /// The index of the first layer that an update reads: the writable one, because the update writes there.
    package var base: Int { writableIndex ?? 0 }

    /// The time that a call of a backend over these layers may take; nil if theirs are short.
    package var timeout: Duration? { waitingSource.flatMap { $0.isSlow ? $0.timeout : nil } }

    /// Throws `misuse` if the calling thread must not wait for one of the layers.
    package func checkThreadMayBlock() throws(PreferenceError) {
        for layer in layers where layer.source.isSlow { try layer.source.backend?.checkThreadMayBlock() }
    }

    /// Whether a layer below the writable one could not be read, so that it may have any value.
    var hasUnreadWeakerLayers: Bool { layers.dropFirst(base + 1).contains { $0.source.failure != nil } }

    /// Returns the values that may be used for a name, strongest first; in each layer, the name comes before its former names.
    package func candidates(for name: String, formerly names: [String] = [], from first: Int = 0) -> StoredCandidates {
        candidates(for: name, formerly: names, from: first) { layers[$0].value(of: $1) }
    }

    /// Returns the same as if `source` had another value under the name.
    func candidates(for name: String, with value: PropertyListValue?, in source: Source) -> StoredCandidates {
        candidates(for: name) { layers[$0].source === source ? value : layers[$0].value(of: $1) }
    }

    /// Returns the candidates in the layers from `first` on; `value` returns the value that the layer at an index has under a name.
    package func candidates(
        for name: String,
        formerly names: [String] = [],
        from first: Int = 0,
        _ value: (Int, String) -> PropertyListValue?
    ) -> StoredCandidates {
        var candidates = StoredCandidates()
        for index in first..<layers.count {
            if let value = value(index, name) { candidates.append(candidate(value, at: index, of: name)) }
            for former in layers[index].distinct(names, from: name) {
                if let value = value(index, former) {
                    candidates.append(candidate(value, at: index, of: name, as: former))
                }
            }
        }
        return candidates
    }

    /// Returns the stored value that a name reads as, before decoding.
    func value(of name: String, from first: Int = 0) -> PropertyListValue? {
        for layer in layers[first...] {
            if let value = layer.value(of: name) { return value }
        }
        return nil
    }

    /// All listed names, each with the value that it reads as.
    package var contents: [String: PropertyListValue] { contents(from: 0) { layers[$0].source.contents } }

    /// Returns the listed names of the layers from `first` on; `values` returns the values of the layer at an index.
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

    /// Returns the name of a candidate's layer if that is above the writable one.
    func layerAboveWritable(of candidate: StoredCandidate) -> String? {
        guard let layer = candidate.layer else { return nil }
        return layers[..<base].first { $0.source === candidate.source && $0.name == layer.name }?.name
    }

    func candidate(
        _ value: PropertyListValue,
        at index: Int,
        of name: String,
        as former: String? = nil
    ) -> StoredCandidate {
        StoredCandidate(
            value: value,
            isText: layers[index].isText,
            layer: index == writableIndex
                ? nil : PreferenceSource(layer: layers[index].name, isManaged: layers[index].isManaged),
            source: layers[index].source,
            former: former.map {
                .init(name: $0, spelled: layers[index].shown($0), present: layers[index].shown(name))
            },
            origin: layers[index].origin(of: former ?? name)
        )
    }
}

extension LayerList {
    /// Returns whether a value read under the name may be stale, and so must not be cached.
    func mayBeStale(_ name: String) -> Bool {
        layers.contains { $0.source.mayBeStale($0.spelled(name)) }
    }

    /// Returns whether the writable backend reports that an administrator manages the name.
    package func isManagedByBackend(_ name: String) -> Bool {
        writableLayer.map { $0.source.isManaged($0.spelled(name)) } ?? false
    }

    /// Returns the first of the changed names that a managed layer has a value for, under the name or a former one.
    func managedName(among changes: ValueChanges, _ formerNames: FormerNames) -> String? {
        let managedLayers = layers.prefix { $0.isManaged }
        guard !managedLayers.isEmpty else { return nil }
        var managed: String?
        changes.forEach { name, _ in
            guard managed == nil else { return }
            let name = formerNames.preference(storedAs: name) ?? name
            let isManaged = managedLayers.contains { layer in
                layer.value(of: name) != nil || formerNames[name].contains { layer.value(of: $0) != nil }
            }
            if isManaged { managed = name }
        }
        return managed
    }
}
