@testable internal import Preferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Why a text can't be read.
struct DamageError: Error {
    enum Kind { case damaged, incomplete }
    let kind: Kind
    let reason: String
    /// The offset in the text, in bytes.
    let offset: Int
}

/// A reader of a preferences file: JSON objects, the entries, with comments and trailing commas; later ones override earlier ones. What can't
/// be read as one is damage, which sets nothing.
struct DocumentReader {
    /// A member of an entry, with its place in the bytes.
    struct Member {
        let name: String
        /// Whether the name begins with one `$`, so that it sets nothing.
        let isReserved: Bool
        /// The value; nil removes the name.
        let value: PropertyListValue?
        /// The offset of its key.
        let key: Int
        /// The offset of its value.
        let start: Int
        let end: Int
    }

    enum Item {
        /// An object that was read; its members are in `members`.
        case entry(start: Int, end: Int)
        /// A text that can't be read, up to the next line that begins with `{`; its members on lines of their own are in `members`.
        case damage(start: Int, end: Int, DamageError)
        /// The end: all before `offset` is settled; more bytes could change what the rest means. The error is that of a rest which is damage
        /// if it stays as it is; without one, it is a comment.
        case end(offset: Int, DamageError?)
    }

    private(set) var bytes: UnsafeRawBufferPointer
    var offset = 0
    /// The buffer in which strings with escapes are decoded.
    var scratch: [UInt8] = []
    /// The members of the last item, in their order.
    private(set) var members: [Member] = []
    /// The format of the file, if it is too new to be written.
    private(set) var newerFormat: UInt64?
    /// Whether the text is only skipped: what a newer version may write is accepted, such as a number that no type holds.
    private(set) var isSkipped = false
    /// From where on no comment ends, which is searched for once.
    private var noCommentEnd = Int.max
    private let isFinal: Bool

    /// The most levels of arrays and objects in a value, not counting tags.
    static let maximumNesting = 128

