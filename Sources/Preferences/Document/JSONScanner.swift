/// A scanner that finds the entries of a line without parsing their values, if the line has the form that this program writes.
///
/// `JSONReader` accepts every line that the scanner accepts, with the same entries; every other line is `unknown` and left to
/// that type.
struct JSONScanner {
    enum Step: Equatable {
        /// The range of the name, without its quotes, and that of the value, which is empty if the name is removed.
        case entry(name: Range<Int>, value: Range<Int>)
        case end
        case unknown
    }

    private let bytes: UnsafeRawBufferPointer
    // The number of bytes, which `bytes.count` would compute at each use.
    private let end: Int
    private var index = 0

    init(_ line: UnsafeRawBufferPointer) { (bytes, end) = (line, line.count) }

    /// Returns the next entry of the line.
    ///
    /// Entries are valid only if the end of the line is found afterwards.
    @inline(__always)
    mutating func next() -> Step {
        guard take(index == 0 ? "{" : ",") else {
            return index > 0 && takeEnd() && index == end && index <= JSONLine.maximumLength ? .end : .unknown
        }
        guard let name = key(), !name.isEmpty, bytes[name.lowerBound] != UInt8(ascii: "$") else { return .unknown }
        let start = index
        if takeWord("null") { return .entry(name: name, value: Range(uncheckedBounds: (start, start))) }
        guard skipValue() else { return .unknown }
        return .entry(name: name, value: Range(uncheckedBounds: (start, index)))
    }

    /// Scans the end of the object, which a compaction might have marked.
    @inline(__always)
    private mutating func takeEnd() -> Bool { take("}") || take(" ") && take("}") }

    /// Scans an ASCII string without escapes, and the colon after it.
    @inline(__always)
    private mutating func key() -> Range<Int>? {
        guard let text = plainString(), take(":") else { return nil }
        return text
    }

    @inline(__always)
    private mutating func plainString() -> Range<Int>? {
        guard index < end, bytes[index] == UInt8(ascii: "\"") else { return nil }
        let start = index &+ 1
        let stop = bytes.firstIndexNotPlain(from: start)
        guard stop < end, bytes[stop] == UInt8(ascii: "\"") else { return nil }
        index = stop &+ 1
        return Range(uncheckedBounds: (start, stop))
    }

    @inline(__always)
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < end, bytes[index] == UInt8(ascii: character) else { return false }
        index &+= 1
        return true
    }

    @inline(__always)
    private mutating func takeWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard end &- index >= count, bytes[index] == word.utf8Start[0] else { return false }
        for offset in 0..<count where bytes[index &+ offset] != word.utf8Start[offset] { return false }
        index &+= count
        return true
    }

    // MARK: Values

    private mutating func skipValue() -> Bool {
        let start = index
        // Nested values are not read separately, so no part is read more than twice.
        if skipPlainValue(nesting: 0) { return true }
        var reader = JSONReader(bytes)
        reader.offset = start
        do throws(JSONLineError) { _ = try reader.value(nesting: 0) } catch { return false }
        index = reader.offset
        // A value that extends over several lines can't be written on one line.
        return !bytes[start..<index].contains(UInt8(ascii: "\n"))
    }

    /// Scans a value without space and escapes.
    @inline(__always)
    private mutating func skipPlainValue(nesting: Int) -> Bool {
        guard index < end else { return false }
        return switch bytes[index] {
        case UInt8(ascii: "\""): plainString() != nil
        case UInt8(ascii: "t"): takeWord("true")
        case UInt8(ascii: "f"): takeWord("false")
        case UInt8(ascii: "{"): skipObject(nesting: nesting + 1)
        case UInt8(ascii: "["): skipArray(nesting: nesting + 1)
        default: skipNumber()
        }
    }

    /// Scans a number of up to 18 digits with up to 18 fractional digits, which 64 bits or a double can hold.
    @inline(__always)
    private mutating func skipNumber() -> Bool {
        _ = take("-")
        let start = index
        let count = skipDigits()
        guard 1...18 ~= count, count == 1 || bytes[start] != UInt8(ascii: "0") else { return false }
        if take(".") { guard 1...18 ~= skipDigits() else { return false } }
        return index == end || bytes[index] | 0x20 != UInt8(ascii: "e")
    }

    @inline(__always)
    private mutating func skipDigits() -> Int {
        let start = index
        while index < end, bytes[index] &- UInt8(ascii: "0") < 10 { index &+= 1 }
        return index &- start
    }

    private mutating func skipArray(nesting: Int) -> Bool {
        guard nesting <= JSONLine.maximumNesting else { return false }
        index += 1
        if take("]") { return true }
        repeat {
            guard skipPlainValue(nesting: nesting) else { return false }
        } while take(",")
        return take("]")
    }

    private mutating func skipObject(nesting: Int) -> Bool {
        index += 1
        if takeWord(#""$data":""#) { return skipData() }
        guard nesting <= JSONLine.maximumNesting else { return false }
        if take("}") { return true }
        repeat {
            guard let key = key(), key.isEmpty || bytes[key.lowerBound] != UInt8(ascii: "$") else { return false }
            guard skipPlainValue(nesting: nesting) else { return false }
        } while take(",")
        return take("}")
    }

    /// Scans the text of data after its opening quote, up to the end of the tagged object.
    private mutating func skipData() -> Bool {
        guard let count = Base64.end(of: UnsafeRawBufferPointer(rebasing: bytes[index...])) else { return false }
        index += count
        return take("\"") && take("}")
    }
}
