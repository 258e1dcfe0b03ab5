#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceStore {
    /// The values of the program's command line, as a read-only layer: `-name value`, `--name value` and `--name=value`.
    ///
    /// A value that begins with a dash and isn't a number is recognized only after `=`, because it could be the next option. If
    /// a name occurs twice, the last value is used. `--` alone ends the options. An option without a value is ignored.
    ///
    /// Values are text, which each preference reads by its declared type; JSON, `yes` and `no` are understood. If a value can't
    /// be read, an issue is reported and the next layer's value is used. ``reportUnknownNames(for:)`` reports names that no
    /// preference has.
    public static let arguments = arguments(CommandLine.arguments.dropFirst().map { $0 })

    /// Returns the values of the given command line as a layer; see `arguments`.
    public static func arguments(_ arguments: [String]) -> PreferenceStore {
        PreferenceStore(.arguments(Source(ofArguments: arguments)))
    }

    /// Returns the environment variables `PREFIX_NAME=value` as a read-only layer.
    ///
    /// A preference's name is written in capitals, with `_` for each character that isn't a letter or digit: with the prefix
    /// `APP`, the variable `APP_EDITOR_FONT` is for the preference "editor.font". Values are read like those of `arguments`.
    /// The layer's names are not listed by `names` and `contents`.
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
    /// Creates a source with the values of a command line, as text.
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
            // Other programs write options as `-name=value`, which are not followed by a value.
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
    /// Whether all of the layer's values are text meant for this program's preferences.
    fileprivate var isListedText: Bool { isText && (name != "arguments" || spelling == nil) }
}

extension PreferencesError {
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

#if !canImport(Darwin)
extension PreferenceStore {
    /// The managed settings for this program, as a read-only layer: `/etc/<suite>/managed.jsonl` of the standard suite.
    ///
    /// `.standard` and every `.suite` include their own already.
    public static let managed = layers { [.managed(file: $0.managedPath)] }

    /// The system's defaults for this program, as a read-only layer: `<suite>/preferences.jsonl` in each of `$XDG_CONFIG_DIRS`.
    ///
    /// `.standard` and every `.suite` include their own already.
    public static let system = layers { $0.systemPaths.map { .system(file: $0) } }

    private static func layers(_ make: @escaping @Sendable (SuiteLocation) -> [Layer]) -> PreferenceStore {
        PreferenceStore(replacement: nil) {
            do throws(PreferencesError) { return make(try SharedStore.standard.location()) } catch { return [] }
        }
    }
}
#endif
