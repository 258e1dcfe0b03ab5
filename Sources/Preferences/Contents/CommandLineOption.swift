/// One use of an option on a command line, before a declaration says what its value may be.
package struct CommandLineOption: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        /// No value, as in `--verbose`.
        case none
        /// The next word, which may also be an argument for the program: only the option's type tells.
        case next(String)
        /// The text behind `=`.
        case joined(String)
    }

    /// The name without dashes.
    package let name: String
    package let value: Value

    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }

    /// The name of the preference that the option sets to `false`, as `--no-verbose` does; nil for other options.
    var negatedName: String? {
        if case .joined = value { return nil }
        guard let name = name.droppingPrefix("no-"), !name.isEmpty else { return nil }
        return name
    }
}

/// The meaning of one option for a preference.
package enum OptionUse: Sendable, Equatable {
    /// `--name`, or `--name word`, if the type of the preference needs no value.
    case alone
    /// `--no-name`.
    case negation
    /// `--name word`.
    case next(String)
    /// `--name=text`.
    case joined(String)

    fileprivate init(_ value: CommandLineOption.Value) {
        self =
            switch value {
            case .none: .alone
            case .next(let text): .next(text)
            case .joined(let text): .joined(text)
            }
    }

    /// The value before a declaration reads it.
    var storedValue: PropertyListValue {
        switch self {
        case .alone: .boolean(true)
        case .negation: .boolean(false)
        case .next(let text), .joined(let text): .string(text)
        }
    }
}

extension [CommandLineOption] {
    /// Creates the options of a command line: `--name`, `--name value`, `--name=value`, `-name` and `-name value`.
    init(parsing arguments: [String]) {
        self.init()
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.isOption else { continue }
            let isLong = argument.hasPrefix("--")
            let option = argument.dropFirst(isLong ? 2 : 1)
            if let sign = option.firstIndex(of: "=") {
                guard sign > option.startIndex else { continue }
                append(
                    isLong
                        ? CommandLineOption(String(option[..<sign]), .joined(String(option[sign...].dropFirst())))
                        // Other programs write options like this; it sets nothing, and is listed as unknown.
                        : CommandLineOption(String(option), .none)
                )
            } else if let value = rest.first, !value.isOption {
                rest.removeFirst()
                // `-name` takes a value as in user defaults, unless it is an option of one letter.
                let isValue = !isLong && option.count > 1
                append(CommandLineOption(String(option), isValue ? .joined(value) : .next(value)))
            } else {
                append(CommandLineOption(String(option), .none))
            }
        }
    }

    /// Returns the uses of a preference by its name as the layer spells it, by its option of one letter, and by its negation.
    package func uses(of name: String, short: Character? = nil) -> [OptionUse] {
        let short = short.map(String.init)
        return compactMap { option in
            if option.name == name || option.name == short { return OptionUse(option.value) }
            return option.negatedName == name ? .negation : nil
        }
    }

    /// The values by name, so that each name that a declaration may ask for has one; of several, the last counts.
    var values: [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for option in self where !option.name.contains("=") {
            values[option.name] = OptionUse(option.value).storedValue
            if let name = option.negatedName, values[name] == nil { values[name] = .boolean(false) }
        }
        return values
    }
}

extension String {
    /// Whether the word is an option, not a value: a dash alone and a negative number are values.
    fileprivate var isOption: Bool { hasPrefix("-") && self != "-" && Double(self) == nil }
}
