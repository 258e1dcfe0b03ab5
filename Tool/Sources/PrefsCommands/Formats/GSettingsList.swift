import Preferences

/// The output of `gsettings list-recursively`: on each line a schema, a key and a value in GVariant's text format.
enum GSettingsList {
    /// Returns whether the first line of some bytes has this format.
    static func begins(_ bytes: ArraySlice<UInt8>) -> Bool {
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        do throws(TextProblem) {
            guard let entry = Entry(line) else { return false }
            _ = try entry.value()
            return true
        } catch {
            return false
        }
    }

    /// Returns the values by schema and key, as in `org.gnome.calculator.base`; `nil` for `nothing`.
    static func contents(of bytes: [UInt8], _ title: String) throws -> [String: PropertyListValue?] {
        var contents: [String: PropertyListValue?] = [:]
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            func damaged(_ reason: String) -> Failure {
                Failure(.damaged, "line \(index + 1) of \(title) can't be read as gsettings prints it: \(reason)")
            }
            guard let line = String(validating: line, as: UTF8.self) else { throw damaged("it isn't UTF-8") }
            guard let entry = Entry(line) else { throw damaged("it isn't a schema, a key and a value") }
            do throws(TextProblem) {
                contents.updateValue(try entry.value(), forKey: entry.name)
            } catch {
                throw damaged(error.reason)
            }
        }
        return contents
    }

    /// A line.
    private struct Entry {
        let name: String
        private let text: Substring

        init?(_ line: String) {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, Self.isName(parts[0]), Self.isName(parts[1]) else { return nil }
            name = "\(parts[0]).\(parts[1])"
            text = parts[2]
        }

        /// Returns whether a word has only letters, digits, dashes and dots, as schemas and keys do.
        private static func isName(_ word: Substring) -> Bool {
            word.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || isLetterOrDigit($0) }
        }

        private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }

        func value() throws(TextProblem) -> PropertyListValue? {
            var reader = GVariantText(text)
            return try reader.whole()
        }
    }
}
