#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PreferenceStore {
    /// The values of the program's command line, as a read-only layer: `-name value`, `--name value` and `--name=value`.
    ///
    /// A value that begins with a dash and isn't a number is recognized only after `=`, because it could be the next option. `--` alone
    /// ends the options. Of an option that is given several times, the last one counts.
    ///
    /// A preference reads its text by its declared type, also as JSON: `--tags '["work","home"]'`. A Boolean is `true` by `--verbose` alone;
    /// `yes` and `no` may follow, and another word behind it is an argument for the program. If an option can't be read, because its text
    /// isn't a value of the type or it has none, an issue is reported and the next layer's value is used. ``PreferenceGroup/problems`` has
    /// the options that no preference has. The product `PreferencesArgumentParser` also reads `--no-verbose`, `-v`, and an option for each
    /// element of a list.
    public static let arguments = arguments(CommandLine.arguments.dropFirst().map { $0 })

    /// Returns the values of the given command line as a layer; see `arguments`.
    public static func arguments(_ arguments: [String]) -> PreferenceStore {
        let values = CommandLineValues(parsing: arguments)
        return PreferenceStore(.arguments(Source(values.all, words: values.words)))
    }

    /// Creates a layer of options that a parser has read, by their names, which `spelling` writes; texts are read by the declared type.
    package convenience init(options: [String: PropertyListValue], spelling: @escaping @Sendable (String) -> String) {
        self.init(.arguments(Source(options), spelling: spelling))
    }

    /// Returns the environment variables `PREFIX_NAME=value` as a read-only layer.
    ///
    /// A preference's name is written in capitals, with `_` for each character that isn't a letter or digit: with the prefix
    /// `APP`, the variable `APP_EDITOR_FONT` is for the preference "editor.font". Values are read like those of `arguments`.
    /// The layer's names are not listed by `names` and `contents`.
    public static func environment(prefix: String) -> PreferenceStore {
        environment(ProcessInfo.processInfo.environment, prefix: prefix)
    }

    /// Returns the given environment variables as a layer, as `environment(prefix:)` does with those of the process: for tests,
    /// and for variables from another place.
    ///
    ///     let store = PreferenceStore.layered([.environment(["APP_VOLUME": "7"], prefix: "APP"), .standard])
    ///
    /// - Parameters:
    ///   - variables: The values of the variables by their names; those without the prefix are ignored.
    ///   - prefix: The beginning of the names, without the `_` that follows it.
    public static func environment(_ variables: [String: String], prefix: String) -> PreferenceStore {
        let values = variables.filter { $0.key.hasPrefix(prefix + "_") }.mapValues { PropertyListValue.string($0) }
        return PreferenceStore(
            Layer(source: Source(values), name: "environment", isReadOnly: true, isText: true) { name in
                prefix + "_" + String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            }
        )
    }
}

extension PreferenceStore {
    /// Returns a file that a person or another program writes as one JSON object with comments, as a read-only layer.
    ///
    ///     // The user's settings, with comments.
    ///     {
    ///         "$schema": "preferences.schema.json",
    ///         "volume": 7,
    ///         "editor.font": { "family": "Inter", "size": 13, },
    ///     }
    ///
    /// The text is JSON with comments and commas behind last elements. Each name of the object is that of a preference, and its value is
    /// read as one of a preferences file, also an object, which is the value of its name; `null` sets nothing. `$schema` and `$id`
    /// are ignored. A file that doesn't exist has no values.
    ///
    /// The file is never written, so its comments stay. Its changes are visible as soon as it is saved. A text with a
    /// syntax error is reported with its line, and the values that were read before stay in force; if there are none, opening the
    /// layer fails. A value that can't be read is reported and left out. A text that ends too early is waited for until the program that
    /// writes it closes the file, for at most a second. In `Preference.source` the layer is named `settings`.
    ///
    /// - Parameter url: The file's URL.
    public static func settingsFile(at url: URL) -> PreferenceStore {
        let source: Source
        do throws(PreferenceError) { source = Source(SettingsFileBackend(path: try url.pathOfFile())) } catch {
            source = Source(NoBackend(because: error))
        }
        return PreferenceStore(Layer(source: source, name: "settings", isReadOnly: true))
    }
}

extension PreferenceStore: CustomStringConvertible {
    /// The layers with their places, strongest first: `arguments; environment, NOTES_*; store, /home/ada/.config/notes/preferences.jsonl`.
    ///
    /// Opens nothing, and shows no values.
    public var description: String {
        resolved.core.layers.layers.map(\.description).joined(separator: "; ")
    }
}

extension Layer {
    /// The name and the place, for messages.
    fileprivate var description: String {
        let place: String =
            if let path = source.path(of: nil) {
                path
            } else if isText {
                optionPrefix.isEmpty ? spelled("") + "*" : ""
            } else if let backend = source.backend {
                backend is NoBackend ? "no place" : "\(type(of: backend))"
            } else {
                "in memory"
            }
        let shown = prefix.dropFirst(hiddenLength)
        let scope = shown.isEmpty || isText ? "" : ", \(shown)*"
        return name + (place.isEmpty ? "" : ", " + place) + scope
    }
}

#if !canImport(Darwin)
extension PreferenceStore {
    /// The managed settings for this program, as a read-only layer: `/etc/<suite>/managed.jsonl` of the standard suite, and before it
    /// the drop-ins `<suite>/managed.d/*.jsonl` in `/etc`, `/run` and `/usr/lib`.
    ///
    /// `.standard` and every `.suite` include their own already.
    public static let managed = layers { [.managed($0.managed)] }

    /// The system's defaults for this program, as a read-only layer: `<suite>/preferences.jsonl` in each of `$XDG_CONFIG_DIRS`, and before
    /// the weakest of these the drop-ins `<suite>/preferences.d/*.jsonl` and `/etc/<suite>/preferences.jsonl`.
    ///
    /// `.standard` and every `.suite` include their own already.
    public static let system = layers { $0.system.map { .system($0) } }

    private static func layers(_ make: @escaping @Sendable (SuiteLocation) -> [Layer]) -> PreferenceStore {
        PreferenceStore(replacement: nil) {
            do throws(PreferenceError) { return make(try SharedStore.standard.location()) } catch { return [] }
        }
    }
}
#endif
