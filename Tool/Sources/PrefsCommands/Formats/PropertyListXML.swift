import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The XML property list of macOS, as `defaults import` reads it.
enum PropertyListXML {
    /// Returns whether the format can represent a value: XML lacks some characters, and the property list has dates of the years 1 to 9999
    /// only.
    static func hasForm(of value: PropertyListValue) -> Bool {
        do throws(Unsupported) { _ = try element(value) } catch { return false }
        return true
    }

    /// - Parameter advice: What the message about a value that the format can't represent says at its end.
    static func text(of contents: [String: PropertyListValue], advice: String = "") throws -> String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        for (name, value) in contents.sortedByName {
            do throws(Unsupported) {
                _ = try element(value)
                _ = try escaped(name)
            } catch {
                throw Failure(
                    .usage,
                    "\"\(name)\" can't be written as a property list: \(error.reason)\(advice)"
                )
            }
        }
        do throws(Unsupported) { text += try element(.dictionary(contents)) } catch {
            throw Failure(.usage, error.reason)
        }
        return text + "</plist>\n"
    }

    private struct Unsupported: Error {
        let reason: String
    }

    private static func element(_ value: PropertyListValue, depth: Int = 0) throws(Unsupported) -> String {
        let indent = String(repeating: "\t", count: depth)
        switch value {
        case .boolean(let value): return "\(indent)<\(value)/>\n"
        case .integer(let value): return "\(indent)<integer>\(value)</integer>\n"
        case .unsigned(let value): return "\(indent)<integer>\(value)</integer>\n"
        case .real(let value):
            let text = value.isNaN ? "nan" : value.isInfinite ? (value < 0 ? "-infinity" : "+infinity") : "\(value)"
            return "\(indent)<real>\(text)</real>\n"
        case .string(let value): return "\(indent)<string>\(try escaped(value))</string>\n"
        case .data(let value): return "\(indent)<data>\(value.base64EncodedString())</data>\n"
        case .date(let value): return "\(indent)<date>\(try date(value))</date>\n"
        case .array(let elements):
            if elements.isEmpty { return "\(indent)<array/>\n" }
            var text = "\(indent)<array>\n"
            for element in elements { text += try self.element(element, depth: depth + 1) }
            return text + "\(indent)</array>\n"
        case .dictionary(let members):
            if members.isEmpty { return "\(indent)<dict/>\n" }
            var text = "\(indent)<dict>\n"
            for (key, value) in members.sortedByName {
                text += "\(indent)\t<key>\(try escaped(key))</key>\n" + (try element(value, depth: depth + 1))
            }
            return text + "\(indent)</dict>\n"
        }
    }

    /// Returns the text of a date in whole seconds, as the format has no fractions.
    private static func date(_ date: Date) throws(Unsupported) -> String {
        let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
        // The format has only the years 0001 to 9999.
        guard (-63_114_076_800..<252_423_993_600).contains(seconds) else {
            throw Unsupported(reason: "its date is outside the years 1 to 9999")
        }
        return Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
    }

    private static func escaped(_ text: String) throws(Unsupported) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\r": escaped += "&#13;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case "\0"..<" ", "\u{FFFE}", "\u{FFFF}":
                throw Unsupported(reason: "XML has no character U+\(String(scalar.value, radix: 16, uppercase: true))")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
