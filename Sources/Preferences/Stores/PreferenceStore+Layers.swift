#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceStore {
    /// The values of the program's command line, as a layer: `-name value`, `--name value` and `--name=value`.
    ///
    /// A value that begins with a dash and is no number counts only behind `=`, as it could be the next option. Of a name that stands
    /// twice the last value counts. `--` alone ends the options. What has no value is left alone.
    ///
    /// The value is text, read by each preference's declared type; JSON, `yes` and `no` are understood. One that can't
    /// be read is an issue, and the next layer answers; ``reportUnknownNames(for:)`` reports names that no preference has. Can only be
    /// read.
    public static let arguments = arguments(CommandLine.arguments.dropFirst().map { $0 })

    /// What a command line of one's own says; see `arguments`.
    public static func arguments(_ arguments: [String]) -> PreferenceStore {
        PreferenceStore(.arguments(Source(ofArguments: arguments)))
    }

    /// What the environment says: `PREFIX_NAME=value`, as a layer.
    ///
    /// A preference's name is written in capitals, with `_` for whatever is no letter or digit: with the prefix `APP`
    /// the variable `APP_EDITOR_FONT` is for the preference "editor.font". Values are read as those of `arguments`. Can
    /// only be read; its names are not listed by `names` and `contents`.
    public static func environment(prefix: String) -> PreferenceStore {
        environment(prefix: prefix, ProcessInfo.processInfo.environment)
    }

    static func environment(prefix: String, _ environment: [String: String]) -> PreferenceStore {
        let values = environment.filter { $0.key.hasPrefix(prefix + "_") }.mapValues { PropertyListValue.string($0) }
        return PreferenceStore(
            Layer(source: Source(values), name: "environment", isReadOnly: true, isText: true) { name in
                prefix + "_" + String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            }
        )
    }
}

extension Source {
    /// What a command line says, as text.
    convenience init(ofArguments arguments: [String]) {
        var values: [String: PropertyListValue] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.hasPrefix("-") else { continue }
            let isLong = argument.hasPrefix("--")
            let option = argument.dropFirst(isLong ? 2 : 1)
            if isLong, let sign = option.firstIndex(of: "=") {
                if sign > option.startIndex {
                    values[String(option[..<sign])] = .string(String(option[sign...].dropFirst()))
                }
                continue
            }
            // `-name=value` is another program's way to write an option, which takes no word behind it.
            guard !option.isEmpty, !option.contains("="), let value = rest.first,
                !value.hasPrefix("-") || Double(value) != nil
            else {
                continue
            }
            rest.removeFirst()
            values[String(option)] = .string(value)
        }
        self.init(values)
    }
}

extension PreferenceStore {
    /// Reports the arguments and variables that no preference of some groups is called, as after a typing mistake.
    ///
    ///     store.reportUnknownNames(for: PlayerPreferences(), WindowPreferences())
    ///
    /// Looks at the store's layers of arguments, and at those of the environment, of which every variable with the layer's prefix counts.
    /// Call it once all groups of the program are known: an option that another part of the program reads would be reported, too. On Apple
    /// platforms the arguments of `.standard`, to which the system adds its own, are left out.
    ///
    /// Each name is an issue, `invalidName`, with the nearest declared name, reported to the store's handler on the calling thread. Nothing is
    /// changed.
    ///
    /// - Parameter groups: The groups that declare the names; in which store they are doesn't matter.
    /// - Returns: The unknown names, sorted: an argument's without its dashes, a variable's with the prefix.
    @discardableResult
    public func reportUnknownNames(for groups: any PreferenceGroup...) -> [String] {
        let declared = Set(groups.flatMap { DeclaredPreferences.all(in: $0).map(\.name) }).sorted()
        let issues = resolved.core.read(EmptyCollection()) { list in
            list.layers.filter(\.isListedText).flatMap { layer -> [(name: String, error: PreferencesError)] in
                let known = declared.map(layer.spelled)
                let names = Set(layer.source.contents.keys).subtracting(known).filter {
                    $0.hasPrefix(layer.spelled(""))
                }
                return names.map { ($0, PreferencesError(unknown: $0, in: layer, known)) }
            }
        }
        for issue in issues.sorted(by: { $0.name < $1.name }) { report(issue.error) }
        return Set(issues.map(\.name)).sorted()
    }
}

extension Layer {
    /// Whether all that it holds was meant for this program's preferences, as text.
    fileprivate var isListedText: Bool { isText && (name != "arguments" || spelling == nil) }
}

extension PreferencesError {
    fileprivate init(unknown name: String, in layer: Layer, _ known: [String]) {
        let cure = name.nearest(of: known).map { "did you mean \"\($0)\"?" } ?? "correct it or leave it out"
        self.init(
            .invalidName,
            "no preference is called \"\(name)\", which stands in the layer \"\(layer.name)\" and is ignored; \(cure)"
        )
    }
}

extension String {
    /// Returns the one that a person may have meant by this word, mistyped; `nil` if none is near enough.
    ///
    /// One character in three may be wrong; upper and lower case count as the same.
    @_spi(Tool) public func nearest(of words: some Sequence<String>) -> String? {
        let typed = Array(lowercased())
        let near = words.compactMap { word -> (word: String, distance: Int)? in
            let distance = Self.distance(typed, Array(word.lowercased()))
            return distance <= max(typed.count, word.count) / 3 && word != self ? (word, distance) : nil
        }
        return near.min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// How many characters have to be added, removed, replaced or exchanged with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        // A word that is so long is no slip of the fingers.
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

#if !canImport(Darwin)
extension PreferenceStore {
    /// What an administrator imposes on this program, as a layer: `/etc/<suite>/managed.jsonl` of the standard suite.
    ///
    /// Can only be read. `.standard` and every `.suite` have their own already.
    public static let managed = layers { [.managed(file: $0.managedPath)] }

    /// The system's defaults for this program, as a layer: `<suite>/preferences.jsonl` in each of `$XDG_CONFIG_DIRS`.
    ///
    /// Can only be read. `.standard` and every `.suite` have their own already.
    public static let system = layers { $0.systemPaths.map { .system(file: $0) } }

    private static func layers(_ make: @escaping @Sendable (SuiteLocation) -> [Layer]) -> PreferenceStore {
        PreferenceStore(standIn: nil) {
            do throws(PreferencesError) { return make(try SharedStore.standard.location()) } catch { return [] }
        }
    }
}
#endif
