extension LogCore {
    /// Rewrites the file in place with one entry per line, for a file that no new one can replace: it has other names, is
    /// mounted by itself, or this user can't create files next to it.
    ///
    /// Does nothing and returns false if that wouldn't make it shorter, unless a sync of it has failed: then the first step is
    /// enough. Returns nil if another file, or none, is at the path, and throws `busy` instead of waiting for another program.
    /// The steps, each synced before the next one:
    ///
    /// 1. All that the file will have is appended, with the removals of what it had before. From then on the file means the
    ///    same without the lines before that.
    /// 2. Newlines are written over these. Of a line that is half overwritten, no half is an entry.
    /// 3. All that the file will have is written over the newlines.
    /// 4. Newlines are written over what was appended, so that nothing of it comes back behind later lines if the next step is
    ///    lost, as its sync fails.
    /// 5. The file is cut off there.
    ///
    /// So whatever a crash leaves has all values and at most fragments of lines. Programs without the lock might append lines
    /// or save the file in place; before each step the file is compared with what the step before has left. What they do in
    /// the moment between such a look and the step is kept if they append, except before the last one, and can be lost if
    /// they save in place.
    mutating func rewrite(isRequested: Bool = false) throws(LogError) -> Bool? {
        beginWriting()
        guard let handle = try currentHandle(), handle.isWritable else { return nil }
        try lock(handle.file)
        defer { unlock(handle.file) }
        for _ in 0..<10 {
            guard try isReady(handle), current?.file === handle.file else { return nil }
            guard let old = try unchangedBytes(of: handle) else {
                try reload()
                continue
            }
            guard let rewriting = try rewriting(old, handle, isRequested: isRequested) else { return false }
            if let end = try rewriting.run() {
                try reload()
                current?.sync = handle.sync.rewritten(upTo: end)
                return true
            }
            // Another program has changed the file.
            try catchUp(.compared(whole: true))
        }
        throw .busy(path: path, waited: .zero)
    }

