#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A reader of a line, or of a value alone, from bytes that must not move while it exists.
struct JSONReader {
    /// A name with its value in the line; nil removes the name.
    typealias Entry = (name: String, value: PropertyListValue?)

    let bytes: UnsafeRawBufferPointer
    var offset = 0
    /// The buffer in which strings with escapes are decoded.
    var scratch: [UInt8] = []
    /// The error for the line's format, if that is too new.
    private var newerFormat: JSONLineError?
    /// The parts of the line that set nothing, in order.
    private(set) var remarks: [JSONLine.Remark] = []
    /// Whether the text is any JSON: then a `$` has no meaning, and null, which can't be stored, is the real NaN.
    var isPlain = false
    /// Whether the text is only skipped: what a newer version may write is accepted, such as a number that no type holds.
    var isSkipped = false
    /// Whether a name or a form that this version doesn't know is damage, as in what a person has typed.
    var isStrict = false

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func skipByteOrderMark() throws(JSONLineError) {
        let mark: StaticString = "\u{FEFF}"
        let length = min(bytes.count, mark.utf8CodeUnitCount)
        guard length > 0, (0..<length).allSatisfy({ bytes[$0] == mark.utf8Start[$0] }) else { return }
        guard length == mark.utf8CodeUnitCount else { throw incomplete() }
        offset = length
    }

    /// Reads the entries of the line. The first is returned separately, because most lines have only one and then need no
    /// array.
    mutating func line(maximumLength: Int) throws(JSONLineError) -> (first: Entry?, others: [Entry]) {
        guard bytes.count <= maximumLength else {
            throw damaged("the line is longer than \(maximumLength >> 20) MiB", at: maximumLength)
        }
        skipSpace()
        guard offset < bytes.count else { return (nil, []) }
        var entries: (first: Entry?, others: [Entry])
        do {
            entries = try self.entries()
            // A line that was appended to one without an end.
            while !isStrict, isNext("{") {
                let more = try self.entries()
                if entries.first == nil {
                    entries.first = more.first
                } else {
                    entries.others += [more.first].compactMap(\.self)
                }
                entries.others += more.others
            }
            try expectEnd()
        } catch {
            // A line that is invalid here may be valid in its newer format.
            if let newerFormat, error.kind == .damaged { throw newerFormat }
            throw error
        }
        if let newerFormat { throw newerFormat }
        return entries
    }

    /// Whether this character follows, after white space.
    private mutating func isNext(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return offset < bytes.count && bytes[offset] == UInt8(ascii: character)
    }

    /// Returns the end of an object that begins here and may extend over several lines; `nil` if it isn't valid.
    mutating func endOfObject() -> Int? {
        skipSpace()
        do throws(JSONLineError) { _ = try entries() } catch { return nil }
        return offset
    }

    mutating func wholeValue() throws(JSONLineError) -> PropertyListValue {
        let value = try value(nesting: 0)
        try expectEnd()
        return value
    }

    private mutating func entries() throws(JSONLineError) -> (first: Entry?, others: [Entry]) {
        try expect("{", "the line is not a JSON object")
        var first: Entry?
        var others: [Entry] = []
        guard try !isClosed(by: "}") else { return (nil, []) }
        repeat {
            let start = offset
            let name: String
            switch try self.name() {
            case .entry(let text): name = text
            case .format:
                try format(start: start)
                continue
            case .comment:
                guard case .string(let text) = try value(nesting: 0) else {
                    throw damaged("a comment is not a string", at: start)
                }
                remarks.append(.comment(text))
                continue
            case .unknown:
                remarks.append(.unknown(try text(from: start)))
                continue
            }
            skipSpace()
            let entry: Entry
            if offset < bytes.count, bytes[offset] == UInt8(ascii: "n") {
                try word("null")
                entry = (name, nil)
            } else {
                entry = (name, try value(nesting: 0))
            }
            if first == nil { first = entry } else { others.append(entry) }
        } while try !isLast(before: "}")
        return (first, others)
    }

    private enum Name {
        case entry(String)
        case format
        case comment
        case unknown
    }

    /// Reads a name and the colon after it.
    private mutating func name() throws(JSONLineError) -> Name {
        let start = offset
        let (name, isReserved) = try key()
        guard !name.isEmpty else { throw damaged("a name is empty", at: start) }
        guard isReserved else { return .entry(name) }
        switch name {
        case "$format": return .format
        case "$comment": return .comment
        default:
            guard !isStrict else { throw damaged("a name with a single $ is unknown", at: start) }
            return .unknown
        }
    }

