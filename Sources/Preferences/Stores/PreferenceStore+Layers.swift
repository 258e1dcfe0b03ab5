#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceStore {
    /// What the program's command line says: `-name value`, as a layer.
    ///
    /// The value is text, read by each preference's declared type; JSON, `yes` and `no` are understood. One that can't
    /// be read is an issue, and the next layer answers. Can only be read.
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
        while let argument = rest.popFirst() {
            guard argument.count > 1, argument.hasPrefix("-"), !argument.hasPrefix("--") else { continue }
            guard let value = rest.first, !value.hasPrefix("-") || Double(value) != nil else { continue }
            rest.removeFirst()
            values[String(argument.dropFirst())] = .string(value)
        }
        self.init(values)
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
