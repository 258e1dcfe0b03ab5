internal import CDurableFile

extension LogCore {
    /// Adds the line that `prepare` makes of what everybody has stored; nil adds nothing.
    ///
    /// `prepare` may be asked twice. Once the line is stored, and all before it taken in, `commit` is called. If an error is
    /// thrown, the contents are those of the file. The deadline is the caller's, so that threads that wait for each other and
    /// then for the file's lock wait once.
    mutating func append(
        until deadline: Duration,
        _ prepare: () -> [UInt8]?,
        commit: () -> Void
    ) throws(LogError) {
        var retries = 0
        while true {
            guard let handle = try currentHandle(), handle.isWritable else {
                // Nothing is made where nothing is to be written. If it may only be read, opening it says why.
                try catchUp(.all)
                guard prepare() != nil else { return }
                current = try open(creating: true)
                continue
            }
            try lock(handle.file, until: deadline)
            defer { unlock(handle.file) }
            guard try isReady(handle) else {
                try pause(&retries, until: deadline)
                continue
            }
            guard let line = prepare() else { return }
            return try write(line, to: handle.file, commit)
        }
    }

    /// Adds lines as another program has written them, to be read like its.
    mutating func append(foreign lines: [UInt8], until deadline: Duration) throws(LogError) {
        var retries = 0
        while let handle = try currentHandle() {
            try lock(handle.file, until: deadline)
            defer { unlock(handle.file) }
            guard try isReady(handle) else {
                try pause(&retries, until: deadline)
                continue
            }
            _ = try writeAll(position.end > position.offset ? [10] + lines : lines, to: handle.file)
            return try catchUp(.all)
        }
    }

    /// Counts the times that the file at the path was another than the locked one, as after a compaction, and fails when there
    /// is no end to it: on some file systems stat(2) and fstat(2) never agree.
    private func pause(_ retries: inout Int, until deadline: Duration) throws(LogError) {
        retries += 1
        if retries <= 10 { return }
        if fileSystem.now() >= deadline { throw .neverTheSame(path: path) }
        fileSystem.sleep(.milliseconds(1))
    }

    /// How long a line that an appender without the lock is writing is given to arrive.
    static let longestArrival = Duration.milliseconds(10)

    /// Whether a file that is locked now is still the one at the path; then takes in what others added.
    ///
    /// Editors rename to a backup and compaction renames over, so the name decides and not the count of links.
    mutating func isAtPath(_ handle: Handle) throws(LogError) -> Bool {
        guard let status = try statusAtPath(), status.identity == handle.identity else {
            current = nil
            return false
        }
        if position.change(to: (status.identity, status.size)) == .unchanged { return true }
        try catchUp(.all, with: status)
        return current?.file === handle.file && position.identity == handle.identity
    }

    /// As `isAtPath`, and gives a line that an appender without the lock is just writing the time to arrive.
    mutating func isReady(_ handle: Handle) throws(LogError) -> Bool {
        guard try isAtPath(handle) else { return false }
        if position.end == position.offset { return true }
        let deadline = fileSystem.now() + Self.longestArrival
        while position.end > position.offset, fileSystem.now() < deadline {
            fileSystem.sleep(.milliseconds(1))
            guard try isAtPath(handle) else { return false }
        }
        return true
    }

    /// The file at the path as last seen; nil where there was none.
    mutating func currentHandle() throws(LogError) -> Handle? {
        if let current, current.forks == durable_file_fork_count() { return current }
        current = try open(creating: false)
        return current
    }

    func lock(_ file: OpenFile, until deadline: Duration) throws(LogError) {
        // There is no flock with a timeout, and a signal would be the program's. Another's set is over in microseconds,
        // while the shortest sleep takes Linux 50 µs more than it is asked for (PR_SET_TIMERSLACK).
        for _ in 0..<Self.eagerTries where try lockIfAvailable(file) { return }
        var pause = Duration.microseconds(20)
        while try !lockIfAvailable(file) {
            if fileSystem.now() >= deadline { throw .busy(path: path, waited: lockTimeout) }
            fileSystem.sleep(pause)
            pause = min(pause * 2, .milliseconds(1))
        }
    }