    /// Returns the bytes of the file if those that were read are still there.
    private func unchangedBytes(of handle: Handle) throws(LogError) -> [UInt8]? {
        var old: [UInt8] = []
        do {
            try reader(of: handle.file).copy(from: 0, to: position.end) { piece, _ throws(FileSystemError) in
                old += piece
            }
        } catch { throw .failed(error) }
        guard old.count == position.end else { return nil }
        var hash = RunningHash()
        old.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<Int(position.offset)])) }
        return hash == position.hash ? old : nil
    }

    private func rewriting(_ old: [UInt8], _ handle: Handle, isRequested: Bool) throws(LogError) -> Rewriting? {
        let reader = reader(of: handle.file)
        do {
            // Lines that can't be read stay in the file, once each: who can't replace it might not be able to keep them
            // elsewhere.
            var (kept, known): ([UInt8], Set<ArraySlice<UInt8>>) = ([], [])
            for range in try reader.damagedRanges(before: position.offset, contents.empty()) {
                let line = old[Int(range.lowerBound)..<Int(range.upperBound)]
                if known.insert(line).inserted { kept += line }
            }
            let complete = old[..<Int(position.offset)]
            let lines = try complete.withUnsafeBytes { try contents.lines(inPlaceOf: $0, isRequested: isRequested) }
            // Without an entry, a file with lines of another kind would count as another program's.
            var new = kept + (lines.isEmpty && !kept.isEmpty ? Array("{}\n".utf8) : lines)
            // Without what an unfinished line says, which comes last.
            if position.end > position.offset { new += old[Int(position.offset)...] + [10] }
            let isShorter = new.count < old.count
            guard isShorter || handle.sync.failure != nil else { return nil }
            let repetition = try old.withUnsafeBytes { try contents.repetition(of: new, after: $0) }
            let file = try fileSystem.open(path, for: .overwriting)
            guard try fileSystem.status(file).identity == handle.identity else {
                throw LogError.busy(path: path, waited: .zero)
            }
            return Rewriting(
                file: file,
                appending: handle.file,
                fileSystem: fileSystem,
                old: old,
                lineStart: position.offset,
                // It doesn't begin in a line of those that are overwritten, whatever a crash leaves of these.
                appended: [10] + repetition,
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
    let old: [UInt8]
    /// The offset of the unfinished last line of `old`, or the end of `old`.
    let lineStart: Int64
    let appended: [UInt8]
    let new: [UInt8]
    let isShorter: Bool

    /// Returns up to where the file is synced; nil if another program has changed it, so that nothing more was overwritten.
    func run() throws(LogError) -> Int64? {
        do throws(FileSystemError) {
            // Else a part of what is appended might survive without the line, of several names, that it repeats.
            try fileSystem.syncData(file)
            guard try has(old, size: Int64(old.count)), let end = try append() else { return nil }
            try fileSystem.syncData(file)
            if !isShorter { return end }
            guard try has(old, size: end) else { return nil }
            let newlines = [UInt8](repeating: 10, count: old.count)
            try overwrite(newlines, at: 0)
            guard try has(newlines, size: end) else {
                try restore(newlines, before: end)
                return nil
            }
            try overwrite(new, at: 0)
            guard try has(new, size: end) else { return nil }
            try overwrite([UInt8](repeating: 10, count: Int(end) - old.count), at: old.count)
            guard try has(new, size: end) else { return nil }
            try fileSystem.truncate(file, to: Int64(new.count))
            try fileSystem.sync(file)
            return Int64(new.count)
        } catch { throw LogError(writing: error) }
    }

    // MARK: Appending

    /// Appends all that the file will have and returns where that ends; nil if another program has changed the file since
    /// it was read.
    private func append() throws(FileSystemError) -> Int64? {
        var (pieces, failure): ([Range<Int64>], FileSystemError?) = ([], nil)
        // If this fails, nothing is overwritten yet, and what was appended says nothing new, unless something stands before
        // it.
        do throws(FileSystemError) { try append(&pieces) } catch { failure = error }
        let end = try isFollowing(pieces) ? pieces.last?.upperBound : nil
        if end == nil { try giveWay(pieces) }
        if let failure {
            // On a full disk, it would take the space that the next line needs.
            if let end, try fileSystem.status(file).size == end {
                try fileSystem.truncate(file, to: Int64(old.count))
            }
            throw failure
        }
        return end
    }

    private func append(_ pieces: inout [Range<Int64>]) throws(FileSystemError) {
        var written = 0
        while written < appended.count {
            let count = try appended.withUnsafeBufferPointer { bytes throws(FileSystemError) in
                try fileSystem.append(
                    UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[written...])),
                    to: appending
                )
            }
            if count == 0 { throw FileSystemError("write", file.path, .noSpace) }
            written += count
            let end = try fileSystem.position(appending)
            pieces.append(end - Int64(count)..<end)
        }
    }

    /// Whether what was appended stands right behind the bytes that were read.
    private func isFollowing(_ pieces: [Range<Int64>]) throws(FileSystemError) -> Bool {
        var end = Int64(old.count)
        for piece in pieces {
            guard piece.lowerBound == end else { return false }
            end = piece.upperBound
        }
        return try has(old, at: 0)
    }

    /// Lets what another program has written in between come after what was appended, which would override it.
    private func giveWay(_ pieces: [Range<Int64>]) throws(FileSystemError) {
        guard let first = pieces.first, let last = pieces.last else { return }
        let isOld = try has(old, at: 0)
        let isEdited = !isOld || first.lowerBound < old.count
        if isEdited {
            // The program has saved the file in place, and what it left out must not be there again.
            let isLast = try fileSystem.status(file).size == last.upperBound
            guard try has(appended, at: first.lowerBound) else { return }
            if isLast { return try fileSystem.truncate(file, to: first.lowerBound) }
        }
        // What was added to an unfinished line is its end.
        var start: Int64 = isEdited ? 0 : first.lowerBound > old.count ? lineStart : Int64(old.count)
        var others: [UInt8] = []
        for piece in pieces {
            if start < piece.lowerBound { others += [10] + (try bytes(start..<piece.lowerBound)) + [10] }
            start = max(start, piece.upperBound)
        }
        try fileSystem.writeAll(others, to: appending)
        try fileSystem.syncData(file)
    }

    // MARK: Overwriting

    private func overwrite(_ bytes: [UInt8], at start: Int) throws(FileSystemError) {
        var written = 0
        while written < bytes.count {
            let count = try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
                try fileSystem.overwrite(
                    UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[written...])),
                    in: file,
                    at: Int64(start + written)
                )
            }
            if count == 0 { throw FileSystemError("write", file.path, .noSpace) }
            written += count
        }
        try fileSystem.syncData(file)
    }

    /// Appends all values again if another program has cut off those that were appended, right before newlines were
    /// written over what it had saved.
    private func restore(_ newlines: [UInt8], before end: Int64) throws(FileSystemError) {
        guard try !has(appended, at: end - Int64(appended.count)), try has(newlines, at: 0) else { return }
        let size = try fileSystem.status(file).size
        guard size >= newlines.count else { return }
        let rest = try bytes(Int64(newlines.count)..<size)
        try fileSystem.writeAll(appended + rest + [10], to: appending)
        try fileSystem.syncData(file)
    }

    // MARK: Comparing

    private func has(_ bytes: [UInt8], size: Int64) throws(FileSystemError) -> Bool {
        // The size last, as it tells of lines that were added while the bytes were read.
        guard try has(bytes, at: 0) else { return false }
        return try fileSystem.status(file).size == size
    }

    private func has(_ bytes: [UInt8], at start: Int64) throws(FileSystemError) -> Bool {
        let range = start..<start + Int64(bytes.count)
        return try self.bytes(range) == bytes
    }

    private func bytes(_ range: Range<Int64>) throws(FileSystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        let reader = LogReader(file: file, fileSystem: fileSystem, longestLine: .max)
        try reader.copy(from: range.lowerBound, to: range.upperBound) { piece, _ throws(FileSystemError) in
            bytes += piece
        }
        return bytes
    }
}