    /// Creates a reader of a file from an offset on.
    ///
    /// - Parameter isFinal: Whether the file stays as it is, so that an unfinished end is damage.
    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0, isFinal: Bool = false) {
        (self.bytes, self.offset, self.isFinal) = (bytes, offset, isFinal)
        if offset == 0, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { self.offset = 3 }
    }

    /// Reads the next item.
    mutating func next() -> Item {
        if !members.isEmpty { members.removeAll(keepingCapacity: true) }
        let (start, isEnd) = skipToEntry()
        guard !isEnd, start < bytes.count else { return .end(offset: start, nil) }
        let error: DamageError
        do throws(DamageError) {
            guard offset < bytes.count else { throw incomplete() }
            guard bytes[offset] == UInt8(ascii: "{") else { throw damaged("this is not an entry", at: offset) }
            offset &+= 1
            if try !isClosed(by: "}") { repeat { try member() } while try !isLast(before: "}") }
            return .entry(start: start, end: offset)
        } catch let damage { error = damage }
        // A comment without an end goes on to the end.
        let end = bytes[start] == UInt8(ascii: "/") && error.kind == .incomplete ? bytes.count : nextEntry(after: start)
        guard error.kind == .damaged && end < bytes.count || isFinal else {
            (offset, isSkipped) = (start, false)
            members.removeAll(keepingCapacity: true)
            return .end(offset: start, error)
        }
        recover(start, end)
        offset = end
        return .damage(start: start, end: end, error)
    }

    /// Skips space and comments; returns where the rest begins, and whether that is only a comment without the end of its line.
    private mutating func skipToEntry() -> (start: Int, isEnd: Bool) {
        var settled = offset
        while offset < bytes.count, isSpace(bytes[offset]) || bytes[offset] == UInt8(ascii: "/") {
            if bytes[offset] == UInt8(ascii: "/") {
                settled = offset
                guard skipComment() else { break }
                if offset == bytes.count, bytes[settled &+ 1] == UInt8(ascii: "/") { return (settled, true) }
            } else {
                offset &+= 1
            }
            settled = offset
        }
        return (settled, false)
    }

    /// Returns the start of the next line that begins with `{`, or the end.
    private func nextEntry(after start: Int) -> Int {
        var index = start
        while let line = bytes.firstNewline(from: index) {
            if line &+ 1 < bytes.count, bytes[line &+ 1] == UInt8(ascii: "{") { return line &+ 1 }
            index = line &+ 1
        }
        return bytes.count
    }

    /// Reads the members that stand on lines of their own, indented as the first is.
    private mutating func recover(_ start: Int, _ end: Int) {
        members.removeAll(keepingCapacity: true)
        isSkipped = false
        guard bytes[start] == UInt8(ascii: "{"), var line = bytes.firstNewline(from: start), line < end else { return }
        let (all, commentEnd) = (bytes, noCommentEnd)
        defer { (bytes, noCommentEnd) = (all, commentEnd) }
        bytes = UnsafeRawBufferPointer(rebasing: all[..<end])
        var indentation: Range<Int>?
        line += 1
        while line < end {
            let quote = bytes[line...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? end
            offset = line
            if quote < end, bytes[quote] == UInt8(ascii: "\"") {
                let first = indentation ?? line..<quote
                indentation = first
                if first.isEmpty { return }
                if bytes[first].elementsEqual(bytes[line..<quote]) { recoverMember(at: quote) }
            }
            if offset == line { offset = bytes.firstNewline(from: line).map { $0 + 1 } ?? end }
            line = offset
        }
    }

    /// Reads a member of a damaged text and the rest of its line; stays where it is if that fails.
    private mutating func recoverMember(at quote: Int) {
        let (line, count) = (offset, members.count)
        offset = quote
        do throws(DamageError) {
            try member()
            try endOfMember()
        } catch {
            members.removeLast(members.count - count)
            (offset, isSkipped) = (line, false)
        }
    }

    /// Reads what may follow a member on its last line.
    private mutating func endOfMember() throws(DamageError) {
        try skipInLine()
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ",") {
            offset += 1
            try skipInLine()
        }
        var isClosed = false
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "}") {
            offset += 1
            isClosed = true
            try skipInLine()
        }
        if offset < bytes.count, bytes[offset] == 0x0A {
            offset += 1
            // A writer has found that the file ended in this line.
            guard isClosed || !bytes[offset...].starts(with: Self.stop.dropFirst()) else {
                throw damaged("the line was cut off", at: offset)
            }
            return
        }
        guard isClosed, offset == bytes.count else { throw damaged("there is text after a member", at: offset) }
    }

    /// Skips space and comments up to the end of the line.
    private mutating func skipInLine() throws(DamageError) {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0D: offset += 1
            case UInt8(ascii: "/"):
                let start = offset
                guard skipComment() else { throw damaged("this is not a comment", at: start) }
                if bytes[start + 1] == UInt8(ascii: "*"), bytes[start..<offset].contains(0x0A) {
                    throw damaged("a comment has several lines", at: start)
                }
            default: return
            }
        }
    }

    private mutating func member() throws(DamageError) {
        let key = offset
        let (name, isReserved) = try self.key()
        guard !name.isEmpty else { throw damaged("a name is empty", at: key) }
        skipSpace()
        let start = offset
        var value: PropertyListValue?
        if isReserved {
            if name == "$format" { try format() } else { try skipValue(nesting: 0) }
        } else if offset < bytes.count, bytes[offset] == UInt8(ascii: "n") {
            try word("null")
        } else {
            value = try self.value(nesting: 0)
        }
        members.append(Member(name: name, isReserved: isReserved, value: value, key: key, start: start, end: offset))
    }

    /// Reads the number of the file's format.
    private mutating func format() throws(DamageError) {
        let start = offset
        let format: UInt64? =
            switch try value(nesting: 0) {
            case .integer(let format): UInt64(exactly: format)
            case .unsigned(let format): format
            default: nil
            }
        guard let format, format > 0 else { throw damaged("the format is not a whole number from 1", at: start) }
        if format > 1 { newerFormat = format }
    }

    /// Reads the next value, after white space.
    mutating func value(nesting: Int) throws(DamageError) -> PropertyListValue {
        skipSpace()
        guard offset < bytes.count else { throw incomplete() }
        switch bytes[offset] {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object(nesting: nesting + 1)
        case UInt8(ascii: "["): return try array(nesting: nesting + 1)
        case UInt8(ascii: "t"):
            try word("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try word("false")
            return .boolean(false)
        case let byte where byte &- 0x31 < 9:
            // Short integers, without the general reader of numbers.
            var (index, sum) = (offset &+ 1, Int64(byte &- 0x30))
            while index < bytes.count, index &- offset < 18, bytes[index] &- 0x30 < 10 {
                sum = sum &* 10 &+ Int64(bytes[index] &- 0x30)
                index &+= 1
            }
            guard index < bytes.count, bytes[index] != 0x2E, bytes[index] | 0x20 != 0x65, bytes[index] &- 0x30 > 9
            else { return try number() }
            offset = index
            return .integer(sum)
        default: return try number()
        }
    }

    /// Reads `null`, if that is next.
    private mutating func takeNull() throws(DamageError) -> Bool {
        skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "n") else { return false }
        try word("null")
        return true
    }

    @inline(never)
    private mutating func array(nesting: Int) throws(DamageError) -> PropertyListValue {
        try check(nesting: nesting, at: offset)
        offset += 1
        var values: [PropertyListValue] = []
        guard try !isClosed(by: "]") else { return .array(values) }
        repeat {
            // The nil of an array, as a program stores it.
            values.append(try takeNull() ? .string("$null") : try value(nesting: nesting))
        } while try !isLast(before: "]")
        return .array(values)
    }

    @inline(never)
    private mutating func object(nesting: Int) throws(DamageError) -> PropertyListValue {
        let start = offset
        offset += 1
        var values: [String: PropertyListValue] = [:]
        var isFirst = true
        if try !isClosed(by: "}") {
            repeat {
                let (key, isReserved) = try key()
                if isReserved {
                    if isFirst, let value = try taggedValue(key) { return value }
                    offset = start
                    try skipValue(nesting: nesting - 1)
                    return .unknownForm(oneLine(start, offset))
                }
                // Checked only here, because a tagged object doesn't count as a level.
                if isFirst {
                    try check(nesting: nesting, at: start)
                    values.reserveCapacity(6)
                }
                isFirst = false
                values[key] = try takeNull() ? nil : try value(nesting: nesting)
            } while try !isLast(before: "}")
        }
        try check(nesting: nesting, at: start)
        return .dictionary(values)
    }

    /// Skips any JSON.
    private mutating func skipValue(nesting: Int) throws(DamageError) {
        let before = isSkipped
        isSkipped = true
        if try !takeNull() { _ = try value(nesting: nesting) }
        isSkipped = before
    }

    /// Returns a text without space and comments, as it is written on one line.
    private mutating func oneLine(_ start: Int, _ end: Int) -> String {
        var text: [UInt8] = []
        var cursor = DocumentReader(UnsafeRawBufferPointer(rebasing: bytes[..<end]), from: start)
        while true {
            cursor.skipSpace()
            guard cursor.offset < end else { return String(decoding: text, as: UTF8.self) }
            let token = cursor.offset
            if bytes[token] == UInt8(ascii: "\"") { cursor.skipString() } else { cursor.offset += 1 }
            text.append(contentsOf: bytes[token..<cursor.offset])
        }
    }

    /// Skips a string that was read before.
    mutating func skipString() {
        offset += 1
        while bytes[offset] != UInt8(ascii: "\"") { offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1 }
        offset += 1
    }

    /// Reads a key and the colon after it, and removes its escape; the key is reserved if it begins with a single `$`.
    private mutating func key() throws(DamageError) -> (text: String, isReserved: Bool) {
        guard offset < bytes.count else { throw incomplete() }
        guard bytes[offset] == UInt8(ascii: "\"") else { throw damaged("a name in quotes is missing", at: offset) }
        let mayBeReserved =
            offset &+ 1 < bytes.count
            && (bytes[offset &+ 1] == UInt8(ascii: "$") || bytes[offset &+ 1] == UInt8(ascii: "\\"))
        let text = try string()
        skipSpace()
        guard offset < bytes.count else { throw incomplete() }
        guard bytes[offset] == UInt8(ascii: ":") else { throw damaged("the colon after a name is missing", at: offset) }
        offset &+= 1
        guard mayBeReserved, text.utf8.first == UInt8(ascii: "$"), !isSkipped else { return (text, false) }
        let rest = text.utf8.dropFirst()
        guard rest.first == UInt8(ascii: "$") else { return (text, true) }
        return (String(decoding: rest, as: UTF8.self), false)
    }

    // MARK: Punctuation

    @inline(__always)
    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    @inline(__always)
    mutating func skipSpace() {
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte <= 0x2F else { return }
            if isSpace(byte) { offset &+= 1 } else if byte != UInt8(ascii: "/") || !skipComment() { return }
        }
    }

    /// Skips a comment; returns false if it isn't one, then at the end if it isn't finished.
    @inline(never)
    mutating func skipComment() -> Bool {
        guard offset &+ 1 < bytes.count else {
            offset = bytes.count
            return false
        }
        switch bytes[offset &+ 1] {
        case UInt8(ascii: "/"):
            offset = bytes.firstNewline(from: offset) ?? bytes.count
            return true
        case UInt8(ascii: "*"):
            var index = offset &+ 3
            guard offset < noCommentEnd else { break }
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "/"), bytes[index &- 1] == UInt8(ascii: "*") {
                    offset = index &+ 1
                    return true
                }
                index &+= 1
            }
            noCommentEnd = min(noCommentEnd, offset)
        default: return false
        }
        offset = bytes.count
        return false
    }

    /// Returns whether an array or object that has just begun is empty.
    @inline(__always)
    private mutating func isClosed(by bracket: Unicode.Scalar) throws(DamageError) -> Bool {
        skipSpace()
        guard offset < bytes.count else { throw incomplete() }
        guard bytes[offset] == UInt8(ascii: bracket) else { return false }
        offset &+= 1
        return true
    }

    /// Returns whether the bracket follows an element, perhaps after a comma.
    @inline(__always)
    private mutating func isLast(before bracket: Unicode.Scalar) throws(DamageError) -> Bool {
        if try isClosed(by: bracket) { return true }
        guard bytes[offset] == UInt8(ascii: ",") else {
            throw damaged("a comma or the end of the list is missing", at: offset)
        }
        offset &+= 1
        return try isClosed(by: bracket)
    }

    /// Reads the end of a tagged object; returns false if it has more keys.
    mutating func isEndOfTag() throws(DamageError) -> Bool { try isLast(before: "}") }

    /// Reads a word such as `null`.
    private mutating func word(_ word: StaticString) throws(DamageError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard offset &+ index < bytes.count else { throw incomplete() }
            guard bytes[offset &+ index] == word.utf8Start[index] else {
                throw damaged("this is not a value", at: offset)
            }
        }
        offset &+= word.utf8CodeUnitCount
    }

    private func check(nesting: Int, at start: Int) throws(DamageError) {
        guard nesting > Self.maximumNesting else { return }
        throw damaged("the value is nested deeper than \(Self.maximumNesting) levels", at: start)
    }

    func damaged(_ reason: String, at offset: Int) -> DamageError {
        DamageError(kind: .damaged, reason: reason, offset: offset)
    }
    func incomplete() -> DamageError {
        DamageError(kind: .incomplete, reason: "it ends too early", offset: bytes.count)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the index of the first line feed from an index on.
    func firstNewline(from start: Int) -> Int? {
        guard start < count, let baseAddress, let found = memchr(baseAddress + start, 10, count - start)
        else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }
}

// MARK: Appending

extension DocumentReader {
    /// The text between a pending end and an entry that is appended, so that the end is damage, whatever it was: it ends a string, a line
    /// and a comment, and is valid nowhere.
    static let stop = Array("\n*/*\n".utf8)

    /// Returns the text to write before an entry that is appended to a file.
    ///
    /// - Parameter settled: The offset at which the file was read to its end.
    static func separator(after file: UnsafeRawBufferPointer, from settled: Int = 0) -> [UInt8] {
        var reader = DocumentReader(file, from: settled)
        while true {
            guard case .end(let offset, let error) = reader.next() else { continue }
            if error == nil { return file.last.map { $0 == 0x0A ? [] : [0x0A] } ?? [] }
            return mayGoOn(UnsafeRawBufferPointer(rebasing: file[offset...])) ? stop : []
        }
    }

    /// Whether a damaged text might go on in what follows, or its last line isn't one yet.
    static func mayGoOn(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.last == 0x0A else { return true }
        var reader = DocumentReader(text)
        reader.offset = 0
        if case .end(_, let error?) = reader.next() { return error.kind == .incomplete }
        return false
    }
}
