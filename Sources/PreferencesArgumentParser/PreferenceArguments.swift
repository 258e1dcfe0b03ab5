#if ArgumentParser
public import ArgumentParser
public import Preferences

/// The options of the preferences of a group, for a command of swift-argument-parser.
///
///     struct Show: ParsableCommand {
///         @OptionGroup(title: "Preferences") var preferences: PreferenceArguments<Notes>
///
///         func run() throws {
///             let notes = Notes(in: .layered([preferences.layer, .environment(prefix: "NOTES"), .standard]))
///             print(notes.limit)
///         }
///     }
///
/// Each preference is an option: "sendReports" is `--send-reports`, and the name itself and the former names are accepted, too. The help
/// shows the description, the rules and the default; of a deprecated preference, only `--help-hidden`. `.short("v")` adds `-v`.
///
/// | value | option |
/// |---|---|
/// | `Bool` and `Bool?` | `--verbose`, `--no-verbose` |
/// | array, set | `--tag work --tag home`; a JSON array adds its elements |
/// | dictionary with strings as keys | `--color todo=red --color done=green`; a JSON object adds its members |
/// | another type | `--limit 5`; of several, the last counts |
///
/// A text that can't be read as the declared type, or breaks a rule, ends the program with an error of the parser, which names the option,
/// the type and the rules. Secrets have no option, because other users of the machine see the command line of a program: they come from
/// a file or from the environment.
///
/// Preferences of members of a value have no options, as the whole value has one, and neither have those with a store of their own,
/// because they don't read the layer. Two preferences whose options have one name are an
/// error when the program starts; ``ArgumentParser/ParsableCommand/checkPreferenceOptions()`` compares them with the program's other
/// options.
public struct PreferenceArguments<Group: PreferenceGroup>: ParsableArguments, Sendable {
    private let definitions: OptionDefinitions
    private var options: [CommandLineOption] = []
    private var usedSecret: OptionDefinition?
    /// The spellings of each preference on the command line, by its name, in the order of the definitions.
    private var spellings: [String: [String]] = [:]

    /// Creates the arguments of an empty command line, as the parser does to learn the options.
    public init() {
        definitions = OptionDefinitions(of: Group.self)
    }

    /// Creates the arguments from those that the parser has read.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: OptionKey.self)
        for definition in definitions.all {
            let values = try definition.values(in: container)
            if definition.preference.isSecret, !values.isEmpty { usedSecret = usedSecret ?? definition }
            options += values.map { CommandLineOption(definition, $0) }
            if let value = values.first {
                spellings[definition.preference.name, default: []].append(definition.spelling(of: value))
            }
        }
    }

    /// The values of the options, as a read-only layer that is named `arguments` in `Preference.source`.
    ///
    /// Put it in front of the other layers. Its values are read by their declared types, as those of
    /// `PreferenceStore.arguments(_:)` are. Each access creates a new store.
    public var layer: PreferenceStore { PreferenceStore(options: options) { $0.asOption } }

    /// Throws an error for the first option whose text isn't a value of its preference; the parser calls it.
    public func validate() throws {
        if !definitions.mistakes.isEmpty {
            throw ValidationError(definitions.mistakes.joined(separator: "\n"))
        }
        if let usedSecret {
            throw ValidationError(
                "\(usedSecret.text) isn't an option, because \"\(usedSecret.preference.name)\" is a secret and other users can read a "
                    + "command line; set it in a file or in the environment"
            )
        }
        // The parser doesn't say in which order they were, so that the last one isn't known.
        for (name, texts) in spellings.sorted(by: { $0.key < $1.key }) where texts.count > 1 {
            throw ValidationError("use one spelling of --\(name.asOption), not \(texts.joined(separator: " and "))")
        }
        for definition in definitions.all {
            let uses = options.uses(of: definition.layerName)
            guard !uses.isEmpty, let mistake = definition.preference.mistake(in: uses) else { continue }
            throw ValidationError(mistake.message(of: definition.text, definition.preference))
        }
    }
}

extension PreferenceArguments: CustomReflectable {
    /// The options, as the parser finds them: by a mirror of the property wrappers.
    public var customMirror: Mirror {
        let isHidden = ParserProbe.hidesPreferences
        return Mirror(
            self,
            children: isHidden ? [] : definitions.all.map { (label: $0.key, value: $0.wrapper) },
            displayStyle: .struct
        )
    }
}

extension OptionMistake {
    /// Returns the message about a text that isn't a value of a preference, which is named as the person has named it.
    func message(of name: String, _ preference: AnyPreference) -> String {
        let type = preference.textShape == .dictionary ? "key=\(type)" : "\(type)"
        let expected = [type, form].compactMap { $0 } + preference.rules.compactMap(\.expectation)
        return
            "\(texts.joined(separator: ", ")) \(texts.count > 1 ? "aren't" : "isn't") a value of \(name): \(expected.joined(separator: ", "))"
            + (reason.map { "; \($0)" } ?? "")
    }
}

/// Whether the parser is asked for the options of a program without those of preferences.
enum ParserProbe {
    @TaskLocal static var hidesPreferences = false
}

/// The key of an option in the parser.
struct OptionKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension CommandLineOption {
    fileprivate init(_ definition: OptionDefinition, _ value: String) {
        switch definition.shape {
        case .boolean: self.init((value == "true" ? "" : "no-") + definition.layerName, .none)
        default: self.init(definition.layerName, .joined(value))
        }
    }
}

extension OptionDefinition {
    /// The property wrapper by which the parser reads the option.
    fileprivate var wrapper: Any {
        switch shape {
        case .boolean where !isListed: Flag<Bool>(wrappedValue: false, name: names, help: help)
        case .boolean: Flag<Bool?>(name: names, inversion: .prefixedNo, help: help)
        case .list, .dictionary:
            Option<[String]>(
                wrappedValue: [],
                name: names,
                parsing: mayBeNegative ? .unconditionalSingleValue : .singleValue,
                help: help,
                completion: completion
            ) { $0 }
        case .single:
            Option<String?>(
                name: names,
                parsing: mayBeNegative ? .unconditional : .next,
                help: help,
                completion: completion
            ) { $0 }
        }
    }

    /// Whether a value may begin with a dash.
    private var mayBeNegative: Bool { shape != .dictionary && preference.textType is any SignedNumeric.Type }

    /// Returns the option as it was written for a value.
    fileprivate func spelling(of value: String) -> String {
        shape == .boolean && isListed && value == "false" ? "--no-\(name)" : text
    }

    /// Returns the texts that the parser has read for the option, in their order.
    fileprivate func values(in container: KeyedDecodingContainer<OptionKey>) throws -> [String] {
        let key = OptionKey(stringValue: key)
        return switch shape {
        case .boolean where !isListed:
            try container.decode(Flag<Bool>.self, forKey: key).wrappedValue ? ["\(!isNegation)"] : []
        case .boolean: try container.decode(Flag<Bool?>.self, forKey: key).wrappedValue.map { ["\($0)"] } ?? []
        case .list, .dictionary: try container.decode(Option<[String]>.self, forKey: key).wrappedValue
        case .single: try container.decode(Option<String?>.self, forKey: key).wrappedValue.map { [$0] } ?? []
        }
    }
}
#endif
