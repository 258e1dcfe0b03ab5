import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a value in GVariant's text format (https://docs.gtk.org/glib/gvariant-text-format.html).
///
/// Tuples become arrays, byte strings become data, a variant becomes the value inside it, and keys of dictionaries become strings. A
/// maybe without a value is absent, which is allowed only at the top level.
struct GVariantText: TextReader {
    var rest: Substring.UnicodeScalarView

    init(_ text: Substring) { rest = text.unicodeScalars }

    mutating func whole() throws(TextProblem) -> PropertyListValue? {
        let value = try maybe(depth: 0)
        skipSpace()
        guard rest.isEmpty else { throw TextProblem(reason: "something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(TextProblem) -> PropertyListValue {
        guard let value = try maybe(depth: depth) else { throw TextProblem(reason: "`nothing` is inside a value") }
        return value
    }

    /// Reads a value; returns `nil` for `nothing`.
    private mutating func maybe(depth: Int) throws(TextProblem) -> PropertyListValue? {
        guard depth <= 128 else { throw TextProblem(reason: "the value is nested deeper than 128 levels") }
        skipSpace()
        guard let first = rest.first else { throw TextProblem(reason: "it ends too early") }
        switch first {
        case "'", "\"": return .string(try string())
        case "[": return .array(try elements(from: "[", to: "]", depth: depth))
        case "(": return .array(try elements(from: "(", to: ")", depth: depth))
        case "{": return .dictionary(try dictionary(depth: depth))
        case "<":
            rest.removeFirst()
            let value = try value(depth: depth + 1)
            try expect(">")
            return value
        case "@":
            _ = word()
            return try maybe(depth: depth)
        case "b" where rest.dropFirst().first.map { $0 == "'" || $0 == "\"" } ?? false:
            rest.removeFirst()
            return .data(try byteString())
        default: return try named(word(), depth: depth)
        }
    }

    private mutating func named(_ word: String, depth: Int) throws(TextProblem) -> PropertyListValue? {
        switch word {
        case "true": return true
        case "false": return false
        case "nothing": return nil
        case "just", "boolean", "byte", "int16", "uint16", "int32", "uint32", "handle", "int64", "uint64", "string",
            "objectpath", "signature":
            return try maybe(depth: depth + 1)
        case "double":
            let value = try maybe(depth: depth + 1)
            if case .integer(let value) = value { return .real(Double(value)) }
            return value
        default: return try number(word)
        }
    }

    private func number(_ word: String) throws(TextProblem) -> PropertyListValue {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
        let isHexadecimal = digits.lowercased().hasPrefix("0x")
        let isOctal = !isHexadecimal && digits.count > 1 && digits.first == "0" && digits.allSatisfy(\.isNumber)
        let magnitude = UInt64(
            isHexadecimal ? digits.dropFirst(2) : digits,
            radix: isHexadecimal ? 16 : isOctal ? 8 : 10
        )
        if let magnitude {
            if let value = Int64(exactly: magnitude) { return .integer(isNegative ? -value : value) }
            if !isNegative { return .unsigned(magnitude) }
            if magnitude == Int64.min.magnitude { return .integer(.min) }
        }
        if let value = Double(word) { return .real(value) }
        throw TextProblem(reason: word.isEmpty ? "no value begins here" : "a word without quotes isn't a value")
    }

    /// Reads up to a character that can't be part of a number, a keyword or the type of an annotation.
    private mutating func word() -> String {
        var word = String.UnicodeScalarView()
        if rest.first == "@" {
            while let next = rest.first, next != " " { word.append(rest.removeFirst()) }
            return String(word)
        }
        while let next = rest.first,
            next.properties.isAlphabetic || next.properties.numericType != nil || "+-.".unicodeScalars.contains(next)
        {
            word.append(rest.removeFirst())
        }
        return String(word)
    }

    private mutating func elements(
        from start: Unicode.Scalar,
        to end: Unicode.Scalar,
        depth: Int
    ) throws(TextProblem) -> [PropertyListValue] {
        try list(from: start, to: end) { reader throws(TextProblem) in try reader.value(depth: depth + 1) }
    }

    private mutating func dictionary(depth: Int) throws(TextProblem) -> [String: PropertyListValue] {
        rest.removeFirst()
        var members: [String: PropertyListValue] = [:]
        while !takes("}") {
            let key = try value(depth: depth + 1)
            // A colon in a dictionary, a comma in a single dictionary entry.
            if !takes(":") { try expect(",") }
            members[key.text] = try value(depth: depth + 1)
            if takes("}") { break }
            try expect(",")
        }
        return members
    }

    private mutating func byteString() throws(TextProblem) -> Data {
        let quote = rest.removeFirst()
        var bytes = Data()
        while let (scalar, isEscaped) = try next(before: quote) {
            guard isEscaped, var byte = scalar.octalDigit else {
                bytes.append(contentsOf: String(isEscaped ? scalar.unescaped : scalar).utf8)
                continue
            }
            for _ in 0..<2 {
                guard let digit = rest.first?.octalDigit else { break }
                rest.removeFirst()
                byte = byte << 3 | digit
            }
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return bytes
    }

    private mutating func string() throws(TextProblem) -> String {
        let quote = rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let (scalar, isEscaped) = try next(before: quote) {
            guard isEscaped, scalar == "u" || scalar == "U" else {
                text.append(isEscaped ? scalar.unescaped : scalar)
                continue
            }
            let digits = String(rest.prefix(scalar == "u" ? 4 : 8))
            guard let code = UInt32(digits, radix: 16), let escaped = Unicode.Scalar(code) else {
                throw TextProblem(reason: "\\\(scalar)\(digits) isn't a character")
            }
            rest.removeFirst(digits.unicodeScalars.count)
            text.append(escaped)
        }
        return String(text)
    }
}

extension Unicode.Scalar {
    fileprivate var octalDigit: UInt32? { ("0"..."7").contains(self) ? value - 48 : nil }
}

extension PropertyListValue {
    /// The value as the key of a dictionary.
    fileprivate var text: String {
        if case .string(let text) = self { text } else { description }
    }
}
