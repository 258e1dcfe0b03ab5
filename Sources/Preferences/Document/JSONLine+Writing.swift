#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension JSONLine {
    /// Appends the line that sets or removes one name, including the newline. If this throws, `bytes` is unchanged.
    static func write(
        name: String,
        value: PropertyListValue?,
        to bytes: inout [UInt8],
        maximumLength: Int = maximumLength
    ) throws(PreferenceError) {
        try append(to: &bytes, maximumLength: maximumLength) { (bytes, limit) throws(PreferenceError) in
            bytes.append(UInt8(ascii: "{"))
            try appendEntry(name, value, to: &bytes, limit: limit)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends the line of a short name and a small value at once, because each append takes about 100 instructions. Returns
    /// false and appends nothing for all other values and for names that need escapes.
    static func appendPlainLine(_ name: String, _ value: PropertyListValue?, to bytes: inout [UInt8]) -> Bool {
        let (word, magnitude, isNegative): (StaticString, UInt64, Bool)
        switch value {
        case .integer(let value)?: (word, magnitude, isNegative) = ("", value.magnitude, value < 0)
        case .unsigned(let value)?: (word, magnitude, isNegative) = ("", value, false)
        case .boolean(let value)?: (word, magnitude, isNegative) = (value ? "true" : "false", 0, false)
        case nil: (word, magnitude, isNegative) = ("null", 0, false)
        default: return false
        }
        let isAppended = name.utf8.withContiguousStorageIfAvailable { name in
            let name = UnsafeRawBufferPointer(name)
            guard 1...200 ~= name.count, name[0] != UInt8(ascii: "$"), name.firstIndexToEscape(from: 0) == name.count
            else { return false }
            withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { line in
                // Filled from its end, because the digits are computed from the last to the first.
                var start = line.count &- 2
                line[start] = UInt8(ascii: "}")
                line[start &+ 1] = UInt8(ascii: "\n")
                if word.utf8CodeUnitCount > 0 {
                    start &-= word.utf8CodeUnitCount
                    UnsafeMutableRawBufferPointer(rebasing: line[start...]).copyMemory(
                        from: UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
                    )
                } else {
                    start = putDigits(of: magnitude, isNegative: isNegative, before: start, in: line)
                }
                start &-= name.count &+ 4
                line[start] = UInt8(ascii: "{")
                line[start &+ 1] = UInt8(ascii: "\"")
                UnsafeMutableRawBufferPointer(rebasing: line[(start &+ 2)...]).copyMemory(from: name)
                line[start &+ name.count &+ 2] = UInt8(ascii: "\"")
                line[start &+ name.count &+ 3] = UInt8(ascii: ":")
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[start...]))
            }
            return true
        }
        return isAppended ?? false
    }

    /// Appends the line that sets one name to a value whose text is known, including the newline.
    static func write(name: String, text: ArraySlice<UInt8>, to bytes: inout [UInt8]) throws(PreferenceError) {
        bytes.append(UInt8(ascii: "{"))
        try appendKey(name, to: &bytes, limit: .max)
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: "}\n".utf8)
    }

    /// Appends a line that contains only a comment, including the newline. If this throws, `bytes` is unchanged.
    static func write(comment text: String, to bytes: inout [UInt8]) throws(PreferenceError) {
        try append(to: &bytes) { (bytes, limit) throws(PreferenceError) in
            bytes += Array(#"{"$comment":"#.utf8)
            try appendValue(.string(text), nesting: 0, to: &bytes, limit: limit)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends a value alone, including its tags. If this throws, `bytes` is unchanged.
    package static func writeValue(_ value: PropertyListValue, to bytes: inout [UInt8]) throws(PreferenceError) {
        try append(to: &bytes) { (bytes, limit) throws(PreferenceError) in
            try appendValue(value, nesting: 0, to: &bytes, limit: limit)
        }
    }

    /// Appends a value that `readPlain` has read, on one line. If this throws, a part of it is left.
    package static func writePlain(_ value: PropertyListValue, to bytes: inout [UInt8]) throws(PreferenceError) {
        switch value {
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try writePlain(element, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .dictionary(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, (key, member)) in members.sortedByBytes.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                // Written as a value, because keys would get an additional `$`.
                try writeValue(.string(key), to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                try writePlain(member, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .real(let number) where number.isNaN: bytes.append(contentsOf: "null".utf8)
        default: try writeValue(value, to: &bytes)
        }
    }

    /// Returns an upper bound of the bytes that a name and its value take in a line; more than that may have if it can't be written.
    static func longestEntry(_ name: String, _ value: PropertyListValue?) -> Int {
        guard let value else { return 0 }
        return (name.isEmpty ? maximumLength : name.longestLiteral) + longestText(of: value, nesting: 0)
    }

    /// Returns an upper bound of the bytes that a value takes; more than a line may have if it is nested too deep.
    private static func longestText(of value: PropertyListValue, nesting: Int) -> Int {
        switch value {
        case .boolean, .integer, .unsigned, .real, .date: return 64
        case .string(let value): return value.longestLiteral
        case .data(let value): return value.count * 2 + 64
        case .array(let values):
            guard nesting < maximumNesting else { return maximumLength }
            return values.reduce(64) { $0 + longestText(of: $1, nesting: nesting + 1) }
        case .dictionary(let values):
            guard nesting < maximumNesting else { return maximumLength }
            return values.reduce(64) { $0 + $1.key.longestLiteral + longestText(of: $1.value, nesting: nesting + 1) }
        }
    }

    /// Appends by `body`, and removes that again if it throws or makes the line too long.
    @inline(__always)
    static func append(
        to bytes: inout [UInt8],
        maximumLength: Int = maximumLength,
        _ body: (_ bytes: inout [UInt8], _ limit: Int) throws(PreferenceError) -> Void
    ) throws(PreferenceError) {
        let start = bytes.count
        do {
            try body(&bytes, start + maximumLength)
            try check(0, fits: bytes, limit: start + maximumLength)
        } catch {
            bytes.removeLast(bytes.count - start)
            throw error
        }
    }

    static func appendEntry(
        _ name: String,
        _ value: PropertyListValue?,
        to bytes: inout [UInt8],
        limit: Int
    ) throws(PreferenceError) {
        guard !name.isEmpty else { throw PreferenceError(.invalidName, "a name can't be empty; nothing was changed") }
        do {
            try appendKey(name, to: &bytes, limit: limit)
            if let value {
                try appendValue(value, nesting: 0, to: &bytes, limit: limit)
            } else {
                bytes.append(contentsOf: "null".utf8)
            }
        } catch {
            throw error.named(name)
        }
    }

    private static func appendValue(
        _ value: PropertyListValue,
        nesting: Int,
        to bytes: inout [UInt8],
        limit: Int
    ) throws(PreferenceError) {
        switch value {
        case .boolean(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): appendInteger(value.magnitude, isNegative: value < 0, to: &bytes)
        case .unsigned(let value): appendInteger(value, isNegative: false, to: &bytes)
        case .real(let value): appendReal(value, to: &bytes)
        case .string(let value): try appendString(value, to: &bytes, limit: limit)
        case .data(let value): try appendData(value, to: &bytes, limit: limit)
        case .date(let value): appendDate(value, to: &bytes)
        case .array(let values): try appendArray(values, nesting: nesting + 1, to: &bytes, limit: limit)
        case .dictionary(let values): try appendDictionary(values, nesting: nesting + 1, to: &bytes, limit: limit)
        }
    }

    @inline(never)
    private static func appendArray(
        _ values: [PropertyListValue],
        nesting: Int,
        to bytes: inout [UInt8],
        limit: Int
    ) throws(PreferenceError) {
        try check(nesting: nesting)
        bytes.append(UInt8(ascii: "["))
        for index in values.indices {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            try check(0, fits: bytes, limit: limit)
            try appendValue(values[index], nesting: nesting, to: &bytes, limit: limit)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    @inline(never)
    private static func appendDictionary(
        _ values: [String: PropertyListValue],
        nesting: Int,
        to bytes: inout [UInt8],
        limit: Int
    ) throws(PreferenceError) {
        try check(nesting: nesting)
        if values.count == 1, let text = PropertyListValue.dictionary(values).textOfUnknownForm, isUnknownForm(text) {
            return bytes.append(contentsOf: text.utf8)
        }
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for (key, value) in values.sortedByBytes {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            try appendKey(key, to: &bytes, limit: limit)
            try appendValue(value, nesting: nesting, to: &bytes, limit: limit)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Returns whether a text is one that was read as a value of an unknown form, and not a string of a program's own dictionary.
    private static func isUnknownForm(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { bytes in
            do throws(JSONLineError) { return try readValue(bytes) == .unknownForm(text) } catch { return false }
        }
    }

    private static func appendInteger(_ magnitude: UInt64, isNegative: Bool, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            let start = putDigits(of: magnitude, isNegative: isNegative, before: 20, in: digits)
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Writes a number into a buffer before an index, and returns the index at which it begins.
    // Takes a tenth of the time of `description`.
    @inline(__always)
    private static func putDigits(
        of magnitude: UInt64,
        isNegative: Bool,
        before end: Int,
        in buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        var (rest, start) = (magnitude, end)
        repeat {
            start &-= 1
            buffer[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if isNegative {
            start &-= 1
            buffer[start] = UInt8(ascii: "-")
        }
        return start
    }

    private static func appendReal(_ value: Double, to bytes: inout [UInt8]) {
        if let word = NonfiniteWord(value) {
            bytes.append(contentsOf: "{\"$real\":\"\(word.rawValue)\"}".utf8)
        } else {
            // The shortest decimal that converts back to the same value; it always has a point or an exponent.
            bytes.append(contentsOf: value.description.utf8)
        }
    }

    private static func appendDate(_ value: Date, to bytes: inout [UInt8]) {
        let seconds = value.timeIntervalSinceReferenceDate
        if let text = NonfiniteWord(seconds)?.rawValue ?? DateText.text(forSeconds: seconds) {
            bytes.append(contentsOf: "{\"$date\":\"\(text)\"}".utf8)
        } else {
            bytes.append(contentsOf: "{\"$date\":\(seconds)}".utf8)
        }
    }

    private static func appendData(_ value: Data, to bytes: inout [UInt8], limit: Int) throws(PreferenceError) {
        try check((value.count + 2) / 3 * 4, fits: bytes, limit: limit)
        bytes.append(contentsOf: "{\"$data\":\"".utf8)
        Base64.append(value, to: &bytes)
        bytes.append(contentsOf: "\"}".utf8)
    }

    private static func appendKey(_ key: String, to bytes: inout [UInt8], limit: Int) throws(PreferenceError) {
        try appendString(key, isKey: true, to: &bytes, limit: limit)
        bytes.append(UInt8(ascii: ":"))
    }

    private static func appendString(
        _ string: String,
        isKey: Bool = false,
        to bytes: inout [UInt8],
        limit: Int
    ) throws(PreferenceError) {
        var string = string
        try check(string.utf8.count, fits: bytes, limit: limit)
        bytes.append(UInt8(ascii: "\""))
        string.withUTF8 { text in
            if isKey, text.first == UInt8(ascii: "$") { bytes.append(UInt8(ascii: "$")) }
            let text = UnsafeRawBufferPointer(text)
            var start = 0
            while true {
                let end = text.firstIndexToEscape(from: start)
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<end]))
                guard end < text.count else { break }
                appendEscape(of: text[end], to: &bytes)
                start = end + 1
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        default:
            bytes.append(contentsOf: (byte < 16 ? "u000" : "u00").utf8)
            bytes.append(contentsOf: String(byte, radix: 16).utf8)
        }
    }

    private static func check(_ count: Int, fits bytes: [UInt8], limit: Int) throws(PreferenceError) {
        guard bytes.count + count > limit else { return }
        throw PreferenceError(
            .tooLarge,
            "the values to store take more than \(maximumLength >> 20) MiB; nothing was changed. Keep large data in a file"
        )
    }

    private static func check(nesting: Int) throws(PreferenceError) {
        guard nesting > maximumNesting else { return }
        throw PreferenceError(
            .tooLarge,
            "the value is nested deeper than \(maximumNesting) levels; nothing was changed"
        )
    }
}

extension PropertyListValue {
    /// Whether every value of this type takes few bytes.
    var isShort: Bool {
        switch self {
        case .boolean, .integer, .unsigned, .real, .date: true
        case .string, .data, .array, .dictionary: false
        }
    }
}

extension String {
    /// An upper bound of the bytes of the string in JSON, where each byte may become `\u0000`.
    fileprivate var longestLiteral: Int { utf8.count * 6 + 64 }
}
