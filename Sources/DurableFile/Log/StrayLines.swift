/// What appenders without the lock may still add to a file that is being replaced.
struct StrayLines: Sendable {
    let old: OpenFile
    /// Behind the last newline that is in the new file.
    var lineStart: Int64
    /// How far the bytes are in the new file.
    var copied: Int64
    /// How far the old file had been looked at when it was locked.
    var seen: Int64 = 0
    /// Why the new file's name may not survive a loss of power.
    var failure: FileSystemError?

    /// Copies the whole lines that came to the old file since.
    ///
    /// A line that is only just arriving stays for later: its rest, written behind what others already append to the new
    /// file, would break two lines.
    mutating func carryOver(_ reader: LogReader, to file: OpenFile) throws(FileSystemError) {
        var bytes: [UInt8] = []
        try reader.copy(from: copied) { piece, _ throws(FileSystemError) in bytes.append(contentsOf: piece) }
        guard let newline = bytes.lastIndex(of: 10) else { return }
        bytes.removeLast(bytes.count - newline - 1)
        try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
            try reader.fileSystem.writeAll(UnsafeRawBufferPointer(bytes), to: file)
        }
        copied += Int64(bytes.count)
        lineStart = copied
    }

    /// Copies what was seen of the old file, byte by byte, so that a line without its end can still be continued, and moves
    /// a position along over the bytes before an offset.
    mutating func carryOver(
        _ reader: LogReader,
        to file: OpenFile,
        upTo known: Int64,
        _ position: inout LogPosition
    ) throws(FileSystemError) {
        try reader.copy(from: copied) { piece, offset throws(FileSystemError) in
            let bytes = UnsafeRawBufferPointer(rebasing: piece.prefix(Int(clamping: max(0, seen - offset))))
            guard !bytes.isEmpty else { return }
            try reader.fileSystem.writeAll(bytes, to: file)
            copied = offset + Int64(bytes.count)
            if let newline = bytes.lastIndex(of: 10) { lineStart = offset + Int64(newline) + 1 }
            let count = Int(clamping: max(0, min(known - offset, Int64(bytes.count))))
            position.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<count]), lines: 0)
        }
    }
}
