internal import CDurableFile

extension LogCore {
    /// Appends the line that `prepare` makes of what all processes have stored; nothing if that returns nil.
    ///
    /// `prepare` may be called several times. `commit` is called once the line is stored and all lines before it are applied.
    /// If an error is thrown, the contents are those of the file; if it is `busy`, as another program is in the way, the caller
    /// can wait and try again.
    mutating func append(
        _ wait: inout BusyWait,
        _ prepare: () -> [UInt8]?,
        commit: () -> Void
    ) throws(LogError) {
        beginWriting()
        var retries = 0
        while true {
            guard let handle = try currentHandle(), handle.isWritable else {
                // No file is created if there is nothing to write. If the file can only be read, opening it for writing
                // throws the reason.
                try catchUp(.all)
                guard prepare() != nil else { return }
                current = try open(creating: true)
                continue
            }
            try lock(handle.file)
            defer { unlock(handle.file) }
            guard try isReady(handle) else {
                try pause(&retries, &wait)
                continue
            }
            guard let line = prepare() else { return }
            if position.isForeign { throw .foreign(path: path) }
            return try store(line, in: handle.file, commit)
        }
    }

    /// Appends lines as another program would, so that they are read like its lines; throws `busy` as the other `append` does.
    mutating func append(external lines: [UInt8], _ wait: inout BusyWait) throws(LogError) {
        beginWriting()
        var retries = 0
        while let handle = try currentHandle() {
            try lock(handle.file)
            defer { unlock(handle.file) }
            guard try isReady(handle) else {
                try pause(&retries, &wait)
                continue
            }
            _ = try writeAll(position.end > position.offset ? [10] + lines : lines, to: handle.file)
            return try catchUp(.all)
        }
    }

    /// Counts the times that the file at the path wasn't the locked one, as after a compaction, and throws at the
    /// deadline: on some file systems stat(2) and fstat(2) never agree.
    private func pause(_ retries: inout Int, _ wait: inout BusyWait) throws(LogError) {
        retries += 1
        if retries <= 10 { return }
        if wait.rest(by: fileSystem.now()) <= .zero { throw .unstableIdentity(path: path) }
        fileSystem.sleep(.milliseconds(1))
    }

    /// How long to wait for the end of a line that a program without the lock is writing.
    static let longestArrival = Duration.milliseconds(10)

    /// Whether the locked file is still the one at the path; then reads external changes.
    ///
    /// Editors rename a file to a backup and a compaction renames another one over it, so the name decides and not the
    /// number of links.
    mutating func isAtPath(_ handle: Handle) throws(LogError) -> Bool {
        awaitsSave = false
        guard let status = try statusAtPath(), status.identity == handle.identity else {
            current = nil
            return false
        }
        if !isTruncated, position.change(to: (status.identity, status.size)) == .unchanged { return true }
        try catchUp(.all, with: status)
        return current?.file === handle.file && position.identity == handle.identity
    }

    /// Whether the locked file is still the one at the path, after waiting for the end of a line that a program without
    /// the lock is writing.
    ///
    /// Throws `busy` if a program is saving the file in place.
    mutating func isReady(_ handle: Handle) throws(LogError) -> Bool {
        guard try isAtPath(handle) else { return false }
        if awaitsSave {
            // Else this line would stand before those that are being saved, or be overwritten by them.
            guard watch?.isPolled != false else { throw .busy(path: path, waited: .zero) }
            // No event would say that the program has closed the file, so that is all that can be known.
            awaitsSave = false
            try reload()
            return current?.file === handle.file && position.identity == handle.identity
        }
        if position.end == position.offset { return true }
        let deadline = fileSystem.now() + Self.longestArrival
        while position.end > position.offset, fileSystem.now() < deadline {
            fileSystem.sleep(.milliseconds(1))
            guard try isAtPath(handle) else { return false }
        }
        return true
    }

    /// Returns the open file, or opens the one at the path; nil if no file is there.
    mutating func currentHandle() throws(LogError) -> Handle? {
        if let current, current.forks == durable_file_fork_count() { return current }
        current = try open(creating: false)
        return current
    }

