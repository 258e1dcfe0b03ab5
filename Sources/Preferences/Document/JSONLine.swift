/// One line of the file: a transaction as a JSON object (RFC 8259, strictly). A line that was appended to one without a newline is
/// more than one object.
///
/// `{"name":value,…}` sets each name, `null` removes it. Types that JSON lacks are written as a tagged object, whose tag is its
/// only key:
///
/// - `{"$data":"AAH+/w=="}`: bytes in base64, padded and canonical.
/// - `{"$real":"nan"}`, `"inf"`, `"-inf"`: the reals that JSON can't express.
/// - `{"$date":"2026-11-20T22:00:00.123Z"}`: a date in the proleptic Gregorian calendar, with as many fractional digits as
///   restore it to the last bit; `{"$date":1e+300}`: seconds since 2001, if the year is outside 0001–9999 and for negative
///   zero; `{"$date":"nan"}`, `"inf"`, `"-inf"`: the dates of these seconds.
///
/// A name or key that itself begins with `$` is written with an additional one: `$cost` as `$$cost`, `$$` as `$$$`. This
/// applies to names and to nested keys. Two names with a single `$` are known, which set nothing and may occur anywhere:
/// `{"$format":1}` is the version of the format, and `{"$comment":"…"}` is a comment for readers. Other names with a single `$` are
/// of a newer version and set nothing, and an object with such a key has a form that no type can be decoded from.
///
/// A number without fraction and exponent is an integer if it fits 64 bits. Every other number is a real: `1e3` and `-0.0` are
/// reals, but `-0` is the integer 0. If a key occurs twice, the last value is used.
package enum JSONLine {
    /// The maximum nesting of arrays and dictionaries in a value, not counting tags and the line's own object.
    static let maximumNesting = 128
    /// The maximum length of a line in bytes, without its newline. Functions have a parameter for it, so that tests need no
    /// such lines.
    static let maximumLength = 64 << 20

    /// A part of a line that sets nothing.
    package enum Remark: Equatable {
        case comment(String)
        /// A name with a single `$`, as of a newer version, and its value, as they are in the file.
        case unknown(String)
    }

    /// Reads one line without its newline.
    ///
    /// Calls `body` for each entry in order, then `remark` for all else, but only after the whole line was found valid. A
    /// line that contains only white space has no entries. A byte order mark is accepted if `isFirst` is true, for the first
    /// line of the file.
    ///
    /// - Parameter isStrict: Whether a second object, and names and forms that this version doesn't know, are damage.
    package static func read(
        _ line: UnsafeRawBufferPointer,
        isFirst: Bool = false,
        isStrict: Bool = false,
        maximumLength: Int = maximumLength,
        _ body: (_ name: String, _ value: PropertyListValue?) -> Void,
        remark: (Remark) -> Void = { _ in }
    ) throws(JSONLineError) {
        var reader = JSONReader(line)
        reader.isStrict = isStrict
        if isFirst { try reader.skipByteOrderMark() }
        let entries = try reader.line(maximumLength: maximumLength)
        if let first = entries.first { body(first.name, first.value) }
        for entry in entries.others { body(entry.name, entry.value) }
        for text in reader.remarks { remark(text) }
    }

    /// Returns the length in bytes of an object at the start of some bytes that may extend over several lines; `nil` if it
    /// isn't valid.
    static func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        var reader = JSONReader(bytes)
        do throws(JSONLineError) { if isFirst { try reader.skipByteOrderMark() } } catch { return nil }
        return reader.endOfObject()
    }

    /// Reads a value alone, including its tags, with only white space around it.
    package static func readValue(_ bytes: UnsafeRawBufferPointer, isStrict: Bool = false) throws(JSONLineError)
        -> PropertyListValue
    {
        var reader = JSONReader(bytes)
        reader.isStrict = isStrict
        return try reader.wholeValue()
    }

    /// Reads any JSON: keys with a leading `$` are returned as they are, and null is returned as the real NaN, which JSON
    /// doesn't have.
    ///
    /// A schema written by a person has such keys, and those unknown to this program must not get lost.
    package static func readPlain(_ bytes: UnsafeRawBufferPointer) throws(JSONLineError) -> PropertyListValue {
        var reader = JSONReader(bytes)
        reader.isPlain = true
        return try reader.wholeValue()
    }

    /// Returns the value of a text that is an object or an array in the form of the file, or `nil` for other texts.
    static func compound(in text: String) -> PropertyListValue? {
        guard let first = text.utf8.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        return Array(text.utf8).withUnsafeBytes { bytes in
            // Other text may be JSON, which the codings read.
            do throws(JSONLineError) { return try readValue(bytes) } catch { return nil }
        }
    }
}

