/// Values in the format of the preferences file, as the tool `prefs` reads and shows them; SPI, not part of the public API.
///
/// The tool is in a separate package, so package access doesn't suffice.
@_spi(Tool)
public enum PreferenceText {
    /// Reads a line, which here may also have line breaks between its tokens; a `nil` value removes the name.
    ///
    /// - Parameter isStrict: Whether a name or a form that this version doesn't know is an error, as in what a person has typed.
    /// - Throws: `unreadable`; the message begins with line and column if there are several lines.
    public static func changes(
        in bytes: [UInt8],
        isStrict: Bool = true
    ) throws(PreferenceError) -> [String: PropertyListValue?] {
        var changes: [String: PropertyListValue?] = [:]
        try reading(bytes) { bytes throws(JSONLineError) in
            try JSONLine.read(bytes, isFirst: true, isStrict: isStrict) { name, value in
                changes.updateValue(value, forKey: name)
            }
        }
        return changes
    }

    /// Returns the line that sets or removes names, with its newline.
    public static func line(_ changes: [String: PropertyListValue?]) throws(PreferenceError) -> [UInt8] {
        var bytes: [UInt8] = []
        try JSONLine.write(changes, to: &bytes)
        return bytes
    }

    /// Reads a single value that a person has typed, so that a form that this version doesn't know is an error.
    public static func value(in text: String) throws(PreferenceError) -> PropertyListValue {
        try reading(Array(text.utf8)) { bytes throws(JSONLineError) in try JSONLine.readValue(bytes, isStrict: true) }
    }

    /// Reads a JSON Schema, with the values in it as in a preferences file.
    ///
    /// Leaves out the keywords of JSON Schema with a leading `$`, such as `$schema` and `$ref`, and null, which a stored value can't
    /// represent.
    public static func schema(in text: String) throws(PreferenceError) -> PropertyListValue {
        let plain = try reading(Array(text.utf8)) { bytes throws(JSONLineError) in try JSONLine.readPlain(bytes) }
        var bytes: [UInt8] = []
        try JSONLine.writePlain(plain.withoutKeywordsOfJSONSchema, to: &bytes)
        return try value(in: String(decoding: bytes, as: UTF8.self))
    }

    /// Reads one JSON object as programs write them for themselves: with comments, `null` inside of values, and the keywords `$schema`
    /// and `$id`, which are left out.
    ///
    /// A member that is null is left out, an element that is null is stored as the nil of an array, and a name that is null is removed.
    /// A `$` at the start of a key has no meaning there, except in an object of one key, which might have a form of a newer version.
    ///
    /// - Throws: `unreadable`, as `changes(in:isStrict:)`.
    public static func foreignChanges(in text: [UInt8]) throws(PreferenceError) -> [String: PropertyListValue?] {
        let members = try reading(withoutComments(text)) { bytes throws(JSONLineError) in
            guard case .dictionary(let members) = try JSONLine.readPlain(bytes) else {
                throw JSONLineError(kind: .damaged, reason: "the line is not a JSON object", offset: 0)
            }
            return members
        }
        var bytes: [UInt8] = []
        let names = members.filter { !["$schema", "$id"].contains($0.key) }
        try JSONLine.writePlain(.dictionary(names.mapValues { $0.isNull ? $0 : $0.foreignForm }), to: &bytes)
        return try changes(in: bytes)
    }

    /// Returns JSON with spaces in place of comments, so that all places stay the same.
    public static func withoutComments(_ text: [UInt8]) -> [UInt8] {
        var (text, index) = (text, 0)
        func isNext(_ characters: StaticString, at index: Int) -> Bool {
            index + 1 < text.count && text[index] == characters.utf8Start[0]
                && text[index + 1] == characters.utf8Start[1]
        }
        while index < text.count {
            if isNext("//", at: index) {
                while index < text.count, text[index] != UInt8(ascii: "\n") { (text[index], index) = (32, index + 1) }
            } else if isNext("/*", at: index) {
                let start = index
                index += 2
                while index < text.count, !isNext("*/", at: index) { index += 1 }
                index = min(index + 2, text.count)
                for place in start..<index where text[place] != UInt8(ascii: "\n") { text[place] = 32 }
            } else {
                if text[index] == UInt8(ascii: "\"") {
                    index += 1
                    while index < text.count, text[index] != UInt8(ascii: "\"") {
                        index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                    }
                }
                index += 1
            }
        }
        return text
    }

    /// Returns the text of a single value.
    public static func text(of value: PropertyListValue) throws(PreferenceError) -> String {
        var bytes: [UInt8] = []
        try JSONLine.writeValue(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text with each character that could change the display of a terminal escaped as in JSON, except those in `kept`.
    public static func printable(_ text: String, keeping kept: [Unicode.Scalar] = []) -> String {
        text.escapingControls(except: kept)
    }

    private static func reading<Result>(
        _ bytes: [UInt8],
        _ body: (UnsafeRawBufferPointer) throws(JSONLineError) -> Result
    ) throws(PreferenceError) -> Result {
        let result = bytes.withUnsafeBytes { bytes in
            Swift.Result { () throws(JSONLineError) in try body(bytes) }
        }
        do throws(JSONLineError) {
            return try result.get()
        } catch {
            throw PreferenceError(
                error.kind == .unknownFormat ? .unknownFormat : .unreadable,
                bytes.contains(UInt8(ascii: "\n"))
                    ? "\(place(of: error.offset, in: bytes)): \(error.reason)" : error.description
            )
        }
    }

    /// Returns the line and the column of a byte, counted from 1 as in editors.
    private static func place(of offset: Int, in bytes: [UInt8]) -> String {
        let lines = bytes[..<min(offset, bytes.count)].split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        return "line \(lines.count), column \(String(decoding: lines.last ?? [], as: UTF8.self).count + 1)"
    }
}

extension PropertyListValue {
    /// The value, read from plain JSON, without null and without the keys with a single leading `$` that aren't a value's tag.
    fileprivate var withoutKeywordsOfJSONSchema: PropertyListValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map(\.withoutKeywordsOfJSONSchema))
        case .dictionary(let members):
            .dictionary(
                members.filter { key, member in
                    let isTag = members.count == 1 && ["$data", "$date", "$real"].contains(key)
                    return !member.isNull && (!key.hasPrefix("$") || key.hasPrefix("$$") || isTag)
                }
                .mapValues(\.withoutKeywordsOfJSONSchema)
            )
        default: self
        }
    }

    /// The value, read from plain JSON, in the form of the file: without members that are null, with the nil of arrays as elements, and
    /// with keys that can't be a form of the file escaped.
    fileprivate var foreignForm: PropertyListValue {
        switch self {
        case .array(let elements): return .array(elements.map { $0.isNull ? .string("$null") : $0.foreignForm })
        case .dictionary(let members):
            let isPlain = members.count > 1 || ["$schema", "$id", "$ref", "$comment"].contains(members.first?.key)
            var foreign: [String: PropertyListValue] = [:]
            for (key, member) in members where !member.isNull {
                foreign[isPlain && key.hasPrefix("$") ? "$" + key : key] = member.foreignForm
            }
            return .dictionary(foreign)
        default: return self
        }
    }

    /// Whether the value stands for null.
    fileprivate var isNull: Bool { if case .real(let number) = self { number.isNaN } else { false } }
}