    /// Locks a file; throws `busy` if another program has its lock for longer than a set takes.
    func lock(_ file: OpenFile) throws(LogError) {
        // A set in another process takes microseconds, while the shortest sleep on Linux takes 50 µs more than requested
        // (PR_SET_TIMERSLACK).
        for _ in 0..<Self.eagerTries {
            do { if try fileSystem.lock(file) { return } } catch { throw LogError(writing: error) }
        }
        throw .busy(path: path, waited: .zero)
    }

    private static var eagerTries: Int { 20 }

    /// Unlocks a file, by closing it if it can't be unlocked.
    mutating func unlock(_ file: OpenFile) {
        do { try fileSystem.unlock(file) } catch { current = nil }
    }

    /// Appends a line after everything else, also after what other programs append at the same moment.
    private mutating func store(_ line: [UInt8], in file: OpenFile, _ commit: () -> Void) throws(LogError) {
        while true {
            // An unfinished line is ended and not cut off, which would lose a line that is still arriving.
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
                    position.hasEntry = true
                    line.withUnsafeBytes { position.advance(over: $0, lines: 1) }
                    return commit()
                }
                // It was written into the middle of another program's line, so it is written again.
                try readOn(file, to: end)
            } catch {
                guard isWhole, writtenEnd == nil || writtenEnd == expectedEnd else {
                    throw .outcomeUnknown(path: path, cause: error)
                }
                // As far as is known, nothing was written in between, so the line is stored. The position stays before
                // it: the next call reads it again, with what surrounds it.
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

    /// Writes all bytes or none; returns false if bytes of other programs were written between them.
    private mutating func writeAll(_ bytes: [UInt8], to file: OpenFile) throws(LogError) -> Bool {
        var written = 0
        var end: Int64?
        var isWhole = true
        do throws(FileSystemError) {
            while written < bytes.count {
                let count = try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
                    try fileSystem.append(
                        UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[written...])),
                        to: file
                    )
                }
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
            try rollBack(written, of: file, because: error)
        }
    }

    /// Cuts off the beginning of a line that couldn't be written completely.
    private mutating func rollBack(
        _ written: Int,
        of file: OpenFile,
        because error: FileSystemError
    ) throws(LogError) -> Never {
        if cutOff(written, of: file) { throw LogError(writing: error) }
        // An unfinished line remains, which the next writer ends.
        let cause = error
        // Even without its newline the line might be complete, and then it counts.
        do { try catchUp(.all) } catch { throw .outcomeUnknown(path: path, cause: error) }
        throw .outcomeUnknown(path: path, cause: cause)
    }

    /// Removes the bytes that were just written from the end of the file; returns false if bytes of other programs
    /// follow them or that fails.
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

/// The pauses of a call that another program is in the way of. Its time begins with the first one, so a call without any reads no clock.
///
/// The caller has no lock while it pauses, so that no other thread waits, too. The lock of a file (flock) has no timeout, and a signal that
/// ends the wait for it would be the program's.
struct BusyWait {
    private let timeout: Duration
    private var deadline: Duration?
    private var pause = Duration.microseconds(20)

    init(_ timeout: Duration) { self.timeout = timeout }

    /// Returns the time that is left to wait.
    mutating func rest(by now: Duration) -> Duration {
        let deadline = deadline ?? now + timeout
        self.deadline = deadline
        return deadline - now
    }

    /// Pauses after an error `busy`; throws it at the deadline, and other errors at once.
    mutating func pause(after error: LogError, _ fileSystem: any FileSystem) throws(LogError) {
        guard case .busy(let path, _) = error else { throw error }
        let rest = rest(by: fileSystem.now())
        if rest <= .zero { throw .busy(path: path, waited: timeout) }
        fileSystem.sleep(min(pause, rest))
        pause = min(pause * 2, .milliseconds(1))
    }
}

extension FileSystem {
    /// Runs `body` until it doesn't throw `busy`, or until the deadline.
    func whileBusy<Result>(
        _ timeout: Duration,
        _ body: (inout BusyWait) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        var wait = BusyWait(timeout)
        while true {
            do throws(LogError) { return try body(&wait) } catch { try wait.pause(after: error, self) }
        }
    }
}
