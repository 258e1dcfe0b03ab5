internal import CPreferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// How far a file was read, and what can't be read there; what it takes to find out later that the bytes are the same.
struct LogReading {
    let path: String
    /// The status of the file when it was read.
    var status: FileStatus
    /// The offset of the first line that isn't complete.
    private(set) var offset: Int64 = 0
    /// The hash of all bytes before `tail`.
    private var hash: UInt64 = 0
    /// The last bytes before the offset, from a multiple of eight on.
    private var tail: [UInt8] = []
    /// Whether the line at the offset counts though it has no end.
    private(set) var hasUnfinished = false
    /// Whether lines were read behind others that weren't compared with what was read of them.
    var isUnverified = false
    private(set) var lineCount = 0
    /// The number of lines that set nothing: empty ones, comments and those of newer versions.
    private var remarkCount = 0
    private(set) var damageCount = 0
    private(set) var damage: [PreferenceError] = []
    private var hasEntry = false
    /// Whether a line is none that a file of preferences has, also not the part of one that a loss of power leaves.
    private var hasForeignLine = false

    /// The number of lines that are named each.
    private static let mostDamage = 100
    /// The size up to which a file is compared as a whole.
    private static let largeSize = 1 << 20

    init(_ path: String, _ status: FileStatus) { (self.path, self.status) = (path, status) }

    /// Whether the file seems to be of another kind: it has lines, and none is an entry.
    var isForeign: Bool { hasForeignLine && !hasEntry }
    /// Whether the last line has no end, and is not read or read again.
    var isTorn: Bool { status.size > offset }
    /// Whether a line has to begin with a newline.
    var needsNewline: Bool { isTorn || tail.last.map { $0 != 10 } ?? false }
    /// The number of lines that a compaction can leave out.
    func outdated(_ names: Int) -> Int { lineCount - names - damageCount - remarkCount }

    // MARK: Comparing

    /// Returns the part of the file to compare: its begin, and whether that is all of it.
    func compared(isWhole: Bool) -> (start: Int64, isWhole: Bool) {
        isWhole && offset <= Self.largeSize ? (0, true) : (offset - Int64(tail.count), false)
    }

    /// Whether the bytes from the begin of `compared` up to the offset are those that were read.
    func isSame(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
        bytes.withUnsafeBytes { isSame($0, isWhole: isWhole) }
    }

