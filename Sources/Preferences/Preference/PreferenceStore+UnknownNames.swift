internal import DurableFile

extension StoreCore {
    /// Returns an error for each name in the layers that people write which no preference has.
    ///
    /// Known are also the names that are declared in the store, in a scope and in other stores that show the layer.
    ///
    /// - Parameters:
    ///   - preferences: The preferences of the store, whose names the errors suggest.
    ///   - all: All preferences that are known, in any store.
    fileprivate func unknownNames(
        besides preferences: [any DeclaredPreference],
        _ all: [any DeclaredPreference]
    ) -> [PreferenceError] {
        let declared = Set(preferences.map(\.name)).sortedByBytes
        let list = newest.attachedLayers
        // Before the read, which has the store's lock.
        let known = list.layers.map { layer in
            var known = Set(
                (PreferenceStore.recordNames + preferences.flatMap(\.storedNames)).map { layer.spelled($0) }
            )
            for preference in all {
                let core = preference.store.resolved.core.newest
                known.formUnion(core.spelled(preference.storedNames, in: layer.source))
            }
            for core in layer.source.cores { known.formUnion(core.spelled(core.declaredNames, in: layer.source)) }
            known.formUnion(declaredNames.map { layer.spelled($0) })
            return known
        }
        return newest.read(EmptyCollection()) { list in
            zip(list.layers, known).filter(\.0.isListedForPeople).flatMap { layer, known in
                Set(layer.source.contents.keys).subtracting(known).filter { $0.hasPrefix(layer.spelled("")) }.map {
                    PreferenceError(unknown: $0, in: layer, declared.map { layer.shown($0) })
                }
            }
        }
    }

    private var declaredNames: Set<String> { state.withLock { $0.names } }

    /// Returns names of the store as the layers spell them that show a source.
    private func spelled(_ names: some Sequence<String>, in source: Source) -> Set<String> {
        layers.layers.reduce(into: []) { spelled, layer in
            if layer.source === source { spelled.formUnion(names.map { layer.spelled($0) }) }
        }
    }
}

extension PreferenceError {
    /// Returns the errors for the names in the layers that people write which no preference of the store has.
    static func unknownNames(of preferences: [any DeclaredPreference]) -> [PreferenceError] {
        let stores = preferences.map(\.store.resolved)
        let byStore = Dictionary(grouping: zip(preferences, stores)) { ObjectIdentifier($0.1) }
        return byStore.values.flatMap { members in
            members[0].1.core.unknownNames(besides: members.map(\.0), preferences)
        }.sortedByBytes { $0.message }.withoutEqualTexts
    }
}

extension Layer {
    /// Whether people write the layer's names for this program's preferences; a credential might have another purpose.
    fileprivate var isListedForPeople: Bool {
        if isSecret { return false }
        return isText ? name != "arguments" || spelling == nil : source.isWrittenByHand
    }
}

extension PreferenceError {
    fileprivate init(unknown name: String, in layer: Layer, _ known: [String]) {
        let shown = layer.shown(name: name)
        let location = layer.source.location(of: name).map { " (\($0))" } ?? ""
        let cure = shown.nearest(among: known).map { "did you mean \"\($0)\"?" } ?? "correct or remove it"
        self.init(
            .invalidName,
            "no preference is named \"\(shown)\"; its value in the layer \"\(layer.name)\"\(location) is ignored; \(cure)"
        )
    }
}