    private mutating func format(start: Int) throws(JSONLineError) {
        let format: UInt64? =
            switch try value(nesting: 0) {
            case .integer(let format): UInt64(exactly: format)
            case .unsigned(let format): format
            default: nil
            }
        guard let format, format > 0 else { throw damaged("the format is not a whole number from 1", at: start) }
        guard format > 1 else { return }
        newerFormat = JSONLineError(
            kind: .unknownFormat,
            reason: "the file is of format \(format), which needs a newer version of the program",
            offset: start
        )
    }

    /// Reads the next value, after white space.
    mutating func value(nesting: Int) throws(JSONLineError) -> PropertyListValue {
        skipSpace()
        guard offset < bytes.count else { throw incomplete() }
        switch bytes[offset] {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object(nesting: nesting + 1)
        case UInt8(ascii: "["): return try array(nesting: nesting + 1)
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return try constant()
        default: return try number()
        }
    }

    @inline(never)
    private mutating func array(nesting: Int) throws(JSONLineError) -> PropertyListValue {
        try check(nesting: nesting, at: offset)
        offset += 1
        var values: [PropertyListValue] = []
        guard try !isClosed(by: "]") else { return .array(values) }
        repeat {
            values.append(try value(nesting: nesting))
        } while try !isLast(before: "]")
        return .array(values)
    }

    @inline(never)
    private mutating func object(nesting: Int) throws(JSONLineError) -> PropertyListValue {
        let start = offset
        offset += 1
        var values: [String: PropertyListValue] = [:]
        var isFirst = true
        if try !isClosed(by: "}") {
            repeat {
                let keyStart = offset
                let (key, isReserved) = try key()
                if isReserved {
                    if isFirst, let value = try taggedValue(key) { return value }
                    guard !isStrict else { throw unknown(key, isFirst: isFirst, at: keyStart) }
                    return try unknownForm(from: start, nesting: nesting)
                }
                // Checked only here, because a tagged object doesn't count as a level.
                if isFirst { try check(nesting: nesting, at: start) }
                isFirst = false
                values[key] = try value(nesting: nesting)
            } while try !isLast(before: "}")
        }
        try check(nesting: nesting, at: start)
        return .dictionary(values)
    }

    /// The error for a form that this version doesn't know; `offset` is behind what is known of it.
    private func unknown(_ tag: String, isFirst: Bool, at start: Int) -> JSONLineError {
        guard isFirst else { return damaged("a tag is not the first key of its object", at: start) }
        guard Self.tags.contains(tag) else { return damaged("a key with a single $ is not a known tag", at: start) }
        return damaged("a tagged object doesn't end after its value", at: offset)
    }

    private static let tags = ["$data", "$real", "$date"]

    /// Reads an object of a form that this version doesn't know, from its start: any JSON, whose text is kept.
    private mutating func unknownForm(from start: Int, nesting: Int) throws(JSONLineError) -> PropertyListValue {
        offset = start
        return .unknownForm(try text(from: start, nesting: nesting - 1))
    }

    /// Reads any JSON; returns the text since an offset, on one line.
    private mutating func text(from start: Int, nesting: Int = 0) throws(JSONLineError) -> String {
        _ = try plainValue(nesting: nesting)
        // A line break can only be space between keys and values, and would end the line when it is written.
        return String(decoding: bytes[start..<offset], as: UTF8.self).replacing("\r\n", with: " ")
            .replacing("\n", with: " ").replacing("\r", with: " ")
    }

    /// Reads any JSON, in which a `$` has no meaning.
    private mutating func plainValue(nesting: Int = 0) throws(JSONLineError) -> PropertyListValue {
        let before = (isPlain, isSkipped)
        (isPlain, isSkipped) = (true, true)
        defer { (isPlain, isSkipped) = before }
        return try value(nesting: nesting)
    }

