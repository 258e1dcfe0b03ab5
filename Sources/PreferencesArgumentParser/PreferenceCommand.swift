#if ArgumentParser
public import ArgumentParser
public import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A command `config` that shows and changes the preferences of a group: `list`, `get`, `set`, `unset`, `edit`, `path` and `check`.
///
///     @main struct NotesTool: ParsableCommand {
///         static let configuration = CommandConfiguration(
///             commandName: "notes",
///             subcommands: [Show.self, PreferenceCommand<Notes>.self]
///         )
///     }
///
/// It uses the store that the group names by ``ConfigurablePreferences``, else the standard one. A value is written as text, as that of an
/// option, and read by the declared type. The values of secrets are shown as `<redacted>`, and `set` reads them from standard input.
///
/// The exit codes are those of the tool `prefs`: 0 done; 1 absent; 2 wrong usage, nothing changed; 3 damaged, or `check` found a problem;
/// 4 not permitted; 5 the system failed or another process interfered. What the parser itself rejects ends with its own code, 64.
public struct PreferenceCommand<Group: PreferenceGroup>: ParsableCommand {
    /// The name of the command and its subcommands.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "config",
            abstract: "Show and change the settings.",
            subcommands: [
                List.self, Get.self, Set.self, Unset.self, Edit.self, Path.self, Check.self,
            ]
        )
    }

    /// Creates the command.
    public init() {}
}

extension PreferenceCommand {
    /// The program's store; a new one at each access if the group makes it so.
    static var store: PreferenceStore {
        (Group.self as? any ConfigurablePreferences.Type)?.store ?? .standard
    }

    /// Returns the preferences of the group that have a name of their own.
    static func preferences(in store: PreferenceStore) -> [AnyPreference] {
        Group(in: store).preferences.filter { !$0.isMember }
    }

