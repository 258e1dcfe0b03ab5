import Preferences
import PreferencesSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value in the words of a command line: text after a flag as in `defaults` of macOS, text of the type that is declared or stored, JSON,
/// or any other text.
enum ValueArguments {
    /// Returns the new value for the stored one, which may depend on the declaration.
    typealias Change = (_ old: PropertyListValue?, Schema.Property?) throws -> PropertyListValue

    /// Removes the words of the value, one or, after a flag for several values, all, and returns the change that they describe.
    static func change(_ words: inout ArraySlice<String>) throws -> Change {
        let first = try words.next("the value")
        switch first {
        case "-array":
            let elements = try elements(&words)
            return { _, _ in .array(elements) }
        case "-dict":
            let members = try members(&words)
            return { _, _ in .dictionary(members) }
        case "-array-add":
            let elements = try elements(&words)
            return { old, _ in
                switch old {
                case nil: return .array(elements)
                case .array(let old): return .array(old + elements)
                case let old?:
                    throw Failure(.usage, "-array-add needs an array, but the value is of type \(old.kind)")
                }
            }
        case "-dict-add":
            let members = try members(&words)
            return { old, _ in
                switch old {
                case nil: return .dictionary(members)
                case .dictionary(let old): return .dictionary(old.merging(members) { _, new in new })
                case let old?:
                    throw Failure(.usage, "-dict-add needs a dictionary, but the value is of type \(old.kind)")
                }
            }
        default:
            // A word that begins like a flag is probably a mistyped flag.
            if isUnknownFlag(first) { _ = try json(first) }
            guard let flag = ScalarFlag(first) else { return { old, declared in try plainValue(first, declared, old) } }
            let value = try flag.value(of: words.next("the value after \(first)"))
            return { _, _ in value }
        }
    }

    /// Returns a value without a flag: of the declared type, else of the type of the stored value, else JSON, else text.
    private static func plainValue(
        _ text: String,
        _ declared: Schema.Property?,
        _ old: PropertyListValue?
    ) throws -> PropertyListValue {
        let isDeclared = declared?.types.isEmpty == false
        let types = isDeclared ? declared?.types ?? [] : old.map { [$0.kind] } ?? []
        switch types {
        case ["string"]: return text.hasPrefix("\"") ? try json(text) : .string(text)
        case ["date"] where !text.hasPrefix("{"), ["data"] where !text.hasPrefix("{"):
            do { return try (types == ["date"] ? ScalarFlag.date : .data).value(of: text) } catch {
                // A stored value may get another type.
                guard !isDeclared else { throw error }
            }
        default: break
        }
        let choices = declared?.choices ?? []
        let isChoice = choices.contains(.string(text))
        let isText = types.contains("string") || isChoice
        // Text that begins like JSON probably is mistyped JSON, and no text an unset variable of a shell.
        guard isText || types.isEmpty && !(text.isEmpty || "{[\"".contains(text.prefix(1))) else {
            return try json(text)
        }
        do {
            let value = try json(text)
            let isOther = isChoice && !choices.contains(where: value.readsSame(as:))
            return isOther || declared?.allowsKind(of: value) == false ? .string(text) : value
        } catch { return .string(text) }
    }

    /// Returns whether a word without a flag was read as something else than JSON.
    static func isGuess(_ value: PropertyListValue, for word: String) -> Bool {
        guard !isFlag(word) else { return false }
        do { return try PropertyListValue(json: word) != value } catch { return true }
    }

    /// Returns whether a word is a flag with a type.
    static func isFlag(_ word: String) -> Bool {
        ScalarFlag(word) != nil || ["-array", "-array-add", "-dict", "-dict-add"].contains(word)
    }

    private static func isUnknownFlag(_ word: String) -> Bool {
        word.hasPrefix("-") && Double(word) == nil && !isFlag(word)
    }

