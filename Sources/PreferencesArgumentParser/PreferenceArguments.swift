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
    /// The options of the command line with their texts, in the order of the definitions.
    private var used: [(option: OptionDefinition, texts: [String])] = []

    /// Creates the arguments of an empty command line, as the parser does to learn the options.
    public init() {
        definitions = OptionDefinitions(of: Group.self)
    }

    /// Creates the arguments from those that the parser has read.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: OptionKey.self)
        for definition in definitions.all {
            let texts = try definition.values(in: container)
            if !texts.isEmpty { used.append((definition, texts)) }
        }
    }

    /// The values of the options, as a read-only layer that is named `arguments` in `Preference.source`.
    ///
    /// Put it in front of the other layers. Its values are read by their declared types. Each access creates a new store.
    public var layer: PreferenceStore {
        let forms = used.map { ($0.option.layerName, $0.option.form(of: $0.texts)) }
        return PreferenceStore(options: Dictionary(forms) { _, last in last }) { $0.asOption }
    }

    /// Throws an error for the first option whose text isn't a value of its preference; the parser calls it.
    public func validate() throws {
        if !definitions.mistakes.isEmpty {
            throw ValidationError(definitions.mistakes.joined(separator: "\n"))
        }
        if let secret = used.first(where: \.option.preference.isSecret)?.option {
            throw ValidationError(
                "\(secret.text) isn't an option, because \"\(secret.preference.name)\" is a secret and other users can read a "
                    + "command line; set it in a file or in the environment"
            )
        }
        // The parser doesn't say in which order they were, so that the last one isn't known.
        let spellings = Dictionary(grouping: used, by: \.option.preference.name)
        for (name, uses) in spellings.sorted(by: { $0.key < $1.key }) where uses.count > 1 {
            let texts = uses.map { $0.option.spelling(of: $0.texts[0]) }
            throw ValidationError("use one spelling of --\(name.asOption), not \(texts.joined(separator: " and "))")
        }
        for (option, texts) in used {
            guard let mistake = option.preference.mistake(in: texts, of: option.text) else { continue }
            throw ValidationError(mistake)
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

    /// Returns what the layer has for the texts of the option.
    fileprivate func form(of texts: [String]) -> PropertyListValue {
        shape == .boolean ? .boolean(texts[0] == "true") : preference.form(of: texts)
    }

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