    private static var eagerTries: Int { 20 }

    func lockIfAvailable(_ file: OpenFile) throws(LogError) -> Bool {
        do { return try fileSystem.lock(file) } catch { throw LogError(writing: error) }
    }

    /// Where it can't be unlocked, closing the file does it.
    mutating func unlock(_ file: OpenFile) {
        do { try fileSystem.unlock(file) } catch { current = nil }
    }

    /// Writes a line behind everything else, also behind what arrives at the same moment.
    private mutating func write(_ line: [UInt8], to file: OpenFile, _ commit: () -> Void) throws(LogError) {
        while true {
            // An unfinished line is left as it is and ended: cutting it off loses lines that are still arriving.
            let bytes = position.end > position.offset ? [10] + line : line
            let expectedEnd = position.end + Int64(bytes.count)
            let isWhole = try writeAll(bytes, to: file)
            var writtenEnd: Int64?
            do throws(LogError) {
                let end = try endOfWrite(file)
                writtenEnd = end
                let start = end - Int64(line.count)
                if !isWhole || start != position.offset {
                    try readOn(file, to: start)
                }
                if isWhole && position.offset == start {
                    line.withUnsafeBytes { position.advance(over: $0, lines: 1) }
                    return commit()
                }
                // It came to stand in the middle of somebody's line, so once more.
                try readOn(file, to: end)
            } catch {
                guard isWhole, writtenEnd == nil || writtenEnd == expectedEnd else {
                    throw .outcomeUnknown(path: path, cause: error)
                }
                // Nothing is known to have come in between, so the line is stored. The position stays before it: the next
                // call reads it again, with what is around it.
                return commit()
            }
        }
    }

    private mutating func readOn(_ file: OpenFile, to end: Int64) throws(LogError) {
        let reader = reader(of: file)
        try reader.readOn(from: &position, to: end, expecting: end, into: contents, noting: &damage)
    }

    private func endOfWrite(_ file: OpenFile) throws(LogError) -> Int64 {
        do { return try fileSystem.position(file) } catch { throw .failed(error) }
    }

    /// Writes all the bytes or nothing; false where others' bytes came in between.
    private mutating func writeAll(_ bytes: [UInt8], to file: OpenFile) throws(LogError) -> Bool {
        var written = 0
        var end: Int64?
        var isWhole = true
        do throws(FileSystemError) {
            while written < bytes.count {
                let count = try write(bytes, from: written, to: file)
                if count == 0 { throw FileSystemError("write", path, .noSpace) }
                written += count
                if written == bytes.count && end == nil { return true }
                let newEnd = try fileSystem.position(file)
                if let end, newEnd != end + Int64(count) { isWhole = false }
                end = newEnd
            }
            return isWhole
        } catch {
            if written == bytes.count { return false }
            if written == 0 { throw LogError(writing: error) }
            try takeBack(written, of: file, because: error)
        }
    }

    private func write(_ bytes: [UInt8], from start: Int, to file: OpenFile) throws(FileSystemError) -> Int {
        try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
            try fileSystem.write(file, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[start...])))
        }
    }

    /// Cuts off the beginning of a line that could not be written whole.
    private mutating func takeBack(
        _ written: Int,
        of file: OpenFile,
        because error: FileSystemError
    ) throws(LogError) -> Never {
        if cutOff(written, of: file) { throw LogError(writing: error) }
        // What stays is an unfinished line, which the next writer ends.
        let cause = error
        // Without its newline the line may yet be complete, and then it counts.
        do { try catchUp(.all) } catch { throw .outcomeUnknown(path: path, cause: error) }
        throw .outcomeUnknown(path: path, cause: cause)
    }

    /// False where the end of the file isn't one's own writing.
    private func cutOff(_ written: Int, of file: OpenFile) -> Bool {
        do {
            let end = try fileSystem.position(file)
            guard try fileSystem.status(file).size == end else { return false }
            try fileSystem.truncate(file, to: end - Int64(written))
            return true
        } catch {
            return false
        }
    }
}