    /// Returns the value of JSON text.
    static func json(_ text: String) throws -> PropertyListValue {
        do {
            return try PropertyListValue(json: text)
        } catch {
            if isUnknownFlag(text) {
                throw Failure(
                    .usage,
                    "\"\(text)\" isn't a type; `prefs help write` lists the types. For text use: -string '\(text)'"
                )
            }
            // Text that begins like an object or an array is probably meant as JSON.
            let hint = "{[".contains(text.prefix(1)) && !text.isEmpty ? "" : ". For text use: -string '\(text)'"
            throw Failure(.usage, "\"\(text)\" can't be read as JSON: \(error.message)\(hint)")
        }
    }

    private static func elements(_ words: inout ArraySlice<String>) throws -> [PropertyListValue] {
        var elements: [PropertyListValue] = []
        while !words.isEmpty { elements.append(try element(&words)) }
        return elements
    }

    private static func members(_ words: inout ArraySlice<String>) throws -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        while let key = words.popFirst() {
            guard !words.isEmpty else {
                throw Failure(.usage, "the key \"\(key)\" has no value; give a value after each key")
            }
            members[key] = try element(&words)
        }
        return members
    }

    /// Returns an element: a string, as in `defaults`, unless a flag gives another type.
    private static func element(_ words: inout ArraySlice<String>) throws -> PropertyListValue {
        let word = try words.next("a value")
        guard let flag = ScalarFlag(word) else { return .string(word) }
        return try flag.value(of: words.next("the value after \(word)"))
    }
}

/// A flag with the type of the word after it.
enum ScalarFlag {
    case string, integer, real, boolean, data, date, json

    init?(_ word: String) {
        switch word {
        case "-string": self = .string
        case "-int", "-integer": self = .integer
        case "-float": self = .real
        case "-bool", "-boolean": self = .boolean
        case "-data": self = .data
        case "-date": self = .date
        case "-json": self = .json
        default: return nil
        }
    }

    func value(of text: String) throws -> PropertyListValue {
        let value: PropertyListValue? =
            switch self {
            case .string: .string(text)
            case .integer: Int64(text).map { .integer($0) } ?? UInt64(text).map { .unsigned($0) }
            case .real: Self.real(text).map { .real($0) }
            case .boolean: Self.boolean(text).map { .boolean($0) }
            case .data: Self.data(text).map { .data($0) }
            case .date: Self.date(text)
            case .json: try ValueArguments.json(text)
            }
        guard let value else { throw Failure(.usage, "\"\(text)\" is \(expectation)") }
        return value
    }

    private var expectation: String {
        switch self {
        case .string, .json: "invalid"
        case .integer: "not a whole number of 64 bits, such as -3"
        case .real: "not a number, such as 0.5"
        case .boolean: "neither true, yes or 1 nor false, no or 0"
        case .data: "not data in hexadecimal digits, two for each byte, such as 00ff"
        case .date: "not a date, such as 2026-11-20T22:00:00Z"
        }
    }

    /// Returns the number, or `nil` if it is too large for a double; infinity only if the text says so.
    private static func real(_ text: String) -> Double? {
        guard let value = Double(text), value.isFinite || !text.contains(where: \.isNumber) else { return nil }
        return value
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    private static func data(_ text: String) -> Data? {
        let digits = text.filter { $0 != " " }.compactMap(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2), digits.count == text.filter({ $0 != " " }).count else { return nil }
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// Returns a date in the file's format, or in the format that `defaults` prints: `2026-11-20 22:00:00 +0000`.
    private static func date(_ text: String) -> PropertyListValue? {
        let parts = text.split(separator: " ")
        let isPrinted = parts.count == 3 && parts[2] == "+0000"
        let text = isPrinted ? "\(parts[0])T\(parts[1])Z" : text
        do {
            let value = try PropertyListValue(json: "{\"$date\":\(try ValueText.json(.string(text)))}")
            guard case .date = value else { return nil }
            return value
        } catch {
            // Not a date; the caller reports it.
            return nil
        }
    }
}
