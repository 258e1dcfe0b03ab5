/// A reader of a file's lines that begins at a position, reads a piece at a time and advances the position.
struct LogReader {
    let file: OpenFile
    let fileSystem: any FileSystem
    let longestLine: Int
    /// Whether a last line that has no newline and can't be read counts as damaged, and not as still arriving.
    var reportsUnfinished = false
    /// Whether an object that spans several lines is read as one line; otherwise it is damage. Only an object whose
    /// bytes are all in the buffer at once is found, as in any file of up to `pieceSize`.
    var joinsLines = false
    static var pieceSize: Int { 256 << 10 }

    /// Reads on to the end, or to `limit`.
    ///
    /// If a read fails, the lines before it are applied and the position stands after them. With `checksRecent`, the
    /// first read also gets the bytes before the position; if they are no longer those that were read, nothing is
    /// applied and the result is false.
    @discardableResult
    func readOn(
        from position: inout LogPosition,
        to limit: Int64 = .max,
        expecting size: Int64,
        into contents: any LogContents,
        noting damage: inout DamageList,
        checksRecent: Bool = false
    ) throws(LogError) -> Bool {
        var known = checksRecent ? position.recentCount : 0
        // One byte more than expected, so that the end of the file is recognized without a larger buffer.
        let rest = Int(clamping: max(0, min(limit, size) - position.offset))
        let expected = min(rest, Self.pieceSize) + 1 + known
        // Small pieces stay in the processor's cache, and the system has to provide fewer pages for them.
        var buffer = ReadBuffer(count: min(max(expected, 512), joinsLines ? Self.pieceSize : Self.pieceSize / 4))
        var held = 0
        if known == 0 { begin(&position, contents) }
        while true {
            let start = position.offset + Int64(held)
            let space = buffer.rest(from: held)
            var count = try read(into: space, at: start - Int64(known), to: limit)
            if known > 0 {
                guard count >= known, position.hasRecent(buffer.bytes(known), at: start - Int64(known)) else {
                    return false
                }
                begin(&position, contents)
                buffer.removeFirst(known, of: count)
                count -= known
            }
            if count == 0 { break }
            held += count
            // If the file had grown since, there would be one more byte.
            let isEnd = count + known < space.count && start + Int64(count) == size
            known = 0
            let bytes = buffer.bytes(held)
            let isHeld = start + Int64(count) >= min(size, limit)
            let used = try applyLines(bytes, searched: held - count, isHeld: isHeld, &position, contents, &damage)
            buffer.removeFirst(used, of: held)
            held -= used
            if held > longestLine {
                guard try skipLine(buffer.bytes(held), &position, to: limit, &damage) else { return true }
                held = 0
            } else if held == buffer.count {
                buffer.grow()
            }
            if isEnd { break }
        }
        guard held > 0, limit == .max else {
            position.end = position.offset + Int64(held)
            return true
        }
        let line = LogDamage(path: file.path, line: position.lines + 1, reason: "it ends in the middle")
        let reading = contents.readUnfinished(buffer.bytes(held), isFirst: position.offset == 0)
        position.note(reading, buffer.bytes(held), contents)
        switch reading {
        case .refused(let reason): throw .refused(path: file.path, line: line.line, reason: reason)
        case .complete: break
        case .incomplete, .damaged:
            let range = position.offset..<position.offset + Int64(held)
            if reportsUnfinished { damage.note(buffer.bytes(held), range, line) }
        }
        position.end = position.offset + Int64(held)
        return true
    }

    private func begin(_ position: inout LogPosition, _ contents: any LogContents) {
        if position.end > position.offset { contents.dropUnfinished() }
        position.end = position.offset
    }

    /// Whether the bytes before a position are still those that were read; only the last of them unless `whole`.
    func isUnchanged(_ position: LogPosition, whole: Bool) throws(LogError) -> Bool {
        var offset = whole ? 0 : position.offset - Int64(position.recentCount)
        var hash = RunningHash()
        let buffer = ReadBuffer(count: Int(min(position.offset - offset, Int64(Self.pieceSize))))
        while offset < position.offset {
            let count = try read(into: buffer.rest(from: 0), at: offset, to: position.offset)
            if count == 0 { return false }
            let bytes = buffer.bytes(count)
            if whole {
                hash.add(bytes)
            } else if !position.hasRecent(bytes, at: offset) {
                return false
            }
            offset += Int64(count)
        }
        return !whole || hash == position.hash
    }