/// The reason why a line can't be read.
package struct JSONLineError: Error, Equatable {
    package enum Kind {
        /// The line is invalid, whatever follows it.
        case damaged
        /// The line ends before its object does, so it may still be in the process of being written.
        case incomplete
        /// The file has a newer format than this program can read.
        case unknownFormat
    }

    package let kind: Kind
    /// The reason, for use after the line's number.
    package let reason: String
    /// The offset in the line, in bytes.
    let offset: Int
}

extension JSONLineError: CustomStringConvertible {
    package var description: String { "\(reason), at byte \(offset)" }
}

/// The reals that JSON can't express, with their words in a tag.
enum NonfiniteWord: String {
    case nan
    case infinity = "inf"
    case negativeInfinity = "-inf"

    /// Creates the word for a real; nil if the real is finite.
    init?(_ value: Double) {
        if value.isFinite { return nil }
        self = value.isNaN ? .nan : value > 0 ? .infinity : .negativeInfinity
    }

    var value: Double {
        switch self {
        case .nan: .nan
        case .infinity: .infinity
        case .negativeInfinity: -.infinity
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the index of the first quote, backslash or control character from `start` on, or the end if no such byte follows.
    ///
    /// Checks eight bytes at a time: a byte of `x` is zero if `(x - 0x01…) & ~x` has its high bit set. A borrow can only affect
    /// bytes above the first match, so the lowest match is right.
    func firstIndexToEscape(from start: Int) -> Int { firstIndex(from: start, stoppingAtHighBits: 0) }

    /// Returns the same index, or that of the first byte that isn't ASCII if it is lower.
    func firstIndexNotPlain(from start: Int) -> Int {
        firstIndex(from: start, stoppingAtHighBits: 0x8080_8080_8080_8080)
    }

    @inline(__always)
    private func firstIndex(from start: Int, stoppingAtHighBits high: UInt64) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index &+ 8 <= count {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let control = (word &- ones &* 0x20) & ~word
            let found = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | control
            let hits = found & (ones &* 0x80) | word & high
            if hits != 0 { return index &+ hits.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            let byte = self[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C || UInt64(byte) & high != 0 { return index }
            index &+= 1
        }
        return index
    }

    var isASCII: Bool {
        var bits: UInt64 = 0
        var index = 0
        while index &+ 8 <= count {
            bits |= loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < count {
            bits |= UInt64(self[index])
            index &+= 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}

extension JSONLine {
    /// Reads a line, which here may also have line breaks between its tokens; a `nil` value removes the name.
    ///
    /// - Throws: `unreadable`; the message begins with line and column if there are several lines.
    package static func changes(
        in bytes: [UInt8],
        isStrict: Bool = true
    ) throws(PreferenceError) -> [String: PropertyListValue?] {
        var changes: [String: PropertyListValue?] = [:]
        try reading(bytes) { bytes throws(JSONLineError) in
            try read(bytes, isFirst: true, isStrict: isStrict) { name, value in
                changes.updateValue(value, forKey: name)
            }
        }
        return changes
    }
}
