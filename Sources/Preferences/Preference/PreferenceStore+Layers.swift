#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
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
        return PreferenceStore(Layer(options: values.all, words: values.words))
    }

    /// Creates a layer of options that a parser has read, by their names, which `spelling` writes; texts are read by the declared type.
    package convenience init(options: [String: PropertyListValue], spelling: @escaping @Sendable (String) -> String) {
        self.init(Layer(options: options, spelling: spelling))
    }

    /// Returns the environment variables `PREFIX_NAME=value` as a read-only layer.
    ///
    /// A preference's name is written in capitals, with `_` for each character that isn't a letter or digit: with the prefix
    /// `APP`, the variable `APP_EDITOR_FONT` is for the preference "editor.font". Values are read like those of `arguments`.
    /// An empty variable is no value, nor is one that Kubernetes sets for a service, such as `APP_PORT=tcp://10.0.48.9:80`.
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
        let own = variables.filter { name, value in
            name.hasPrefix(prefix + "_") && !value.isEmpty && !isServiceLink(name, among: variables)
        }
        return PreferenceStore(
            Layer(
                source: Source(own.mapValues { .string($0) }),
                name: "environment",
                isReadOnly: true,
                isText: true,
                spelling: { name in
                    prefix + "_"
                        + String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
                }
            )
        )
    }

    /// Returns whether a variable is the address of a service, as Kubernetes sets it for each service of a namespace: `APP_PORT`, beside
    /// `APP_SERVICE_HOST`.
    private static func isServiceLink(_ name: String, among variables: [String: String]) -> Bool {
        guard name.hasSuffix("_PORT"), let host = variables[name.dropLast(4) + "SERVICE_HOST"],
            let address = variables[name]
        else { return false }
        return address.contains("://") && address.contains(host)
    }
}

extension Layer {
    /// Creates the layer of a command line; with a spelling, even of the same names, these are not listed.
    init(
        options: [String: PropertyListValue],
        words: Set<String> = [],
        spelling: (@Sendable (String) -> String)? = nil
    ) {
        self.init(
            source: Source(options),
            name: "arguments",
            isReadOnly: true,
            isText: true,
            optionPrefix: "--",
            spelling: spelling,
            words: words
        )
    }

    /// The name and the place, for messages.
    fileprivate var description: String {
        let place: String =
            if isText {
                optionPrefix.isEmpty ? key("") + "*" : ""
            } else {
                source.backend is MemoryBackend ? "in memory" : source.backend.place
            }
        let scope = prefix.isEmpty || isText ? "" : ", \(prefix)*"
        return name + (place.isEmpty ? "" : ", " + place) + scope
    }
}

extension PreferenceStore: CustomStringConvertible {
    /// The layers with their places, strongest first: `arguments; environment, NOTES_*; store, /home/ada/.config/notes/preferences.json`.
    ///
    /// Opens nothing, and shows no values.
    public var description: String { resolved.core.layers.map(\.description).joined(separator: "; ") }
}
