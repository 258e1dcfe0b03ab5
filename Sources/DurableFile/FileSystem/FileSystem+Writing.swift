extension FileSystem {
    /// Writes as often as it takes until all bytes are in the file; for files that nobody else writes to.
    func writeAll(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try write(file, rest)
            if count == 0 { throw FileSystemError("write", file.path, .noSpace) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// As `writeAll` of a buffer.
    func writeAll(_ bytes: [UInt8], to file: OpenFile) throws(FileSystemError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
            try writeAll(UnsafeRawBufferPointer(bytes), to: file)
        }
    }

    /// Syncs the names in a folder.
    func syncFolder(_ path: String) throws(FileSystemError) {
        do {
            try sync(try open(path, for: .folder))
        } catch {
            // Some file systems have nothing to sync in a folder and say so.
            if error.call == "fsync", error.code == .invalid || error.code == .notSupported { return }
            throw error
        }
    }

    /// Removes a file that isn't wanted; one that stays is removed by the next compaction.
    func discard(_ path: String) {
        do { try remove(path) } catch {}
    }
}
