/// One JSON object as people and other programs write it: with comments, a comma behind the last element, `null` inside of values, and
/// with the keywords `$schema` and `$id`, which are left out.
///
/// A name has a value as in a preferences file, also one with a tag such as `$date`; an object is the value of its name. A `$` at the
/// start of a key has no meaning in an object of several keys, which can't be a tag's. A member that is null is left out, an element that
/// is null is the nil of an array, and a name that is null is removed.
package struct ForeignJSON {
    private let text: [UInt8]
    private let strict: StrictJSON

    package init(_ text: [UInt8]) {
        self.text = text
        strict = StrictJSON(text)
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
        let result = strict.bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONLineError) in try JSONLine.readPlain(bytes) }
        }
        guard case .dictionary(let members) = try result.get() else {
            throw JSONLineError(kind: .damaged, reason: "the text is not a JSON object", offset: 0)
        }
        return members
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

/// A text whose comments, line breaks and commas behind a last element are replaced by spaces, so that the reader of JSON finds the rest
/// at the offsets that it has in the text.
private struct StrictJSON {
    private(set) var bytes: [UInt8]
    /// The offset of each name of the outermost object.
    private(set) var places: [String: Int] = [:]
    private var index = 0
    private var depth = 0
    /// The last two tokens by their first bytes, and the offset of the last one.
    private var last: (byte: UInt8, before: UInt8, offset: Int) = (0, 0, 0)
    /// Whether a comment has no end, which is searched for once.
    private var hasOpenComment = false

    init(_ text: [UInt8]) {
        bytes = text
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { blank(upTo: 3) }
        while index < bytes.count {
            if skipSpace() { continue }
            let (start, byte) = (index, bytes[index])
            index += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if last.byte == UInt8(ascii: ","),
                    ![UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "["), 0].contains(last.before)
                {
                    bytes[last.offset] = 32
                }
                depth = max(0, depth - 1)
            case UInt8(ascii: "\""):
                skipString()
                if depth == 1, [UInt8(ascii: "{"), UInt8(ascii: ",")].contains(last.byte) { note(start) }
            default: break
            }
            last = (byte, last.byte, start)
        }
    }

    /// Whether there is nothing, or a bracket or a comment without its end.
    var isUnfinished: Bool { last.byte == 0 || depth > 0 || hasOpenComment }

    /// Records the place of the name that has just been skipped.
    private mutating func note(_ start: Int) {
        bytes[start..<index].withUnsafeBytes { bytes in
            do throws(JSONLineError) {
                if case .string(let name) = try JSONLine.readPlain(bytes) { places[name] = start }
            } catch {
                // The reader finds it, too.
            }
        }
    }

    private mutating func blank(upTo end: Int) {
        while index < end {
            bytes[index] = 32
            index += 1
        }
    }

    /// Replaces white space or a comment; returns whether there was any.
    private mutating func skipSpace() -> Bool {
        let byte = bytes[index]
        if byte == 32 || 9...10 ~= byte || byte == 13 {
            blank(upTo: index + 1)
            return true
        }
        guard byte == UInt8(ascii: "/"), index + 1 < bytes.count, !hasOpenComment else { return false }
        switch bytes[index + 1] {
        case UInt8(ascii: "/"): blank(upTo: bytes[index...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count)
        case UInt8(ascii: "*"):
            var end = index + 3
            while end < bytes.count, bytes[end - 1] != UInt8(ascii: "*") || bytes[end] != UInt8(ascii: "/") { end += 1 }
            guard end < bytes.count else {
                hasOpenComment = true
                return false
            }
            blank(upTo: end + 1)
        default: return false
        }
        return true
    }

    /// Skips the rest of a string; a line break ends none, and the reader finds it.
    private mutating func skipString() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index + 1, bytes.count)
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