    /// Reads a key and the colon after it, and removes its escape; the key is reserved if it begins with a single `$`.
    private mutating func key() throws(JSONLineError) -> (text: String, isReserved: Bool) {
        guard offset < bytes.count else { throw incomplete() }
        guard bytes[offset] == UInt8(ascii: "\"") else { throw damaged("a name in quotes is missing", at: offset) }
        let text = try string()
        skipSpace()
        try expect(":", "the colon after a name is missing")
        guard text.utf8.first == UInt8(ascii: "$"), !isPlain else { return (text, false) }
        let rest = text.utf8.dropFirst()
        guard rest.first == UInt8(ascii: "$") else { return (text, true) }
        return (String(decoding: rest, as: UTF8.self), false)
    }

    /// Reads true or false, or in plain JSON null.
    private mutating func constant() throws(JSONLineError) -> PropertyListValue {
        let start = offset
        switch bytes[offset] {
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        default:
            try word("null")
            if isPlain { return .real(.nan) }
            throw damaged("null occurs inside a value", at: start)
        }
        return .boolean(bytes[start] == UInt8(ascii: "t"))
    }
}

// MARK: Punctuation

extension JSONReader {
    mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset &+= 1
            default: return
            }
        }
    }

    private mutating func expect(_ character: Unicode.Scalar, _ reason: String) throws(JSONLineError) {
        guard offset < bytes.count else { throw incomplete() }
        guard bytes[offset] == UInt8(ascii: character) else { throw damaged(reason, at: offset) }
        offset += 1
    }

    private mutating func expectEnd() throws(JSONLineError) {
        skipSpace()
        guard offset == bytes.count else { throw damaged("there is text after the end", at: offset) }
    }

    /// Returns whether an array or object that has just begun is empty.
    private mutating func isClosed(by bracket: Unicode.Scalar) throws(JSONLineError) -> Bool {
        skipSpace()
        guard offset < bytes.count else { throw incomplete() }
        guard bytes[offset] == UInt8(ascii: bracket) else { return false }
        offset += 1
        return true
    }

    /// Returns whether the bracket follows an element. Otherwise reads the required comma, and skips space up to the next
    /// element.
    private mutating func isLast(before bracket: Unicode.Scalar) throws(JSONLineError) -> Bool {
        if try isClosed(by: bracket) { return true }
        try expect(",", "a comma or the end of the list is missing")
        skipSpace()
        return false
    }

    /// Reads the end of a tagged object; returns false if it has more keys.
    mutating func isEndOfTag() throws(JSONLineError) -> Bool {
        if try isClosed(by: "}") { return true }
        guard bytes[offset] == UInt8(ascii: ",") else {
            throw damaged("a comma or the end of the list is missing", at: offset)
        }
        return false
    }

    private mutating func word(_ word: StaticString) throws(JSONLineError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard offset + index < bytes.count else { throw incomplete() }
            guard bytes[offset + index] == word.utf8Start[index] else {
                throw damaged("this is not a value", at: offset)
            }
        }
        offset += word.utf8CodeUnitCount
    }

    private func check(nesting: Int, at start: Int) throws(JSONLineError) {
        guard nesting > JSONLine.maximumNesting else { return }
        throw damaged("the value is nested deeper than \(JSONLine.maximumNesting) levels", at: start)
    }

    func damaged(_ reason: String, at offset: Int) -> JSONLineError {
        JSONLineError(kind: .damaged, reason: reason, offset: offset)
    }

    func incomplete() -> JSONLineError {
        JSONLineError(kind: .incomplete, reason: "it ends too early", offset: bytes.count)
    }
}

extension JSONReader {
    /// Reads the number that begins here.
    mutating func number() throws(JSONLineError) -> PropertyListValue {
        let start = offset
        let isNegative = bytes[offset] == UInt8(ascii: "-")
        if isNegative { offset += 1 }

        // All digits as one integer, if 64 bits hold it, and the power of ten by which it is multiplied.
        var digits: UInt64? = 0
        var exponent = 0
        let first = offset
        try takeDigits(into: &digits, start: start)
        if offset - first > 1, bytes[first] == UInt8(ascii: "0") {
            throw damaged("a number begins with an unnecessary zero", at: start)
        }
        var isReal = false
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            isReal = true
            offset += 1
            let point = offset
            try takeDigits(into: &digits, start: start)
            exponent = point - offset
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            isReal = true
            offset += 1
            let sign = offset < bytes.count ? bytes[offset] : 0
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { offset += 1 }
            var power: UInt64? = 0
            try takeDigits(into: &power, start: start)
            // Larger than any useful exponent, but small enough to be added, also in the 32 bits of older watches.
            let magnitude = Int(min(power ?? 1 << 30, 1 << 30))
            exponent += sign == UInt8(ascii: "-") ? -magnitude : magnitude
        }