    private func isSame(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Bool {
        guard bytes.count >= tail.count, isWhole || bytes.count == tail.count else { return false }
        let head = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - tail.count)])
        if isWhole, Int64(bytes.count) != offset || Self.hash(0, head) != hash { return false }
        // `elementsEqual` takes ten instructions a byte.
        return tail.withUnsafeBytes { tail in
            guard let start = bytes.baseAddress, let other = tail.baseAddress else { return true }
            return memcmp(start + head.count, other, tail.count) == 0
        }
    }

    private static func hash(_ hash: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let start = bytes.baseAddress else { return hash }
        return preferences_hash_words(hash, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    private mutating func advance(over bytes: UnsafeRawBufferPointer) {
        offset += Int64(bytes.count)
        tail += bytes
        guard tail.count > 4096 else { return }
        let count = (tail.count - 256) & ~7
        hash = tail.withUnsafeBytes { Self.hash(hash, UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        tail.removeSubrange(0..<count)
    }

    // MARK: Reading

    /// Notes an own line, which was written at the offset.
    mutating func note(_ line: [UInt8], _ status: FileStatus) {
        line.withUnsafeBytes { advance(over: $0) }
        self.status = status
        lineCount += 1
        hasEntry = true
    }

    /// Reads the lines from the offset on, of bytes that end where the file did.
    ///
    /// Calls `body` for each line, or once with all changes.
    ///
    /// - Throws: An error if the file must not be used; then nothing is read.
    mutating func read(
        _ bytes: ArraySlice<UInt8>,
        joinsChanges: Bool = false,
        _ body: ([StoredChange]) -> Void
    ) throws(FileSystemError) {
        let failure: FileSystemError? = bytes.withUnsafeBytes { bytes in
            do throws(FileSystemError) {
                try read(bytes, joinsChanges: joinsChanges, body)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    private mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        joinsChanges: Bool,
        _ body: ([StoredChange]) -> Void
    ) throws(FileSystemError) {
        var start = 0
        var changes: [StoredChange] = []
        if joinsChanges { changes.reserveCapacity(bytes.count / 16) }
        hasUnfinished = false
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            let newline = rest.firstNewline
            let length = try read(rest, newline ?? rest.count, isEnded: newline != nil, into: &changes)
            if !joinsChanges, !changes.isEmpty {
                body(changes)
                changes.removeAll(keepingCapacity: true)
            }
            if length == 0 { break }
            start += length
        }
        if joinsChanges { body(changes) }
        advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<start]))
    }

    /// Reads the first line of the rest of a file, which has that many bytes before its end; returns how many bytes are done.
    private mutating func read(
        _ rest: UnsafeRawBufferPointer,
        _ count: Int,
        isEnded: Bool,
        into changes: inout [StoredChange]
    ) throws(FileSystemError) -> Int {
        let line = UnsafeRawBufferPointer(rebasing: rest[..<count])
        if isEnded, let change = Self.plainChange(line) {
            changes.append(change)
            lineCount += 1
            hasEntry = true
            return count + 1
        }
        let isFirst = offset == 0 && lineCount == 0
        do throws(JSONLineError) {
            let known = changes.count
            try JSONLine.read(line, isFirst: isFirst) { name, value in changes.append(StoredChange(name, value)) }
            if !line.isBlank { hasEntry = true }
            guard isEnded else {
                // It counts, and is read again with what is added to it.
                hasUnfinished = !line.isBlank
                return 0
            }
            if changes.count == known { remarkCount += 1 }
            lineCount += 1
            return count + 1
        } catch {
            if error.kind == .unknownFormat {
                let reason = "line \(lineCount + 1): \(error)"
                throw FileSystemError(call: "read", path: path, code: 0, kind: .newerFormat(reason))
            }
            // A program appends to its own file line by line.
            if error.kind == .incomplete, let joined = Self.joined(rest, isFirst: isFirst) {
                let object = UnsafeRawBufferPointer(rebasing: rest[..<joined])
                let count = object.count { $0 == 10 } + 1
                if !object.mightBeEntries { hasForeignLine = true }
                note("it is an object over \(count) lines, but each line must be a complete object", count)
                return min(joined + 1, rest.count)
            }
            let isArriving = error.kind == .incomplete
            if !isArriving, !line.mightLackAPart, !line.mightBeEntries { hasForeignLine = true }
            guard isEnded else { return 0 }
            note(isArriving ? "it ends in the middle" : "\(error)", 1)
            return count + 1
        }
    }

    /// Returns the length of the object over several lines that some bytes begin with, up to the end of its last line.
    static func joined(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        // Not an empty line before one.
        guard let newline = bytes.firstNewline, !bytes[..<newline].allSatisfy(\.isSpace),
            let length = JSONLine.lengthOfObject(bytes, isFirst: isFirst)
        else { return nil }
        let end = bytes[length...].firstIndex(of: 10) ?? bytes.count
        return bytes[length..<end].allSatisfy(\.isSpace) ? end : nil
    }

    private mutating func note(_ reason: String, _ count: Int) {
        if damage.count < Self.mostDamage {
            let cure = count == 1 ? "correct it by hand or leave it" : "`prefs check --repair` rewrites it"
            var problem = PreferenceError(
                .damaged,
                "line \(lineCount + 1) of \(path) can't be read and is skipped: \(reason). It is kept; \(cure)"
            )
            problem.damagedLine = (path, lineCount + 1)
            damage.append(problem)
        }
        lineCount += count
        damageCount += count
    }

    /// Returns the change of a line such as `{"name":12}`, as most are; nil for all others.
    private static func plainChange(_ line: UnsafeRawBufferPointer) -> StoredChange? {
        guard line.count >= 7, line[0] == UInt8(ascii: "{"), line[1] == UInt8(ascii: "\""), line[2] != UInt8(ascii: "$")
        else { return nil }
        let end = line.firstIndexNotPlain(from: 2)
        guard end > 2, end + 3 < line.count, end < 200, line[end] == UInt8(ascii: "\""),
            line[end + 1] == UInt8(ascii: ":")
        else { return nil }
        var index = end + 2
        let isNegative = line[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let first = index
        var number: Int64 = 0
        while index < line.count, line[index] >= 48, line[index] < 58 {
            number = number &* 10 &+ Int64(line[index] &- 48)
            index += 1
        }
        // Neither a leading zero nor "-0", and no overflow.
        guard index == line.count - 1, line[index] == UInt8(ascii: "}"), 1...18 ~= index - first,
            line[first] != 48 || index == first + 1 && !isNegative
        else { return nil }
        let name = String(decoding: UnsafeRawBufferPointer(rebasing: line[2..<end]), as: UTF8.self)
        return StoredChange(name, .integer(isNegative ? -number : number))
    }
}

// MARK: Files of another kind

extension UnsafeRawBufferPointer {
    var firstNewline: Int? {
        guard let baseAddress, let found = memchr(baseAddress, 10, count) else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }

    fileprivate var isBlank: Bool { allSatisfy(\.isSpace) }

    /// Whether a damaged line is text with zeros in place of one part, or of all but one, as a loss of power leaves it; binary files and
    /// UTF-16 have zeros in many places.
    fileprivate var mightLackAPart: Bool {
        guard contains(0) else { return false }
        let parts = split(separator: 0)
        return parts.allSatisfy(\.isText) && (parts.count <= 1 || parts.count == 2 && first != 0 && last != 0)
    }

    /// Whether a damaged line might be a mistyped entry, or the parts of entries, as of programs that were ended in the middle of a line.
    fileprivate var mightBeEntries: Bool {
        if contains(0) {
            let parts = split(separator: 0)
            return parts.allSatisfy(\.isText)
                && parts.contains { $0.starts(with: #"{""#.utf8) || $0.elementsEqual("{".utf8) }
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = dropFirst(starts(with: mark) ? mark.count : 0).drop(while: \.isSpace)
        guard text.first == UInt8(ascii: "{"),
            text.dropFirst().first(where: { $0 != 32 && $0 != 9 }) == UInt8(ascii: "\"")
        else { return false }
        // Other JSON is a file of another program, unless it has forms of this one, such as of a newer version.
        do throws(JSONLineError) { _ = try JSONLine.readPlain(UnsafeRawBufferPointer(rebasing: text)) } catch {
            return true
        }
        if text.contains(10) { return false }
        return text.indices.contains { text[$0] == UInt8(ascii: "\"") && text[$0...].starts(with: "\"$".utf8) }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Whether there are no control characters other than white space. A character might be incomplete.
    fileprivate var isText: Bool { allSatisfy { $0 >= 32 && $0 != 127 || $0.isSpace } }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 32 || self == 9 || self == 13 }
}
