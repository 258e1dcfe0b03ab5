/// One line of the file: a transaction as a JSON object (RFC 8259, strictly).
///
/// `{"name":value,…}` sets each name, `null` removes it. What JSON lacks is a tagged object, of that one key alone:
///
/// - `{"$data":"AAH+/w=="}`: bytes in base64, padded, and only as one would write them.
/// - `{"$real":"nan"}`, `"inf"`, `"-inf"`: the reals that JSON can't write.
/// - `{"$date":"2026-11-20T22:00:00.123Z"}`: a date by the proleptic Gregorian calendar, with as many fractional digits
///   as bring it back to the last bit; `{"$date":1e+300}`: seconds since 2001, where the year is outside 0001–9999 and
///   for negative zero; `{"$date":"nan"}`, `"inf"`, `"-inf"`: the dates of these seconds.
///
/// A name or key that itself begins with `$` is written with one more: `$cost` as `$$cost`, `$$` as `$$$`. That holds for
/// names as for nested keys. Of names with a single `$` two are known, which set nothing and may stand anywhere:
/// `{"$format":1}` says how to read the file, and `{"$comment":"…"}` is for people.
///
/// A number without fraction and exponent is an integer where 64 bits hold it; every other is a real, so `1e3` is one,
/// and so is `-0.0`, while `-0` is the integer 0. Of a key that occurs twice the last value counts.
enum JSONLine {
    /// How many arrays and dictionaries may be nested in a value, tags and the line's own object not counted.
    static let maximumNesting = 128
    /// How long a line may be, without its newline. Functions take another limit for tests, which then need no lines of that size.
    static let maximumLength = 64 << 20

    /// Reads one line without its newline.
    ///
    /// Calls `body` for each entry in order, then `comment` for each comment, and only after the whole line proved valid.
    /// A line of nothing but space has
    /// no entries. A byte order mark is accepted where `isFirst` says that the line is the file's first.
    static func read(
        _ line: UnsafeRawBufferPointer,
        isFirst: Bool = false,
        maximumLength: Int = maximumLength,
        _ body: (_ name: String, _ value: PropertyListValue?) -> Void,
        comment: (String) -> Void = { _ in }
    ) throws(JSONLineError) {
        var reader = JSONReader(line)
        if isFirst { try reader.skipByteOrderMark() }
        let entries = try reader.line(maximumLength: maximumLength)
        if let first = entries.first { body(first.name, first.value) }
        for entry in entries.others { body(entry.name, entry.value) }
        for text in reader.comments { comment(text) }
    }

    /// How many bytes an object takes that begins some bytes and goes on over several lines; `nil` if there is none.
    static func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        var reader = JSONReader(bytes)
        do throws(JSONLineError) { if isFirst { try reader.skipByteOrderMark() } } catch { return nil }
        return reader.endOfObject()
    }

    /// Reads a value alone, tags included, with nothing but space around it.
    static func readValue(_ bytes: UnsafeRawBufferPointer) throws(JSONLineError) -> PropertyListValue {
        var reader = JSONReader(bytes)
        return try reader.wholeValue()
    }

    /// Reads any JSON: keys with a leading `$` stand as in the text, and null is the real NaN, which JSON doesn't have.
    ///
    /// A schema that a person has written has such keys, and what this program doesn't know of it must not get lost.
    static func readPlain(_ bytes: UnsafeRawBufferPointer) throws(JSONLineError) -> PropertyListValue {
        var reader = JSONReader(bytes)
        reader.isPlain = true
        return try reader.wholeValue()
    }
}

/// Why a line can't be read.
struct JSONLineError: Error, Equatable {
    enum Kind {
        /// The line is not what this program would write, and nothing that follows can make it so.
        case damaged
        /// The line ends before its object does, so it may be one that is still being written.
        case incomplete
        /// The file says that it is of a format newer than this program.
        case unknownFormat
    }

    let kind: Kind
    /// What is wrong, to be read after the line's number.
    let reason: String
    /// Where in the line, in bytes from its start.
    let offset: Int
}

extension JSONLineError: CustomStringConvertible {
    var description: String { "\(reason), at byte \(offset)" }
}

/// The reals that JSON can't write, by the word that stands for them in a tag.
enum NonfiniteWord: String {
    case nan
    case infinity = "inf"
    case negativeInfinity = "-inf"

    /// The word for a real; nil for a finite one.
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
    /// Where the first quote, backslash or control character is, at `start` or after; else the end.
    ///
    /// Looks at eight bytes a step: a byte of `x` is zero where `(x - 0x01…) & ~x` has its high bit. A borrow can only
    /// spoil bytes above the first hit, so the lowest hit is right.
    func firstIndexToEscape(from start: Int) -> Int { firstIndex(from: start, stoppingAtHighBits: 0) }

    /// As above, or where the first byte is that isn't of ASCII.
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
