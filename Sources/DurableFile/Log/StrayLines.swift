/// What appenders without the lock may still add to a file that is being replaced.
struct StrayLines: Sendable {
    let old: OpenFile
    /// Behind the last newline that is in the new file.
    var lineStart: Int64
    /// How far the bytes are in the new file.
    var copied: Int64
    /// Why the new file's name may not survive a loss of power.
    var failure: FileSystemError?

    /// Copies what came to the old file, byte by byte, so that a line without its end can still be continued.
    mutating func carryOver(_ reader: LogReader, to file: OpenFile) throws(FileSystemError) {
        var position = LogPosition()
        try carryOver(reader, to: file, upTo: 0, &position)
    }

    /// As above, and moves a position along over the bytes before an offset of the old file.
    mutating func carryOver(
        _ reader: LogReader,
        to file: OpenFile,
        upTo known: Int64,
        _ position: inout LogPosition
    ) throws(FileSystemError) {
        try reader.copy(from: copied) { bytes, offset throws(FileSystemError) in
            try reader.fileSystem.writeAll(bytes, to: file)
            copied = offset + Int64(bytes.count)
            if let newline = bytes.lastIndex(of: 10) { lineStart = offset + Int64(newline) + 1 }
            let count = Int(clamping: max(0, min(known - offset, Int64(bytes.count))))
            position.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<count]), lines: 0)
        }
    }
}
