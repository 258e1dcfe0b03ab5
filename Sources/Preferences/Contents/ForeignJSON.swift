/// One JSON object as people and other programs write it: with comments and all else that JSON5 adds, with `null` inside of values, and
/// with the keywords `$schema` and `$id`, which are left out.
///
/// JSON5 adds comments, a comma behind the last element, names without quotes, texts in single quotes and over several
/// lines, hexadecimal numbers, `+1`, `.5`, `5.`, `Infinity` and `NaN` (https://spec.json5.org). A name has a value as in a preferences
/// file, also one with a tag such as `$date`; an object is the value of its name. A `$` at the start of a key has no meaning in an object
/// of several keys, which can't be a tag's. A member that is null is left out, an element that is null is the nil of an array, and a name
/// that is null is removed.
package struct ForeignJSON {
    private let text: [UInt8]
    private let strict: StrictJSON

    package init(_ text: [UInt8]) {
        self.text = text
        var strict = StrictJSON(text)
        strict.convert()
        self.strict = strict
    }

    /// Whether the text ends before its object does, so that it may still be in the process of being saved.
    var isUnfinished: Bool { strict.isUnfinished }

    /// Returns the values that the object sets; `nil` removes a name.
    ///
    /// - Parameter isStrict: Whether a name or a form that this version doesn't know is an error.
    /// - Throws: The first error, whose offset is one in the text.
    package func changes(isStrict: Bool) throws(JSONLineError) -> [String: PropertyListValue?] {
        let (changes, errors) = try readable(isStrict: isStrict)
        if let error = errors.first { throw error }
        return changes
    }

    /// Returns the values that the object sets, and in the order of the text the errors of those that can't be used.
    ///
    /// - Throws: An error of the whole text, whose offset is one in the text.
    func readable(
        isStrict: Bool
    ) throws(JSONLineError) -> (changes: [String: PropertyListValue?], errors: [JSONLineError]) {
        var changes: [String: PropertyListValue?] = [:]
        var errors: [JSONLineError] = []
        for (key, member) in try members() where !["$schema", "$id"].contains(key) {
            let place = strict.places[key] ?? 0
            do throws(JSONLineError) {
                let line = try Self.line(key, member)
                let result = line.withUnsafeBytes { line in
                    Result { () throws(JSONLineError) in
                        try JSONLine.read(line, isStrict: isStrict) { changes.updateValue($1, forKey: $0) }
                    }
                }
                try result.get()
            } catch {
                let error = JSONLineError(kind: error.kind, reason: error.reason, offset: place)
                if error.kind == .unknownFormat { throw error }
                errors.append(error)
            }
        }
        return (changes, errors.sorted { $0.offset < $1.offset })
    }

    /// Returns the line of a preferences file that sets one name.
    private static func line(_ key: String, _ member: PropertyListValue) throws(JSONLineError) -> [UInt8] {
        var line: [UInt8] = []
        do throws(PreferenceError) {
            try JSONLine.writePlain(.dictionary([key: member.isNull ? member : member.foreignForm]), to: &line)
        } catch { throw JSONLineError(kind: .damaged, reason: error.message, offset: 0) }
        return line
    }

    private func members() throws(JSONLineError) -> [String: PropertyListValue] {
        let result = strict.output.withUnsafeBytes { bytes in
            Result { () throws(JSONLineError) in try JSONLine.readPlain(bytes) }
        }
        do throws(JSONLineError) {
            guard case .dictionary(let members) = try result.get() else {
                throw JSONLineError(kind: .damaged, reason: "the text is not a JSON object", offset: 0)
            }
            return members
        } catch { throw JSONLineError(kind: error.kind, reason: error.reason, offset: strict.original(error.offset)) }
    }

    /// The number of the line of each name, from 1.
    var lines: [String: Int] {
        var lines: [String: Int] = [:]
        var (line, offset) = (1, 0)
        for (key, place) in strict.places.sorted(by: { $0.value < $1.value }) {
            line += text[offset..<place].count { $0 == 10 }
            offset = place
            // As a preferences file has a name that begins with a dollar sign.
            lines[key.hasPrefix("$$") ? String(key.dropFirst()) : key] = line
        }
        return lines
    }

    /// Returns the line and the column of a byte of a text, counted from 1 as in editors.
    static func place(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        let before = text[..<min(offset, text.count)]
        let start = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        return (before.count { $0 == 10 } + 1, String(decoding: before[start...], as: UTF8.self).count + 1)
    }
}

