extension LogCore {
    /// Rewrites the file in place with one entry per line, for a file that no new one can replace: it has other names, is
    /// mounted by itself, or this user can't create files next to it.
    ///
    /// Does nothing and returns false if that wouldn't make it shorter, unless a sync of it has failed: then the first step is
    /// enough. The steps, each synced before the next one:
    ///
    /// 1. All that the file will have is appended, with the removals of what it had before. From then on the file means the
    ///    same without the lines before that.
    /// 2. Newlines are written over these. Of a line that is half overwritten, no half is an entry.
    /// 3. All that the file will have is written over the newlines.
    /// 4. The file is cut off there.
    ///
    /// So whatever a crash leaves has all values and at most fragments of lines. A line that a program without the lock
    /// appends is seen before the last step, but for the moment between the call that looks for it and the one that cuts.
    @discardableResult
    mutating func rewrite() throws(LogError) -> Bool {
        guard let handle = try currentHandle(), handle.isWritable else { return false }
        try lock(handle.file, until: fileSystem.now() + min(lockTimeout, .milliseconds(500)))
        defer { unlock(handle.file) }
        for _ in 0..<10 {
            guard try isReady(handle), current?.file === handle.file, let rewriting = try rewriting(handle) else {
                return false
            }
            let isDone = try rewriting.run()
            try reload()
            current?.sync = handle.sync.rewritten(upTo: position.end)
            // Else another program has appended something in between.
            if isDone { return true }
        }
        return true
    }

    private func rewriting(_ handle: Handle) throws(LogError) -> Rewriting? {
        let reader = reader(of: handle.file)
        do {
            var old: [UInt8] = []
            try reader.copy(from: 0, to: position.end) { piece, _ throws(FileSystemError) in old += piece }
            // Lines that can't be read stay in the file, once each: who can't replace it might not be able to keep them
            // elsewhere.
            var (kept, known): ([UInt8], Set<ArraySlice<UInt8>>) = ([], [])
            for range in try reader.damagedRanges(before: position.offset, contents.empty()) {
                let line = old[Int(range.lowerBound)..<Int(range.upperBound)]
                if known.insert(line).inserted { kept += line }
            }
            var new = kept + (try contents.lines())
            // Without what an unfinished line says, which comes last.
            if position.end > position.offset { new += old[Int(position.offset)...] + [10] }
            let isShorter = new.count < old.count
            guard isShorter || handle.sync.failure != nil else { return nil }
            let removals = try old.withUnsafeBytes { try contents.removals(of: $0) }
            let file = try fileSystem.open(path, for: .overwriting)
            guard try fileSystem.status(file).identity == handle.identity else { return nil }
            return Rewriting(
                file: file,
                appending: handle.file,
                fileSystem: fileSystem,
                oldCount: Int64(old.count),
                // It doesn't begin in a line of those that are overwritten, whatever a crash leaves of these.
                appended: [10] + removals + new,
                new: new,
                isShorter: isShorter
            )
        } catch let error as LogError {
            throw error
        } catch let error as FileSystemError {
            throw LogError(writing: error)
        } catch { throw .refused(path: path, line: 0, reason: "\(error)") }
    }
}

/// The steps that rewrite a file in place.
private struct Rewriting {
    let file: OpenFile
    /// The descriptor that appends.
    let appending: OpenFile
    let fileSystem: any FileSystem
    let oldCount: Int64
    let appended: [UInt8]
    let new: [UInt8]
    let isShorter: Bool

    /// Returns false if another program has appended something, so that the file was not cut off.
    func run() throws(LogError) -> Bool {
        do throws(FileSystemError) {
            // Else a part of what is appended might survive without the line, of several names, that it repeats.
            try fileSystem.syncData(file)
            // If this fails, nothing is overwritten yet, and what was appended of it says nothing new.
            try fileSystem.writeAll(appended, to: appending)
            let end = try fileSystem.position(appending)
            try fileSystem.syncData(file)
            if !isShorter { return true }
            try overwrite(Array(repeating: 10, count: Int(oldCount)))
            try overwrite(new)
            guard end == oldCount + Int64(appended.count), try fileSystem.status(file).size == end else { return false }
            try fileSystem.truncate(file, to: Int64(new.count))
            try fileSystem.sync(file)
            return true
        } catch { throw LogError(writing: error) }
    }

    private func overwrite(_ bytes: [UInt8]) throws(FileSystemError) {
        var written = 0
        while written < bytes.count {
            written += try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
                try fileSystem.overwrite(
                    UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[written...])),
                    in: file,
                    at: Int64(written)
                )
            }
        }
        try fileSystem.syncData(file)
    }
}
