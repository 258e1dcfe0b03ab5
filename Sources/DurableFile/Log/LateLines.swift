/// The end of a file that is being replaced, to which programs that don't use the lock might still append.
struct LateLines: Sendable {
    /// The old file; once it is replaced, a descriptor that can only read it.
    private(set) var old: OpenFile
    private var isReadOnly = false
    /// The offset after the last newline that is in the new file.
    var lineStart: Int64
    /// The offset up to which the bytes are in the new file, where an unfinished last line has been ended.
    var copied: Int64
    /// The offset up to which the old file had been read when it was locked.
    let readEnd: Int64
    /// The path of the copy of the old file's damaged lines, if there were any.
    var damagedCopy: String?
    /// Why the new file's name might not survive a loss of power.
    var failure: FileSystemError?

    init(old: OpenFile, from start: Int64, readEnd: Int64) {
        self.old = old
        lineStart = start
        copied = start
        self.readEnd = readEnd
    }

    /// Copies the old file up to `readEnd`, ends its last line, and advances a position past the lines before
    /// `completeEnd`.
    ///
    /// An unfinished line is always ended before anything follows it: its rest is written to the old file, so it would
    /// make what follows a part of the line.
    mutating func carryOver(
        _ reader: LogReader,
        to file: OpenFile,
        upTo completeEnd: Int64,
        _ position: inout LogPosition
    ) throws(FileSystemError) {
        let start = position.offset - copied
        try reader.copy(from: copied) { piece, offset throws(FileSystemError) in
            let bytes = UnsafeRawBufferPointer(rebasing: piece.prefix(Int(clamping: max(0, readEnd - offset))))
            guard !bytes.isEmpty else { return }
            try reader.fileSystem.writeAll(bytes, to: file)
            copied = offset + Int64(bytes.count)
            let count = Int(clamping: max(0, min(completeEnd - offset, Int64(bytes.count))))
            position.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<count]), lines: 0)
        }
        lineStart = completeEnd
        position.end = start + copied
        guard copied > completeEnd else { return }
        try reader.fileSystem.writeAll([10], to: file)
        position.end += 1
    }

    /// Waits up to 10 ms for the end of a line that is arriving in the old file, as a set does, and copies what was
    /// added since.
    mutating func carryOverRest(_ reader: LogReader, to file: OpenFile) throws(FileSystemError) {
        let deadline = reader.fileSystem.now() + LogCore.longestArrival
        while try !endsWithNewline(reader), reader.fileSystem.now() < deadline {
            reader.fileSystem.sleep(.milliseconds(1))
        }
        guard let (bytes, next) = try rest(reader, endsLast: true) else { return }
        if !bytes.isEmpty { try reader.fileSystem.writeAll(bytes, to: file) }
        self = next
    }

    private func endsWithNewline(_ reader: LogReader) throws(FileSystemError) -> Bool {
        let size = try reader.fileSystem.status(old).size
        if size <= lineStart { return true }
        var byte: UInt8 = 0
        return try withUnsafeMutableBytes(of: &byte) { space throws(FileSystemError) in
            try reader.fileSystem.read(old, into: space, at: size - 1) == 1 && space[0] == 10
        }
    }

    /// Returns the lines to append for what was added to the old file since, and the state after that; nil if nothing
    /// was added.
    ///
    /// A line of which only the beginning was there when it was ended is added again as a whole.
    func rest(_ reader: LogReader, endsLast: Bool) throws(FileSystemError) -> (bytes: [UInt8], next: LateLines)? {
        guard try reader.fileSystem.status(old).size > copied else { return nil }
        var bytes: [UInt8] = []
        try reader.copy(from: lineStart) { piece, _ throws(FileSystemError) in bytes.append(contentsOf: piece) }
        var next = self
        let beginning = Int(copied - lineStart)
        if beginning > 0, beginning < bytes.count, bytes[beginning] == 10 {
            // Only the newline was missing, so the new file has the line already.
            bytes.removeFirst(beginning + 1)
            next.lineStart = copied + 1
            next.copied = next.lineStart
        }
        let complete = (bytes.lastIndex(of: 10) ?? -1) + 1
        if endsLast || complete > 0 {
            next.lineStart += Int64(complete)
            next.copied = next.lineStart
        }
        if endsLast, complete < bytes.count {
            next.copied += Int64(bytes.count - complete)
            bytes.append(10)
        } else {
            bytes.removeLast(bytes.count - complete)
        }
        return (bytes, next)
    }

    /// Lets go of the descriptor that can write, which would be one more program's that has the file open.
    mutating func endWriting(_ fileSystem: any FileSystem) {
        do { (old, isReadOnly) = (try fileSystem.reopen(old), true) } catch {
            // Without /proc, as in some containers, the lines of the first second are kept.
        }
    }

    /// Whether a program has the old file open and might write to it; nil if the system doesn't tell.
    func haveWriters(_ fileSystem: any FileSystem) -> Bool? {
        guard isReadOnly else { return false }
        do { return try fileSystem.hasWriters(old) } catch { return nil }
    }
}
