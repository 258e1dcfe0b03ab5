internal import DurableFile

extension PreferenceStore {
    /// Reports the arguments and environment variables that match no preference of the given groups, for example after a typing
    /// mistake.
    ///
    ///     store.reportUnknownNames(for: PlayerPreferences(), WindowPreferences())
    ///
    /// Checks the store's layers of arguments, and every variable with the prefix of a layer of the environment. Call it when
    /// all groups of the program are known, because it also reports an option that another part of the program reads. On Apple
    /// platforms the arguments of `.standard` are not checked, because the system adds its own.
    ///
    /// Each unknown name is reported to the store's handler, on the calling thread, as an `invalidName` issue that suggests the
    /// nearest declared name. Nothing is changed.
    ///
    /// - Parameter groups: The groups that declare the names, in any store.
    /// - Returns: The unknown names, sorted: an argument's without its dashes, a variable's with the prefix.
    @discardableResult
    public func reportUnknownNames(for groups: any PreferenceGroup...) -> [String] {
        let issues = resolved.core.unknownNames(for: groups.flatMap { DeclaredPreferences.all(in: $0) })
        for issue in issues { report(issue.error) }
        return Set(issues.map(\.name)).sorted()
    }
}

extension StoreCore {
    /// Returns the names in the layers of text that none of the preferences has, sorted, each with its error.
    ///
    /// - Parameter includesDeclared: Whether the names of other preferences that are declared in the store are known, too.
    fileprivate func unknownNames(
        for preferences: [any DeclaredPreference],
        includesDeclared: Bool = false
    ) -> [(name: String, error: PreferenceError)] {
        let declared = Set(preferences.map(\.name)).sorted()
        let former = Set(preferences.flatMap { $0.options?.formerNames ?? [] })
        let others = includesDeclared ? state.withLock { $0.names } : []
        let issues = newest.read(EmptyCollection()) { list in
            list.layers.filter(\.isListedText).flatMap { layer -> [(name: String, error: PreferenceError)] in
                let known = declared.map(layer.spelled)
                let names = Set(layer.source.contents.keys).subtracting(known).subtracting(former.map(layer.spelled))
                    .subtracting(others.map(layer.spelled)).filter { $0.hasPrefix(layer.spelled("")) }
                return names.map { ($0, PreferenceError(unknown: $0, in: layer, known)) }
            }
        }
        return issues.sorted { $0.name < $1.name }
    }
}

extension PreferenceError {
    /// Returns the errors for the names in the layers of text that no preference of the store has.
    static func unknownNames(of preferences: [any DeclaredPreference]) -> [PreferenceError] {
        let stores = preferences.map(\.store.resolved)
        let byStore = Dictionary(grouping: zip(preferences, stores)) { ObjectIdentifier($0.1) }
        return Set(stores.map(ObjectIdentifier.init)).compactMap { byStore[$0] }.flatMap { members in
            members[0].1.core.unknownNames(for: members.map(\.0), includesDeclared: true).map(\.error)
        }.sorted { $0.message < $1.message }.withoutEqualTexts
    }
}

extension Layer {
    /// Whether all of the layer's values are text meant for this program's preferences; a credential might have another purpose.
    fileprivate var isListedText: Bool { isText && !isSecret && (name != "arguments" || spelling == nil) }
}

extension PreferenceError {
    fileprivate init(unknown name: String, in layer: Layer, _ known: [String]) {
        let cure = name.nearest(of: known).map { "did you mean \"\($0)\"?" } ?? "correct or remove it"
        self.init(
            .invalidName,
            "no preference is named \"\(name)\"; its value in the layer \"\(layer.name)\" is ignored; \(cure)"
        )
    }
}

extension String {
    /// Returns the word that was probably meant by this one if that is a typing mistake; `nil` if no word is close enough.
    ///
    /// One character in three may be wrong; upper and lower case are the same.
    @_spi(Tool) public func nearest(of words: some Sequence<String>) -> String? {
        let typed = Array(lowercased())
        let near = words.compactMap { word -> (word: String, distance: Int)? in
            let distance = Self.distance(typed, Array(word.lowercased()))
            return distance <= max(typed.count, word.count) / 3 && word != self ? (word, distance) : nil
        }
        return near.min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// Returns the number of characters to add, remove, replace or exchange with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        // Long words are not typing mistakes.
        guard abs(left.count - right.count) <= 64, left.count <= 1000 else { return .max }
        var (before, last, row) = ([Int](), [Int](), Array(0...right.count))
        for (i, character) in left.enumerated() {
            (before, last) = (last, row)
            row = [i + 1]
            for (j, other) in right.enumerated() {
                var least = Swift.min(last[j] + (character == other ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, character == right[j - 1], other == left[i - 1] {
                    least = Swift.min(least, before[j - 1] + 1)
                }
                row.append(least)
            }
        }
        return row[right.count]
    }
}
