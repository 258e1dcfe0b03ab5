import Preferences
import PreferencesSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the output of `defaults read` of macOS: a property list in the old style, `{ key = value; list = ( a, b ); }`.
///
/// The text has no types. A value has the type that the schema declares; otherwise digits without quotes are an integer, text in the
/// format of printed dates is a date, and all else is a string.
struct DefaultsText {
    var rest: Substring.UnicodeScalarView

    private init(_ text: String) { rest = text[...].unicodeScalars }

    /// Returns whether some bytes begin with `{`, a key and `=`, which JSON never does.
    static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
        var text = DefaultsText(String(decoding: bytes.prefix(4 << 10), as: UTF8.self))
        do throws(TextProblem) {
            guard text.takes("{") else { return false }
            _ = try text.word()
            return text.takes("=")
        } catch {
            return false
        }
    }

    static func contents(
        of bytes: [UInt8],
        _ title: String,
        schema: Schema?
    ) throws -> [String: PropertyListValue?] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.damaged, "\(title) can't be read as `defaults read` prints it: it isn't UTF-8")
        }
        var reader = DefaultsText(text)
        do throws(TextProblem) {
            return try reader.root(schema)
        } catch {
            let line = text.unicodeScalars.count { $0 == "\n" } - reader.rest.count { $0 == "\n" } + 1
            throw Failure(
                .damaged,
                "line \(line) of \(title) can't be read as `defaults read` prints it: \(error.reason)"
            )
        }
    }

    private mutating func root(_ schema: Schema?) throws(TextProblem) -> [String: PropertyListValue?] {
        var contents: [String: PropertyListValue?] = [:]
        try members { reader, key throws(TextProblem) in
            contents[key] = try reader.value(depth: 0, schema?.property(of: key))
        }
        skipSpace()
        guard rest.isEmpty else { throw TextProblem(reason: "something follows the last }") }
        return contents
    }

    private mutating func value(depth: Int, _ declared: Schema.Property?) throws(TextProblem) -> PropertyListValue {
        guard depth <= 128 else { throw TextProblem(reason: "the value is nested deeper than 128 levels") }
        skipSpace()
        switch rest.first {
        case "{":
            if rest.starts(with: "{length = ".unicodeScalars) { return .data(try describedData()) }
            var members: [String: PropertyListValue] = [:]
            try self.members { reader, key throws(TextProblem) in
                members[key] = try reader.value(depth: depth + 1, declared?.property(of: key))
            }
            return .dictionary(members)
        case "(":
            let elements = try list(from: "(", to: ")") { reader throws(TextProblem) in
                try reader.value(depth: depth + 1, declared?.items)
            }
            return .array(elements)
        case "<": return .data(try data())
        default:
            let word = try word()
            return word.value(declared)
        }
    }

    private mutating func members(_ body: (inout Self, _ key: String) throws(TextProblem) -> Void) throws(TextProblem) {
        try expect("{")
        while !takes("}") {
            let key = try word().text
            guard !key.isEmpty else { throw TextProblem(reason: "a key is empty") }
            try expect("=")
            try body(&self, key)
            try expect(";")
        }
    }

    /// Reads data such as `<00ff 1234>`.
    private mutating func data() throws(TextProblem) -> Data {
        try expect("<")
        return try bytes(of: text(until: ">"))
    }

    /// Reads data such as `{length = 2, bytes = 0x00ff}`.
    private mutating func describedData() throws(TextProblem) -> Data {
        let text = try text(until: "}")
        guard !text.contains("...") else {
            throw TextProblem(
                reason: "`defaults read` left out a part of this data; import the output of `defaults export`"
            )
        }
        let parts = text.split(separator: ", bytes = 0x", omittingEmptySubsequences: false)
        let count = Int(parts[0].dropFirst("{length = ".count))
        let data = try bytes(of: parts.count == 2 ? String(parts[1]) : "")
        guard data.count == count else {
            throw TextProblem(reason: "this data doesn't have the number of bytes that it declares")
        }
        return data
    }

    private func bytes(of text: String) throws(TextProblem) -> Data {
        let digits = text.unicodeScalars.filter { !$0.properties.isWhitespace }
        let values = digits.compactMap { Character($0).hexDigitValue }
        guard values.count == digits.count, digits.count.isMultiple(of: 2) else {
            throw TextProblem(reason: "data must be hexadecimal digits, two for each byte")
        }
        return Data(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }

    private mutating func text(until end: Unicode.Scalar) throws(TextProblem) -> String {
        guard let index = rest.firstIndex(of: end) else { throw TextProblem(reason: "\(end) is missing") }
        defer { rest = rest[rest.index(after: index)...] }
        return String(rest[..<index])
    }

    /// Text, and whether it has quotes.
    private struct Word {
        var text: String
        var isQuoted = false

        /// Returns the value of the text, with the first declared type that it can have.
        func value(_ declared: Schema.Property?) -> PropertyListValue {
            for type in declared?.types ?? [] {
                switch type {
                case "string": return .string(text)
                case "boolean" where text == "1" || text == "0": return .boolean(text == "1")
                case "integer", "number":
                    if let number = integer ?? Double(text).flatMap({ $0.isFinite ? .real($0) : nil }) { return number }
                default: break
                }
            }
            return (isQuoted ? nil : integer) ?? date ?? .string(text)
        }

        /// The integer that is printed exactly as this text; `nil` for text such as 007, which is a string.
        private var integer: PropertyListValue? {
            if let value = Int64(text), value.description == text { return .integer(value) }
            if let value = UInt64(text), value.description == text { return .unsigned(value) }
            return nil
        }

        /// The date if the text is one such as `2026-11-20 22:00:00 +0000`.
        private var date: PropertyListValue? {
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            let isDate =
                isQuoted && parts.count == 3 && parts[0].utf8.count == 10 && parts[1].utf8.count == 8
                && parts[2] == "+0000"
            guard isDate, text.utf8.allSatisfy({ (0x20...0x3A).contains($0) && $0 != 0x22 }) else { return nil }
            do throws(PreferenceError) {
                return try PropertyListValue(json: "{\"$date\":\"\(parts[0])T\(parts[1])Z\"}")
            } catch {
                // An invalid date, such as one in a 13th month, is a string.
                return nil
            }
        }
    }

    private mutating func word() throws(TextProblem) -> Word {
        skipSpace()
        if rest.first == "\"" { return Word(text: try quoted(), isQuoted: true) }
        let word = rest.prefix { !$0.properties.isWhitespace && !"{}()<>=;,\"".unicodeScalars.contains($0) }
        guard !word.isEmpty else {
            throw TextProblem(reason: rest.first.map { "\($0) isn't a value" } ?? "it ends too early")
        }
        rest = rest[word.endIndex...]
        return Word(text: String(word))
    }

    private mutating func quoted() throws(TextProblem) -> String {
        try expect("\"")
        var units: [UInt16] = []
        while let (scalar, isEscaped) = try next(before: "\"") {
            units.append(contentsOf: isEscaped ? try unescaped(scalar) : Array(String(scalar).utf16))
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw TextProblem(reason: "a string has half of a surrogate pair")
        }
        return text
    }

    /// Returns the code units of an escape, by the scalar after its backslash: `\U00e4`, up to three octal digits, or one scalar.
    private mutating func unescaped(_ scalar: Unicode.Scalar) throws(TextProblem) -> [UInt16] {
        switch scalar {
        case "U", "u":
            let digits = String(rest.prefix(4))
            guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16) else {
                throw TextProblem(reason: "\\\(scalar)\(digits) isn't a character")
            }
            rest.removeFirst(4)
            return [unit]
        case "0"..."7":
            var digits = String(scalar)
            while digits.utf8.count < 3, let next = rest.first, ("0"..."7").contains(next) {
                digits.unicodeScalars.append(rest.removeFirst())
            }
            // Higher codes are in the NEXTSTEP encoding, which macOS doesn't print.
            guard let unit = UInt16(digits, radix: 8), unit < 128 else {
                throw TextProblem(reason: "\\\(digits) isn't a character")
            }
            return [unit]
        default: return Array(String(scalar.unescaped).utf16)
        }
    }
}

