internal import CPreferences

/// Another process had the file's lock for the whole time.
struct LockedTooLong: Error {}

extension Log {
    /// Appends the line that `body` returns for what others have changed, while no other process can.
    ///
    /// No file is created, and none needs to be writable, for no line.
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [UInt8]) throws {
        try withFileLocked(until: deadline) { file in
            let line = try body(exchange(&pending, with: .none))
            if line.isEmpty { return }
            if reading?.isForeign == true { throw PreferenceError.foreignFile(path) }
            try append(line, to: file())
        }
    }

    /// Appends an empty object to a file of another kind, which programs use from then on; does nothing to others.
    package func adopt(until deadline: PreferenceDeadline) throws {
        try withFileLocked(until: deadline) { file in
            if reading?.isForeign == true { try append(Array("{}\n".utf8), to: file()) }
        }
    }

    /// Locks the file that the path names, which is created, and runs `body` with what is new in it in `pending`.
    ///
    /// `body` gets the file, or the error for which it can't be written, which is thrown if it is needed.
    func withFileLocked(until deadline: PreferenceDeadline, _ body: (() throws -> OpenFile) throws -> Void) throws {
        var wait = LockWait(deadline)
        var made: [String] = []
        while true {
            if file?.isWritable != true {
                try look(status(), isChanging: true)
                if isBeingSaved {
                    try wait.pause(system)
                    continue
                }
                do throws(FileSystemError) { made = try openForWriting() } catch {
                    guard error.deniesWriting else { throw error }
                    return try body { throw error }
                }
            }
            guard let file, try lock(file) else {
                try wait.pause(system)
                continue
            }
            if try isReady(file, { try body { file } }, made) { return }
            // Another file is at the path by now, or a program saves it in place.
            try wait.pause(system)
        }
    }

    /// Runs `body` if the locked file is the one at the path, and complete; returns false if not.
    private func isReady(_ file: OpenFile, _ body: () throws -> Void, _ made: [String]) throws -> Bool {
        // The child of a fork in a body has its parent's lock. A compaction leaves another file; and one that isn't at the path any more may
        // stay open, as the file that was synced last.
        defer {
            if generation == preferences_generation() {
                system.unlock(file)
                if let new = self.file, new !== file { system.unlock(new) }
            }
        }
        let status = try status()
        let isAtPath = status.map { opened?.isSameFile(as: $0) == true } ?? false
        try look(status, isChanging: true)
        guard isAtPath, !isBeingSaved else { return false }
        defer { removeUnused(made) }
        try body()
        return true
    }

    /// Takes the file's lock; returns false if another process has it, or the file has to be opened again.
    private func lock(_ file: OpenFile) throws(FileSystemError) -> Bool {
        do { return try system.lock(file) } catch {
            guard error.isStale else { throw error }
            self.file = nil
            return false
        }
    }

    /// Opens or creates the file; returns what it has created, the file last.
    private func openForWriting() throws(FileSystemError) -> [String] {
        let isMissing = isMissing
        var made: [String] = []
        let (file, status): (OpenFile, FileStatus)
        do { (file, status) = try opening(for: .creating) } catch {
            guard error.isNoEntry else { throw error }
            made = try system.makeFolders(to: path)
            (file, status) = try opening(for: .creating)
        }
        (self.file, opened) = (file, status)
        guard isMissing, status.size == 0 else { return [] }
        do throws(FileSystemError) {
            if try system.status(at: PathWalk(path, system).real.folder).sharesGroup {
                try system.setMode(0o660, of: file)
            }
        } catch {
            // Another user has created it, and chosen its mode.
            if !error.deniesWriting { throw error }
        }
        return made + [path]
    }

    /// Removes a file that was created, and its folders, if nothing was written; call with its lock.
    private func removeUnused(_ made: [String]) {
        guard !made.isEmpty, let file else { return }
        do throws(FileSystemError) {
            guard try system.status(file).size == 0 else { return }
        } catch { return }
        for path in made.reversed() { system.discard(path) }
    }

    // MARK: Appending

    /// Appends a line after everything else.
    private func append(_ line: [UInt8], to file: OpenFile) throws {
        guard let reading else { return }
        let needsNewline = reading.needsNewline
        let bytes = needsNewline ? [10] + line : line
        let end = reading.status.size + Int64(bytes.count)
        try write(bytes, to: file, at: reading.status.size)
        // From here on, the line is stored.
        do throws(FileSystemError) {
            let status = try system.status(file)
            if !needsNewline, status.size == end {
                self.reading?.note(line, status)
                return
            }
            // The end of the line before, or what others have appended without the lock at this moment, is read first; and this line again.
            let position = try system.position(file)
            try look(status, isChanging: true)
            let start = position - Int64(line.count)
            if start == 0 { return }
            if try self.bytes(of: file, from: start - 1, count: 1) == [10] { return }
        } catch {
            // The next look reads it.
            return
        }
        // It was written into the middle of a line.
        try append(line, to: file)
    }

    /// Writes all bytes or none.
    private func write(_ bytes: [UInt8], to file: OpenFile, at size: Int64) throws {
        // Without this, the kernel would end the process (SIGXFSZ).
        if size + Int64(bytes.count) > system.sizeLimit { throw FileSystemError.tooLarge("write", path) }
        var done = 0
        guard let failure = write(bytes, to: file, &done) else { return }
        if failure.isStale { self.file = nil }
        if done == 0 || cutOff(done, from: size, of: file) { throw failure }
        // A part of the line stays, which the next line ends, and which counts if it is complete.
        throw PreferenceError(
            .outcomeUnknown,
            "writing \(path) failed, and it is unknown whether the change is stored; read the value again",
            cause: failure
        )
    }

    private func write(_ bytes: [UInt8], to file: OpenFile, _ done: inout Int) -> FileSystemError? {
        do throws(FileSystemError) {
            while done < bytes.count {
                let count = try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
                    try system.append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[done...])), to: file)
                }
                if count == 0 { throw FileSystemError.noSpace("write", path) }
                done += count
            }
            return nil
        } catch { return error }
    }

    /// Removes the beginning of a line from the end of a file; returns false if others have written behind it, or that fails.
    private func cutOff(_ count: Int, from size: Int64, of file: OpenFile) -> Bool {
        do throws(FileSystemError) {
            guard try system.status(file).size == size + Int64(count) else { return false }
            try system.truncate(file, to: size)
            return true
        } catch { return false }
    }

    /// Writes all bytes to a new file.
    func writeAll(_ bytes: [UInt8], to file: OpenFile) throws {
        if !bytes.isEmpty { try write(bytes, to: file, at: system.status(file).size) }
    }
}

/// The pauses of a call that another program is in the way of; its time begins with the first.
struct LockWait {
    private var deadline: PreferenceDeadline
    private var pause: Int64 = 50_000

    init(_ deadline: PreferenceDeadline) { self.deadline = deadline }

    mutating func pause(_ system: FileSystem) throws {
        let rest = deadline.start().rest
        guard rest != 0 else { throw deadline.isNow ? PreferenceDeadline.WouldWait() as any Error : LockedTooLong() }
        system.sleep(nanoseconds: rest < 0 ? pause : min(rest, pause))
        pause = min(pause * 2, 10_000_000)
    }
}

extension PreferenceError {
    static func foreignFile(_ path: String) -> PreferenceError {
        PreferenceError(
            .unknownFormat,
            "\(path) isn't a preferences file, because no line of it is an object of names and values; nothing was changed. Correct the "
                + "path, or move the file away. To keep preferences in it all the same, append the line {} to it"
        )
    }
}