    /// Passes the bytes from one offset to another, or to the end, to `body`, in order and a piece at a time.
    func copy(
        from start: Int64,
        to end: Int64 = .max,
        _ body: (_ bytes: UnsafeRawBufferPointer, _ offset: Int64) throws(FileSystemError) -> Void
    ) throws(FileSystemError) {
        let buffer = ReadBuffer(count: Self.pieceSize)
        var offset = start
        while offset < end {
            let count = try fileSystem.read(file, into: buffer.rest(from: 0), at: offset)
            if count == 0 { return }
            try body(buffer.bytes(Int(min(Int64(count), end - offset))), offset)
            offset += Int64(count)
        }
    }

    /// Returns the byte ranges of the lines before an offset that can't be read, newlines included.
    func damagedRanges(before end: Int64, _ scratch: any LogContents) throws(LogError) -> [Range<Int64>] {
        var position = LogPosition()
        var damage = DamageList(ranges: [])
        try readOn(from: &position, to: end, expecting: end, into: scratch, noting: &damage)
        return damage.ranges ?? []
    }

    private func read(
        into space: UnsafeMutableRawBufferPointer,
        at offset: Int64,
        to limit: Int64
    ) throws(LogError) -> Int {
        let wanted = min(space.count, Int(clamping: limit - offset))
        if wanted <= 0 { return 0 }
        do {
            return try fileSystem.read(
                file,
                into: UnsafeMutableRawBufferPointer(rebasing: space[..<wanted]),
                at: offset
            )
        } catch { throw .failed(error) }
    }