/// The reason why a text can't be read.
struct TextProblem: Error {
    let reason: String
}

extension DefaultsText {
    mutating func skipSpace() {
        while let next = rest.first, next.properties.isWhitespace { rest.removeFirst() }
    }

    /// Reads a scalar, with the white space before it, if it is the next one; returns whether it is.
    mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    mutating func expect(_ scalar: Unicode.Scalar) throws(TextProblem) {
        guard takes(scalar) else {
            // Only one character of the text, as it might be a secret.
            throw TextProblem(reason: "\(scalar) is missing before \(rest.first.map { "\"\($0)\"" } ?? "the end")")
        }
    }

    /// Reads elements that commas separate, between two brackets.
    mutating func list(
        from start: Unicode.Scalar,
        to end: Unicode.Scalar,
        _ element: (inout Self) throws(TextProblem) -> PropertyListValue
    ) throws(TextProblem) -> [PropertyListValue] {
        try expect(start)
        var elements: [PropertyListValue] = []
        while !takes(end) {
            elements.append(try element(&self))
            if takes(end) { break }
            try expect(",")
        }
        return elements
    }

    /// Reads the next scalar of a string, and whether a backslash precedes it; `nil` at the end of the string.
    mutating func next(before quote: Unicode.Scalar) throws(TextProblem) -> (Unicode.Scalar, isEscaped: Bool)? {
        guard let scalar = rest.popFirst() else {
            throw TextProblem(reason: "the quote at the end of a string is missing")
        }
        if scalar == quote { return nil }
        guard scalar == "\\" else { return (scalar, false) }
        guard let escaped = rest.popFirst() else { throw TextProblem(reason: "a backslash is at the end") }
        return (escaped, true)
    }
}

extension Unicode.Scalar {
    /// The scalar that this one means after a backslash.
    var unescaped: Unicode.Scalar {
        switch self {
        case "a": "\u{7}"
        case "b": "\u{8}"
        case "f": "\u{C}"
        case "n": "\n"
        case "r": "\r"
        case "t": "\t"
        case "v": "\u{B}"
        default: self
        }
    }
}