    /// Returns the preference of a name, which may be a former one or that of the option.
    static func preference(_ name: String, in store: PreferenceStore = store) throws -> AnyPreference {
        let all = preferences(in: store)
        let found =
            all.first { $0.name == name } ?? all.first { $0.formerNames.contains(name) }
            ?? all.first { $0.name.asOption == name }
        guard let found else {
            let hint = name.nearest(among: all.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
            throw CommandFailure(.absent, "there is no setting \"\(name)\"\(hint)")
        }
        try open([found])
        return found
    }

    /// Opens the stores of preferences: of one that can't be read, reads would show defaults.
    static func open(_ preferences: [AnyPreference]) throws {
        var opened: Swift.Set<ObjectIdentifier> = []
        for preference in preferences where opened.insert(ObjectIdentifier(preference.store)).inserted {
            try preference.store.load()
        }
    }

    struct List: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "list",
                abstract: "List the settings with their values, origins, rules and descriptions."
            )
        }

        @Flag(help: "Print a JSON object of all names.") var json = false
        @OptionGroup var secrets: SecretOptions

        func run() throws {
            try CommandFailure.run {
                let preferences = PreferenceCommand.preferences(in: PreferenceCommand.store)
                try PreferenceCommand.open(preferences)
                var table = TextTable(["name", "value", "origin", "rule", "description"])
                var all: [String: PropertyListValue] = [:]
                for preference in preferences {
                    let value = try secrets.value(of: preference)
                    let rules = preference.rules.compactMap(\.text)
                    let description = preference.declaredDescription ?? preference.title
                    if json {
                        var members: [String: PropertyListValue] = [
                            "origin": .string(preference.source.name), "isSet": .boolean(preference.isSet),
                        ]
                        members["value"] = value
                        members["isSecret"] = preference.isSecret ? true : nil
                        members["rules"] = rules.isEmpty ? nil : .array(rules.map { .string($0) })
                        members["description"] = description.map { .string($0) }
                        members["deprecated"] = preference.deprecation.map { .string($0) }
                        all[preference.name] = .dictionary(members)
                    } else {
                        let text = try value.map { try $0.plain } ?? "-"
                        let rule = rules.isEmpty ? "\(preference.textType)" : rules.joined(separator: "; ")
                        let note = preference.deprecation.map { "deprecated: \($0)" } ?? description ?? ""
                        table.add([preference.name, text, preference.source.name, rule, note])
                    }
                }
                try CommandInput.print(json ? PropertyListValue.dictionary(all).json() : table.text)
            }
        }
    }

    struct Get: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "get", abstract: "Print the value of a setting.")
        }

        @Flag(help: "Print JSON, also of a text.") var json = false
        @OptionGroup var secrets: SecretOptions
        @Argument(help: "The name of the setting.", completion: .settings(of: Group.self)) var name: String

        func run() throws {
            try CommandFailure.run {
                let preference = try PreferenceCommand.preference(name)
                guard let value = try secrets.value(of: preference) else {
                    throw CommandFailure(.absent, "\"\(preference.name)\" has no value")
                }
                try CommandInput.print(json ? value.json() : value.plain)
            }
        }
    }

    struct Set: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "set",
                abstract: "Store the value of a setting.",
                discussion: """
                    Several values are the elements of a list, or members key=value of a dictionary; null is no value, of a setting that \
                    may have none and isn't text. Without a value it is read from standard input, which is the only way to set a secret.
                    """
            )
        }

        @Argument(help: "The name of the setting.", completion: .settings(of: Group.self)) var name: String
        @Argument(parsing: .captureForPassthrough, help: "The value.") var values: [String] = []

        func run() throws {
            try CommandFailure.run {
                let preference = try PreferenceCommand.preference(name)
                // The parser keeps the `--` behind which a value may begin with a dash.
                let values = Array(values.first == "--" ? values.dropFirst() : values[...])
                if preference.isSecret, !values.isEmpty {
                    throw CommandFailure(
                        .usage,
                        "\"\(preference.name)\" is a secret, and other users can read the command line; pass it on standard input"
                    )
                }
                let texts = values.isEmpty ? [try CommandInput.text(isSecret: preference.isSecret)] : values
                if texts.count > 1, preference.textShape == .single || preference.textShape == .boolean {
                    throw CommandFailure(.usage, "\"\(preference.name)\" takes one value; nothing was changed")
                }
                if let mistake = preference.mistake(in: texts, of: preference.name) {
                    let message =
                        preference.isSecret
                        ? "the input isn't a value of \(preference.name): \(preference.textType)" : mistake
                    let hint = texts == ["null"] ? "; `config unset \(preference.name)` removes the stored value" : ""
                    throw CommandFailure(.usage, message + "; nothing was changed" + hint)
                }
                try preference.write(texts)
            }
        }
    }

    struct Unset: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "unset",
                abstract: "Remove stored values, so that the settings have their defaults again."
            )
        }

        @Argument(help: "The names of the settings.", completion: .settings(of: Group.self)) var names: [String]

        func run() throws {
            try CommandFailure.run {
                let store = PreferenceCommand.store
                let preferences = try names.map { try PreferenceCommand.preference($0, in: store) }
                if let absent = preferences.first(where: { !$0.isSet }) {
                    throw CommandFailure(.absent, "\"\(absent.name)\" isn't set; nothing was changed")
                }
                for members in Dictionary(grouping: preferences, by: { ObjectIdentifier($0.store) }).values {
                    try members[0].store.transaction { transaction in
                        for preference in members { transaction.store(nil, as: preference.name) }
                    }
                }
            }
        }
    }

    struct Path: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "path", abstract: "Print the path of the file that stores the settings.")
        }

        func run() throws {
            try CommandFailure.run {
                guard let path = PreferenceCommand.store.location?.path(percentEncoded: false) else {
                    throw CommandFailure(.absent, "the settings aren't in a file: \(PreferenceCommand.store)")
                }
                try CommandInput.print(path)
            }
        }
    }

    struct Check: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "check",
                abstract: "Check that all values can be used.",
                discussion: "Prints what is wrong, one problem a line, and ends with 3 if there is something."
            )
        }

        @Flag(help: "Print a JSON array of the problems.") var json = false

        func run() throws {
            try CommandFailure.run {
                let problems = Group(in: PreferenceCommand.store).problems
                if json {
                    let objects = problems.map { problem in
                        var members: [String: PropertyListValue] = [
                            "code": .string(problem.code.description), "message": .string(problem.message),
                        ]
                        members["name"] = problem.name.map { .string($0) }
                        return PropertyListValue.dictionary(members)
                    }
                    try CommandInput.print(PropertyListValue.array(objects).json())
                } else if !problems.isEmpty {
                    try CommandInput.print(problems.map(\.description).joined(separator: "\n"))
                }
                if !problems.isEmpty { throw ExitCode(CommandFailure.Status.damaged.rawValue) }
            }
        }
    }
}

/// Whether the values of secrets are shown.
struct SecretOptions: ParsableArguments {
    @Flag(help: "Show the values of secrets.") var showSecrets = false

    /// Returns the value that the program reads, in its stored form, as it is shown; `nil` for none.
    func value(of preference: AnyPreference) throws -> PropertyListValue? {
        let value = try preference.currentForm()
        return preference.isSecret && !showSecrets && value != nil ? "<redacted>" : value
    }
}

extension CompletionKind {
    /// The names of the settings of a group.
    static func settings(of group: any PreferenceGroup.Type) -> CompletionKind {
        .list(group.init(in: .inMemory()).preferences.filter { !$0.isMember }.map(\.name))
    }
}
#endif
