#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue: CustomStringConvertible {
    /// The value as text for people, similar to JSON, with sorted keys; not meant to be parsed.
    public var description: String {
        switch self {
        case .boolean(let value): return value.description
        case .integer(let value): return value.description
        case .unsigned(let value): return value.description
        case .real(let value): return value.description
        case .string(let value): return value.quoted
        case .data(let value): return "{\"$data\":\"\(value.base64EncodedString())\"}"
        case .date(let value): return "{\"$date\":\(value.readable.quoted)}"
        case .array(let elements): return "[\(elements.map(\.description).joined(separator: ", "))]"
        case .dictionary(let members):
            if let text = textOfUnknownForm { return text.escapingControls() }
            let lines = members.sortedByBytes.map { "\($0.key.quoted): \($0.value)" }
            return "{\(lines.joined(separator: ", "))}"
        }
    }

    /// The kind and a short form of the value, for error messages.
    package var summary: String {
        switch self {
        case .boolean(let value): return "boolean \(value)"
        case .integer(let value): return "integer \(value)"
        case .unsigned(let value): return "integer \(value)"
        case .real(let value): return "real \(value)"
        case .string(let value):
            let start = value.prefix(40)
            let rest = start.endIndex < value.endIndex ? "…" : ""
            return "string \(String(start).quoted)\(rest)"
        case .data(let value): return "data of \(value.count) byte\(value.count == 1 ? "" : "s")"
        case .date(let value): return "date \(value.readable)"
        case .array(let elements): return "array of \(elements.count)"
        case .dictionary(let members):
            if textOfUnknownForm != nil { return "a form of a newer version" }
            return "dictionary of \(members.count)"
        }
    }
}

extension Date {
    /// Foundation's description or, more than about 3,000 years from 2001 and for no number, for which that traps, the seconds since 2001.
    var readable: String {
        let seconds = timeIntervalSinceReferenceDate
        return seconds.magnitude < 1e11 ? description : seconds.description
    }
}

extension String {
    fileprivate var quoted: String {
        let text = replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(text.escapingControls())\""
    }

    /// Returns the text with each character escaped, as in JSON, that could change the display of a terminal or a log: controls (Cc),
    /// formats such as bidirectional marks (Cf), line and paragraph separators (Zl, Zp).
    package func escapingControls(except kept: [Unicode.Scalar] = []) -> String {
        guard unicodeScalars.contains(where: { $0.isControl && !kept.contains($0) }) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isControl, !kept.contains(scalar) {
                text += scalar.escape
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether the character is invisible or changes the display of the text around it.
    fileprivate var isControl: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }

    fileprivate var escape: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default:
            String(self).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            .joined()
        }
    }
}