/// A converter of JSON5 to JSON in one pass. What isn't JSON5 is copied, so that the reader of JSON finds it.
private struct StrictJSON {
    private let text: [UInt8]
    private var index = 0
    private(set) var output: [UInt8] = []
    /// The offsets of the tokens in the output and in the text, in order.
    private var tokens: [(output: Int, text: Int)] = []
    /// The offset in the text of each name of the outermost object.
    private(set) var places: [String: Int] = [:]
    /// Whether each open bracket is that of an object.
    private var brackets: [Bool] = []
    /// The last two tokens by their first bytes, and the offset of the last one in the output.
    private var last: (byte: UInt8, before: UInt8, offset: Int) = (0, 0, 0)
    /// Whether a comment has no end, which is searched for once.
    private var hasOpenComment = false

    init(_ text: [UInt8]) {
        self.text = text
        output.reserveCapacity(text.count)
    }

    /// Whether there is nothing, or a bracket or a comment without its end.
    var isUnfinished: Bool { last.byte == 0 || !brackets.isEmpty || hasOpenComment }

    /// Returns the offset in the text of one in the output.
    func original(_ offset: Int) -> Int {
        guard let next = tokens.firstIndex(where: { $0.output > offset }) else {
            return min(tokens.last.map { $0.text + offset - $0.output } ?? offset, text.count)
        }
        guard next > 0 else { return tokens[next].text }
        let token = tokens[next - 1]
        return min(token.text + offset - token.output, tokens[next].text)
    }