        if !isReal, let digits {
            if !isNegative { return Int64(exactly: digits).map { .integer($0) } ?? .unsigned(digits) }
            if digits <= Int64.min.magnitude { return .integer(Int64(truncatingIfNeeded: 0 &- digits)) }
        }
        return .real(try real(digits, exponent, isNegative: isNegative, start: start))
    }

    private mutating func takeDigits(into number: inout UInt64?, start: Int) throws(JSONLineError) {
        let first = offset
        while offset < bytes.count {
            let digit = bytes[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if let known = number {
                let (tens, overflow) = known.multipliedReportingOverflow(by: 10)
                let (sum, carry) = tens.addingReportingOverflow(UInt64(digit))
                number = overflow || carry ? nil : sum
            }
            offset &+= 1
        }
        guard offset == first else { return }
        guard offset < bytes.count else { throw incomplete() }
        throw offset == start ? damaged("this is not a value", at: start) : damaged("a number lacks digits", at: start)
    }

    private func real(
        _ digits: UInt64?,
        _ exponent: Int,
        isNegative: Bool,
        start: Int
    ) throws(JSONLineError) -> Double {
        // Up to these limits both are exact as doubles, so one operation rounds only once (Clinger 1990).
        if let digits, digits <= 1 << 53, exponent.magnitude <= 22 {
            let power = Self.powersOfTen[Int(exponent.magnitude)]
            let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
            return isNegative ? -magnitude : magnitude
        }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            if isSkipped, offset < bytes.count { return .nan }
            // The text may be incomplete: the missing digits may be those of a negative exponent.
            guard offset < bytes.count else { throw incomplete() }
            throw damaged("a number is too large", at: start)
        }
        return value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}

extension JSONReader {
    /// Reads the value of a tagged object, from after the tag's colon to the end of the object; nil if its form is unknown.
    @inline(never)
    mutating func taggedValue(_ tag: String) throws(JSONLineError) -> PropertyListValue? {
        let value =
            switch tag {
            case "$data": try taggedData()
            case "$real": try taggedReal()
            case "$date": try taggedDate()
            default: nil as PropertyListValue?
            }
        guard let value, try isEndOfTag() else { return nil }
        return value
    }

    private mutating func taggedData() throws(JSONLineError) -> PropertyListValue {
        if let data = unescapedData() { return .data(data) }
        let (content, start) = try taggedContent()
        guard case .string(var text) = content,
            let data = text.withUTF8({ Base64.data(of: UnsafeRawBufferPointer($0)) })
        else {
            throw damaged("the data is not base64", at: start)
        }
        return .data(data)
    }

    /// Reads data without escapes, as nearly all data is; otherwise returns nil and reads nothing.
    private mutating func unescapedData() -> Data? {
        skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { return nil }
        let end = bytes.firstIndexToEscape(from: offset + 1)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\""),
            let data = Base64.data(of: UnsafeRawBufferPointer(rebasing: bytes[offset + 1..<end]))
        else { return nil }
        offset = end + 1
        return data
    }

    private mutating func taggedReal() throws(JSONLineError) -> PropertyListValue {
        let (content, start) = try taggedContent()
        guard case .string(let text) = content, let word = NonfiniteWord(rawValue: text) else {
            throw damaged("the real is not nan, inf or -inf", at: start)
        }
        return .real(word.value)
    }

    private mutating func taggedDate() throws(JSONLineError) -> PropertyListValue {
        let (content, start) = try taggedContent()
        let seconds: Double? =
            switch content {
            case .string(let text): NonfiniteWord(rawValue: text)?.value ?? DateText.seconds(of: text)
            case .integer(let seconds): Double(seconds)
            case .unsigned(let seconds): Double(seconds)
            case .real(let seconds): seconds
            default: nil
            }
        guard let seconds else { throw damaged("the date is invalid", at: start) }
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    private mutating func taggedContent() throws(JSONLineError) -> (value: PropertyListValue, start: Int) {
        skipSpace()
        let start = offset
        // Tags don't count as levels, so tags in tags could be nested without limit.
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "{") || bytes[offset] == UInt8(ascii: "[") {
            throw damaged("a tag holds an array or an object", at: start)
        }
        return (try value(nesting: 0), start)
    }
}