    /// Applies the complete lines of some bytes and returns how many bytes they take; `isHeld` says that no more bytes
    /// follow.
    private func applyLines(
        _ bytes: UnsafeRawBufferPointer,
        searched: Int,
        isHeld: Bool,
        _ position: inout LogPosition,
        _ contents: any LogContents,
        _ damage: inout DamageList
    ) throws(LogError) -> Int {
        var (start, search, count, damagedCount) = (0, searched, 0, 0)
        var refusal: String?
        while true {
            // The first line decides of what kind the file is, and may begin with a byte order mark.
            if position.hasEntry, search == start, position.offset + Int64(start) > 0 {
                let lines = contents.readLines(UnsafeRawBufferPointer(rebasing: bytes[start...]))
                start += lines.byteCount
                count += lines.lineCount
                search = start
            }
            guard var end = bytes.firstNewline(from: search) else { break }
            var line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            let isFirst = position.offset == 0 && start == 0
            var lineCount = 1
            var reason: String?
            var reading = line.isEmptyLine ? .complete : contents.read(line, isFirst: isFirst)
            if reading == .incomplete {
                reason = "it ends in the middle"
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                if let joined = joinedLines(of: rest, contents, isFirst: isFirst, isHeld: isHeld) {
                    // Without its last newline it is an unfinished last line, which `readUnfinished` applies.
                    if joinsLines, joined.isUnfinished { break }
                    end = start + joined.end
                    line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                    lineCount = line.count { $0 == 10 } + 1
                    reason = "it is an object over \(lineCount) lines, but each line must be a complete object"
                    if joinsLines { reading = contents.read(line, isFirst: isFirst) }
                }
            }
            switch reading {
            case .complete: reason = nil
            case .damaged(let text): reason = text
            case .incomplete: break
            case .refused(let text): refusal = text
            }
            if refusal != nil { break }
            if !position.hasEntry {
                position.note(lineCount == 1 || joinsLines ? reading : .damaged(""), line, contents)
            }
            if let reason {
                damagedCount += 1
                let range = position.offset + Int64(start)..<position.offset + Int64(end) + 1
                let damaged = LogDamage(
                    path: file.path,
                    line: position.lines + count + 1,
                    reason: reason,
                    lineCount: lineCount
                )
                damage.note(line, range, damaged)
            }
            count += lineCount
            start = end + 1
            search = start
        }
        position.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<start]), lines: count)
        position.damaged += damagedCount
        // The position stays before the refused line, so that every later call reads it again.
        if let refusal { throw .refused(path: file.path, line: position.lines + 1, reason: refusal) }
        return start
    }

    /// Returns the offset of the last newline of an object that spans several lines at the beginning of some bytes, or
    /// of the newline before its last line if that is unfinished.
    private func joinedLines(
        of bytes: UnsafeRawBufferPointer,
        _ contents: any LogContents,
        isFirst: Bool,
        isHeld: Bool
    ) -> (end: Int, isUnfinished: Bool)? {
        guard let length = contents.lengthOfObject(bytes, isFirst: isFirst) else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[length...])
        if let end = rest.firstNewline(from: 0) {
            return rest[..<end].allSatisfy(\.isSpace) ? (length + end, false) : nil
        }
        guard isHeld, rest.allSatisfy(\.isSpace), let end = bytes[..<length].lastIndex(of: 10) else { return nil }
        return (end, true)
    }

    /// Skips a line that is longer than `longestLine`; returns false if it has no end yet, and leaves the offset before
    /// it.
    private func skipLine(
        _ beginning: UnsafeRawBufferPointer,
        _ position: inout LogPosition,
        to limit: Int64,
        _ damage: inout DamageList
    ) throws(LogError) -> Bool {
        var passed = position
        passed.advance(over: beginning, lines: 0)
        let buffer = ReadBuffer(count: Self.pieceSize)
        while true {
            let count = try read(into: buffer.rest(from: 0), at: passed.offset, to: limit)
            if count == 0 {
                position.end = passed.offset
                return false
            }
            let bytes = buffer.bytes(count)
            let end = bytes.firstNewline(from: 0)
            passed.advance(
                over: UnsafeRawBufferPointer(rebasing: bytes[..<(end.map { $0 + 1 } ?? count)]),
                lines: end == nil ? 0 : 1
            )
            guard end != nil else { continue }
            passed.damaged += 1
            passed.hasForeignLine = true
            let reason = "it is longer than \(longestLine >> 20) MiB"
            let line = LogDamage(path: file.path, line: passed.lines, reason: reason)
            damage.note(beginning, position.offset..<passed.offset, line)
            position = passed
            return true
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func firstNewline(from start: Int) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress + start, 10, count - start) else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }

    /// Whether the line is empty or has only the carriage return of a line end.
    fileprivate var isEmptyLine: Bool {
        isEmpty || (count == 1 && self[0] == 13)
    }
}

extension LogPosition {
    /// Notes whether a line is an entry, or none that a log has.
    fileprivate mutating func note(_ reading: LineReading, _ line: UnsafeRawBufferPointer, _ contents: any LogContents)
    {
        switch reading {
        case .complete: hasEntry = hasEntry || !line.isEmptyLine
        // After a loss of power a line might lack its end, and have zeros in its place.
        case .damaged where !line.mightLackAPart && !contents.mayBeEntries(line): hasForeignLine = true
        case .damaged, .incomplete, .refused: break
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the line is text with zeros in place of one part, or of all but one: binary files and UTF-16 have zeros in many
    /// places.
    fileprivate var mightLackAPart: Bool {
        guard contains(0) else { return false }
        let parts = split(separator: 0)
        return parts.allSatisfy(\.isText) && (parts.count <= 1 || parts.count == 2 && first != 0 && last != 0)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Whether there are no control characters other than white space. A character might be incomplete.
    package var isText: Bool { allSatisfy { $0 >= 32 && $0 != 127 || $0.isSpace } }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 32 || self == 9 || self == 13 }
}

/// Memory to read into, which unlike an array is neither cleared nor copied.
struct ReadBuffer: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer

    init(count: Int) {
        memory = .allocate(byteCount: count, alignment: 16)
    }

    deinit { memory.deallocate() }

    var count: Int { memory.count }

    func rest(from start: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory[start...])
    }

    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    func removeFirst(_ removed: Int, of held: Int) {
        guard removed > 0, removed < held else { return }
        memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[removed..<held]))
    }

    mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}
