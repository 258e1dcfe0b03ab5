/// The end of a file that is being replaced, to which appenders without the lock may still add.
struct StrayLines: Sendable {
    let old: OpenFile
    /// After the last newline that is in the new file.
    var lineStart: Int64
    /// How far the bytes are in the new file, where an unfinished last line has been ended.
    var copied: Int64
    /// How far the old file had been read when it was locked.
    let seen: Int64
    /// The file that has the old one's damaged lines, if there were any.
    var damagedCopy: String?
    /// Why the new file's name might not survive a loss of power.
    var failure: FileSystemError?

    init(old: OpenFile, from start: Int64, seen: Int64) {
        self.old = old
        lineStart = start
        copied = start
        self.seen = seen
    }

    /// Copies all that was seen of the old file, ends its last line, and moves a position along over the lines before
    /// `known`.
    ///
    /// Nothing ever follows an unfinished line: its rest, which is written to the old file, would break what follows.
    mutating func carryOver(
        _ reader: LogReader,
        to file: OpenFile,
        upTo known: Int64,
        _ position: inout LogPosition
    ) throws(FileSystemError) {
        let start = position.offset - copied
        try reader.copy(from: copied) { piece, offset throws(FileSystemError) in
            let bytes = UnsafeRawBufferPointer(rebasing: piece.prefix(Int(clamping: max(0, seen - offset))))
            guard !bytes.isEmpty else { return }
            try reader.fileSystem.writeAll(bytes, to: file)
            copied = offset + Int64(bytes.count)
            let count = Int(clamping: max(0, min(known - offset, Int64(bytes.count))))
            position.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<count]), lines: 0)
        }
        lineStart = known
        position.end = start + copied
        guard copied > known else { return }
        try reader.fileSystem.writeAll([10], to: file)
        position.end += 1
    }

    /// Gives a line that is arriving in the old file 10 ms to end, as a set does, and copies what has come since.
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

    /// The lines to add for what came to the old file since, and what is copied then; nil if nothing came.
    ///
    /// A line that was ended when only its beginning was there is added again, whole.
    func rest(_ reader: LogReader, endsLast: Bool) throws(FileSystemError) -> (bytes: [UInt8], next: StrayLines)? {
        guard try reader.fileSystem.status(old).size > copied else { return nil }
        var bytes: [UInt8] = []
        try reader.copy(from: lineStart) { piece, _ throws(FileSystemError) in bytes.append(contentsOf: piece) }
        var next = self
        let beginning = Int(copied - lineStart)
        if beginning > 0, beginning < bytes.count, bytes[beginning] == 10 {
            // Only its newline was missing, so it is there already.
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
}
