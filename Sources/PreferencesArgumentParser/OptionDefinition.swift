#if ArgumentParser
internal import ArgumentParser
internal import Preferences

/// An option of the command line that sets a preference.
struct OptionDefinition: Sendable {
    /// The key under which the parser keeps the values.
    let key: String
    let preference: AnyPreference
    /// The name behind the dashes.
    let name: String
    /// The name under which the layer has the value: the option's of the preference, or of a former name.
    let layerName: String
    var short: Character?
    /// Whether the help lists it; otherwise it is another name of a listed option.
    var isListed = true
    /// Whether the option sets a Boolean to `false`; a listed one does both.
    var isNegation = false

    var shape: TextShape { preference.textShape }

    var names: NameSpecification {
        NameSpecification([.customLong(name)] + (short.map { [.customShort($0)] } ?? []))
    }

    /// The option as a person writes it.
    var text: String { "--\(name)" }
}

/// The options of a group.
struct OptionDefinitions: Sendable {
    private(set) var all: [OptionDefinition] = []
    /// The options of secrets, which are rejected.
    private(set) var secrets: [OptionDefinition] = []
    /// The mistakes in the declarations.
    private(set) var mistakes: [String] = []
    private var owners = ["help": "the option that shows the help", "help-hidden": "the option that shows the help"]
    private var shortOwners: [Character: String] = ["h": "the option that shows the help"]

    init(of group: any PreferenceGroup.Type) {
        let store = PreferenceStore.inMemory()
        // One with a store of its own doesn't read the layer of the options. A secret's option is rejected with a reason.
        let preferences = group.init(in: store).preferences.filter {
            !$0.isMember && ($0.store === store || $0.isSecret)
        }
        var seen: Set<String> = []
        for preference in preferences where seen.insert(preference.name).inserted {
            add(preference)
        }
        // After all names in use: one that is taken is another preference's, and the store ignores it.
        for preference in preferences {
            for former in preference.formerNames where !seen.contains(former) {
                addHidden(former, of: preference, as: former.asOption)
                addHidden(former.asOption, of: preference, as: former.asOption)
            }
            // A program that read its command line without the parser had the name itself as an option.
            addHidden(preference.name, of: preference, as: preference.name.asOption)
        }
    }

    private mutating func add(_ preference: AnyPreference) {
        let name = preference.name.asOption
        let owner = "the preference \"\(preference.name)\""
        if let other = owners.updateValue(owner, forKey: name) {
            mistakes.append("--\(name) would be \(other) and \(owner); rename one of them")
            return
        }
        if preference.textShape == .boolean, let other = owners.updateValue(owner, forKey: "no-" + name) {
            mistakes.append("--no-\(name) would be \(other) and \(owner); rename one of them")
            return
        }
        var definition = OptionDefinition(
            key: "option\(all.count)",
            preference: preference,
            name: name,
            layerName: name
        )
        if let short = preference.shortName {
            if let other = shortOwners.updateValue(owner, forKey: short) {
                mistakes.append("-\(short) would be \(other) and \(owner); change one of them")
            } else {
                definition.short = short
            }
        }
        if preference.isSecret {
            definition.isListed = false
            secrets.append(definition)
        }
        all.append(definition)
    }

    private mutating func addHidden(_ name: String, of preference: AnyPreference, as layerName: String) {
        let isFlag = preference.textShape == .boolean
        for (name, isNegation) in [(name, false)] + (isFlag ? [("no-" + name, true)] : []) {
            guard name.isOptionName, !preference.isSecret, owners[name] == nil else { continue }
            owners[name] = "the preference \"\(preference.name)\""
            all.append(
                OptionDefinition(
                    key: "option\(all.count)",
                    preference: preference,
                    name: name,
                    layerName: layerName,
                    isListed: false,
                    isNegation: isNegation
                )
            )
        }
    }
}

extension String {
    /// The name of a preference as an option: `editor.fontSize` is `editor-font-size`.
    var asOption: String {
        let characters = Array(self)
        var option = ""
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber else {
                option += "-"
                continue
            }
            if character.isUppercase, index > 0 {
                let (before, after) = (characters[index - 1], characters.dropFirst(index + 1).first)
                // The last capital of several begins a word, as in `maxURLLength`.
                if before.isLowercase || before.isNumber || before.isUppercase && after?.isLowercase ?? false {
                    option += "-"
                }
            }
            option += character.lowercased()
        }
        return option
    }

    fileprivate var isOptionName: Bool {
        first.map { $0.isLetter || $0.isNumber } ?? false
            && allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
    }
}

// MARK: Help

extension OptionDefinition {
    var help: ArgumentHelp {
        ArgumentHelp(
            abstract,
            valueName: shape == .dictionary ? "key=value" : name,
            visibility: preference.isSecret ? .private : isListed && preference.deprecation == nil ? .default : .hidden
        )
    }

    private var abstract: String {
        var text = preference.declaredDescription ?? preference.title ?? ""
        if let deprecation = preference.deprecation { text = "Deprecated: \(deprecation)." }
        if !isListed { text = "The same as --\(isNegation ? "no-" : "")\(preference.name.asOption)." }
        let details = isListed ? details : []
        guard !details.isEmpty else { return text }
        return (text.isEmpty ? "" : text + " ") + "(\(details.joined(separator: "; ")))"
    }

    /// The rules and the default.
    private var details: [String] {
        var details = preference.rules.compactMap(\.text)
        if let value = preference.shownDefault { details.append("default: \(value)") }
        return details
    }

    var completion: CompletionKind {
        let choices = (preference.rules.first { $0.kind == .choices }?.choices ?? [])
            // Another rule may forbid some of them.
            .filter(preference.accepts)
        return choices.isEmpty ? .default : .list(choices.map(\.text))
    }
}

extension PreferenceRule {
    /// The rule in words, for messages; `nil` for one that only the program knows.
    var expectation: String? {
        kind == .choices && !choices.isEmpty ? "one of \(choices.map(\.text).joined(separator: ", "))" : text
    }

    /// The rule in words, for the help; `nil` for one that only the program knows.
    var text: String? {
        switch kind {
        case .choices: choices.isEmpty ? nil : "values: \(choices.map(\.text).joined(separator: ", "))"
        case .check: requirement.isEmpty ? nil : requirement
        case .range, .length: description.isEmpty ? nil : description
        }
    }
}

extension PropertyListValue {
    /// The value as a person writes it in one word.
    var text: String {
        if case .string(let text) = self { return text }
        return dateText ?? "\(self)"
    }
}

extension AnyPreference {
    /// The default as the help shows it; `nil` for one that is empty.
    fileprivate var shownDefault: String? {
        guard !isSecret, let value = storedDefault else { return nil }
        switch value {
        case .boolean(let isOn) where textShape == .boolean: return isOn ? "--\(name.asOption)" : nil
        case .array([]), .dictionary([:]), .string(""): return nil
        default: return value.text
        }
    }
}
#endif
