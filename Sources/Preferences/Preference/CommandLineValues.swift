/// The options of a command line by name: `--name value`, `--name=value` and `-name value`, with the value as text, and `--name` alone.
struct CommandLineValues {
    /// Of an option that is given several times, the last one's text; `true` for one that stands alone.
    private(set) var all: [String: PropertyListValue] = [:]
    /// The names whose text is the word behind `--name`, which may also be an argument for the program: only a declaration tells.
    private(set) var words: Set<String> = []

    init(parsing arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.isOption else { continue }
            let isLong = argument.hasPrefix("--")
            let option = argument.dropFirst(isLong ? 2 : 1)
            if let sign = option.firstIndex(of: "=") {
                guard sign > option.startIndex else { continue }
                // Other programs write `-name=value`; it sets nothing, and is reported as unknown.
                set(isLong ? option[..<sign] : option, to: isLong ? .string(String(option[sign...].dropFirst())) : true)
            } else if let word = rest.first, !word.isOption {
                rest.removeFirst()
                set(option, to: .string(word), isWord: isLong)
            } else {
                set(option, to: true)
            }
        }
    }

    private mutating func set(_ name: Substring, to value: PropertyListValue, isWord: Bool = false) {
        let name = String(name)
        all[name] = value
        if isWord { words.insert(name) } else { words.remove(name) }
    }
}

extension String {
    /// Whether the word is an option, not a value: a dash alone and a negative number are values.
    fileprivate var isOption: Bool { hasPrefix("-") && self != "-" && Double(self) == nil }
}