    mutating func convert() {
        while index < text.count {
            if skipSpace() { continue }
            tokens.append((output.count, index))
            let (start, byte, place) = (output.count, text[index], index)
            let isName = isAtName
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                brackets.append(byte == UInt8(ascii: "{"))
                copy()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // A comma behind the last element.
                if last.byte == UInt8(ascii: ","),
                    ![UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "["), 0].contains(last.before)
                {
                    output[last.offset] = 32
                }
                if !brackets.isEmpty { brackets.removeLast() }
                copy()
            case UInt8(ascii: "\""), UInt8(ascii: "'"): string(quote: byte)
            case _ where isName && isInName && !(48...57 ~= byte): name()
            case _ where Self.isWord(byte) || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte):
                word()
            default: copy()
            }
            if isName, brackets.count == 1 { note(start..<output.count, place) }
            last = (byte, last.byte, start)
        }
        // The reader finds the end of the text here.
        tokens.append((output.count, text.count))
    }

    /// Whether a name of an object has to come next.
    private var isAtName: Bool {
        brackets.last == true && [UInt8(ascii: "{"), UInt8(ascii: ",")].contains(last.byte)
    }

    private mutating func note(_ literal: Range<Int>, _ place: Int) {
        output[literal].withUnsafeBytes { bytes in
            do throws(JSONLineError) {
                if case .string(let name) = try JSONLine.readPlain(bytes) { places[name] = place }
            } catch {
                // The reader finds it, too.
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "\\"), 0x80...:
            true
        default: false
        }
    }

    private func isNext(_ bytes: StaticString, at index: Int) -> Bool {
        index + bytes.utf8CodeUnitCount <= text.count
            && (0..<bytes.utf8CodeUnitCount).allSatisfy { text[index + $0] == bytes.utf8Start[$0] }
    }

    private mutating func copy() {
        output.append(text[index])
        index += 1
    }

    // MARK: Space

    /// Skips white space and comments, and keeps their line breaks; returns whether there were any.
    private mutating func skipSpace() -> Bool {
        let start = index
        while index < text.count {
            if let length = lengthOfSpace {
                index += length
            } else if isNext("//", at: index) {
                while index < text.count, text[index] != 10, text[index] != 13 { index += 1 }
            } else if !hasOpenComment, isNext("/*", at: index) {
                guard let end = endOfComment else {
                    hasOpenComment = true
                    break
                }
                index = end
            } else {
                break
            }
        }
        guard index > start else { return false }
        output.append(32)
        return true
    }

    private var lengthOfSpace: Int? {
        switch text[index] {
        case 9...13, 32: 1
        case 0xC2 where isNext("\u{A0}", at: index): 2
        case 0xE2 where isNext("\u{2028}", at: index) || isNext("\u{2029}", at: index): 3
        case 0xEF where isNext("\u{FEFF}", at: index): 3
        default: nil
        }
    }

    private var endOfComment: Int? {
        var end = index + 2
        while end < text.count {
            if isNext("*/", at: end) { return end + 2 }
            end += 1
        }
        return nil
    }

    // MARK: Words and numbers

    /// Whether a name without quotes may have the next byte; of the escapes it may have that of a character by its number only.
    private var isInName: Bool {
        guard index < text.count, Self.isWord(text[index]), lengthOfSpace == nil else { return false }
        return text[index] != UInt8(ascii: "\\") || isNext("\\u", at: index)
    }

    private mutating func name() {
        output.append(UInt8(ascii: "\""))
        while isInName { copy() }
        output.append(UInt8(ascii: "\""))
    }

    /// Copies a number or a word such as `true`, in the form that JSON has for it.
    private mutating func word() {
        let start = index
        while index < text.count, lengthOfSpace == nil,
            Self.isWord(text[index]) || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(text[index])
        {
            index += 1
        }
        let word = String(decoding: text[start..<index], as: UTF8.self)
        output += (Self.number(word) ?? word).utf8
    }

    /// Returns the JSON of a number in a form that JSON lacks; nil for others.
    private static func number(_ word: String) -> String? {
        let isNegative = word.hasPrefix("-")
        let hasSign = isNegative || word.hasPrefix("+")
        var digits = String(hasSign ? word.dropFirst() : word[...])
        let sign = isNegative ? "-" : ""
        switch digits {
        case "Infinity": return #"{"$real":"\#(sign)inf"}"#
        case "NaN": return #"{"$real":"nan"}"#
        case _ where digits.hasPrefix("0x") || digits.hasPrefix("0X"):
            let number = digits.dropFirst(2)
            // The initializer accepts a sign, too.
            guard number.first?.isHexDigit == true else { return nil }
            return UInt64(number, radix: 16).map { sign + String($0) }
        default: break
        }
        // Another sign or word isn't a number, nor is an exponent alone.
        guard let first = digits.utf8.first, 48...57 ~= first || first == UInt8(ascii: "."),
            digits.utf8.prefix(while: { $0 | 32 != UInt8(ascii: "e") }).contains(where: { 48...57 ~= $0 })
        else { return nil }
        if digits.hasPrefix(".") { digits = "0" + digits }
        if let point = digits.firstIndex(of: "."), let next = Optional(digits.index(after: point)),
            next == digits.endIndex || digits[next] == "e" || digits[next] == "E"
        {
            digits.insert("0", at: next)
        }
        return sign + digits
    }

    // MARK: Texts

    private mutating func string(quote: UInt8) {
        output.append(UInt8(ascii: "\""))
        index += 1
        while index < text.count, text[index] != quote {
            switch text[index] {
            case UInt8(ascii: "\""): output += #"\""#.utf8
            case UInt8(ascii: "\\"):
                index += 1
                escape()
                continue
            case 9: output += #"\t"#.utf8
            // A line break ends no text, and the reader finds it.
            case let byte: output.append(byte)
            }
            index += 1
        }
        guard index < text.count else { return }
        output.append(UInt8(ascii: "\""))
        index += 1
    }

    /// Copies an escape, from after its backslash, in the form that JSON has for it.
    private mutating func escape() {
        guard index < text.count else { return output.append(UInt8(ascii: "\\")) }
        switch text[index] {
        case UInt8(ascii: "x") where index + 2 < text.count:
            output += #"\u00"#.utf8
            output += text[index + 1...index + 2]
            index += 3
        case UInt8(ascii: "v"): replaceEscape(by: #"\u000b"#)
        case UInt8(ascii: "0") where index + 1 == text.count || !(48...57 ~= text[index + 1]):
            replaceEscape(by: #"\u0000"#)
        case 13 where index + 1 < text.count && text[index + 1] == 10: index += 2
        case 10, 13: index += 1
        case 0xE2 where lengthOfSpace != nil: index += 3
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "u"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            output.append(UInt8(ascii: "\\"))
            copy()
        // Any other character stands for itself.
        default: copy()
        }
    }

    private mutating func replaceEscape(by text: String) {
        output += text.utf8
        index += 1
    }
}

extension PropertyListValue {
    /// The value, read from plain JSON, in the form of a preferences file: without members that are null, with the nil of arrays as
    /// elements, and with keys that can't be a tag's escaped.
    fileprivate var foreignForm: PropertyListValue {
        switch self {
        case .array(let elements): return .array(elements.map { $0.isNull ? .string("$null") : $0.foreignForm })
        case .dictionary(let members):
            let isPlain = members.count > 1 || ["$schema", "$id", "$ref", "$comment"].contains(members.first?.key)
            var foreign: [String: PropertyListValue] = [:]
            for (key, member) in members where !member.isNull {
                // Two dollar signs are those of a preferences file, as prefs exports it.
                let mustEscape = isPlain && key.hasPrefix("$") && !key.hasPrefix("$$")
                foreign[mustEscape ? "$" + key : key] = member.foreignForm
            }
            return .dictionary(foreign)
        default: return self
        }
    }

    /// Whether the value, read from plain JSON, stands for null.
    package var isNull: Bool { if case .real(let number) = self { number.isNaN } else { false } }
}
