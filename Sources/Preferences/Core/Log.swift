internal import CPreferences
internal import Synchronization

/// One file of lines, each a transaction, that several processes append, read and replace. Used within the turn of its source.
///
/// A writer has the file's lock from its look at what others appended until its own line is there. A reader needs no lock: a line
/// counts from its newline on, or as soon as it is complete. A compaction writes a new file and exchanges it, so each writer checks, when it
/// has the lock, that the path still names the file that it has opened.
package final class Log: @unchecked Sendable {  // used within a turn, except what is atomic or constant
    typealias Lines = [[StoredChange]]

    let path: String
    let system: FileSystem
    /// Whether the file is used regardless of its owner.
    private let trustsOwner: Atomic<Bool>
    /// The open file, and its status then, for its identity.
    @exclusivity(unchecked) var file: OpenFile?
    @exclusivity(unchecked) var opened: FileStatus?
    /// The part of the file that was read; nil if it is missing.
    @exclusivity(unchecked) var reading: LogReading?
    /// Whether it was looked at.
    @exclusivity(unchecked) private var isKnown = false
    /// The changes that were read and not returned, as an error came between.
    @exclusivity(unchecked) var pending = ExternalChanges.none
    /// When a known file was first seen in a state that might not last, the state then, and since when it is the same.
    @exclusivity(unchecked) private var saving: (status: FileStatus?, since: Int64, quiet: Int64)?
    private let mayBeWritten = Atomic(true)
    let generation = preferences_generation()

    // Notes of compactions; see there.
    var leastSize: Int64 = 0
    var hasFailed = false
    var hasRemovedDrafts = false

    package init(_ path: String, _ system: FileSystem = .system, trustsOwner: Bool = false) {
        (self.path, self.system) = (path, system)
        self.trustsOwner = Atomic(trustsOwner)
    }

    /// The lines that can't be read.
    package var damage: [PreferenceError] { reading?.damage ?? [] }

    /// Whether the last look found no file.
    var isMissing: Bool { isKnown && reading == nil }

    /// Whether the file must be looked at again a little later.
    var isBeingSaved: Bool { saving != nil }

    /// Whether it is empty just now, as when a program is about to save it in place.
    var isTruncated: Bool { saving.map { $0.status?.size == 0 } ?? false }

    /// Has the next look read the whole file.
    func forget() { (file, opened, reading, isKnown, pending, saving) = (nil, nil, nil, false, .none, nil) }

    var isTrusted: Bool { trustsOwner.load(ordering: .relaxed) }

    /// Uses the file regardless of its owner, from now on.
    func trustOwner() { trustsOwner.store(true, ordering: .relaxed) }

    // MARK: Reading

    /// Returns what is new since the last look; nothing while a program is about to save the file in place.
    package func look() throws(FileSystemError) -> ExternalChanges {
        try look(status(), isChanging: false)
        return exchange(&pending, with: .none)
    }

    /// Counts a last line without its end as one that has it: no program is going to end it.
    package func endLastLine() throws(FileSystemError) {
        guard let file, var reading, reading.isTorn else { return }
        let rest = try bytes(of: file, from: reading.offset, count: Int(reading.status.size - reading.offset))
        try reading.read((rest + [10])[...]) { _ in }
        self.reading = reading
    }

    func status() throws(FileSystemError) -> FileStatus? {
        do { return try system.status(at: path) } catch {
            // Not ENOTDIR: in a file instead of a folder, nothing can be stored.
            if error.isNoEntry { return nil }
            throw error
        }
    }

    /// Adds what is new to `pending`.
    ///
    /// - Parameter isChanging: Whether a line is going to be appended: then a missing file is created again, and only the end of a file that
    ///   has grown is compared, as the next look compares all.
    func look(_ status: FileStatus?, isChanging: Bool) throws(FileSystemError) {
        if let kind = status?.otherKind {
            throw FileSystemError(call: "open", path: path, code: 0, kind: .notAFile(kind))
        }
        if let status {
            if try readAppended(status, isChanging: isChanging) { return saving = nil }
        } else if isMissing {
            return saving = nil
        }
        if isBeingSaved(status, isChanging: isChanging) { return }
        saving = nil
        pending = pending.followed(by: try reload(status))
    }

    /// Adds the lines behind those that were read; returns false if these aren't the same any more.
    private func readAppended(_ status: FileStatus, isChanging: Bool) throws(FileSystemError) -> Bool {
        guard let reading, let file, let opened, opened.isSameFile(as: status), reading.status.isSameFile(as: status)
        else { return false }
        if reading.status == status, isChanging || !reading.isUnverified { return true }
        guard status.size >= reading.offset else { return false }
        let hasGrown = status.size > reading.status.size
        let isWhole = !isChanging || !hasGrown
        let (start, isAll) = reading.compared(isWhole: isWhole)
        let old = try bytes(of: file, from: start, count: Int(reading.offset - start))
        guard reading.isSame(old[...], isWhole: isAll) else { return false }
        // A large file might be changed anywhere.
        if isWhole, !isAll, !hasGrown, status.modified != reading.status.modified { return false }
        var next = reading
        (next.status, next.isUnverified) = (status, !isWhole)
        // A last line without its end might have been cut off and written again with the same length.
        if status.size > reading.offset {
            let new = try bytes(of: file, from: reading.offset, count: Int(status.size - reading.offset))
            var lines: Lines = []
            try next.read(new[...]) { lines.append($0) }
            // What was added to a line that counted already makes it damage.
            if reading.hasUnfinished,
                next.damageCount > reading.damageCount || next.offset == reading.offset && !next.hasUnfinished
            {
                return false
            }
            if !lines.isEmpty { pending = pending.followed(by: .changes(lines)) }
        }
        self.reading = next
        noteForeign()
        return true
    }

    /// Whether the file at the path might not be complete or, if it is missing, not gone: while an editor saves it, the values that were read
    /// before stay. It is read when it was quiet for a moment and ends with a line, and as it stands after a second.
    private func isBeingSaved(_ status: FileStatus?, isChanging: Bool) -> Bool {
        guard let reading else { return false }
        let isOther = status.map { !$0.isSameFile(as: reading.status) } ?? isChanging
        if isOther, status == nil || endsWithLine(status) { return false }
        let now = preferences_now()
        let (since, quiet) = (saving?.since ?? now, saving.map { $0.status == status ? $0.quiet : now } ?? now)
        saving = (status, since, quiet)
        let isQuiet =
            now - quiet >= (status == nil ? 100_000_000 : 50_000_000) && (status == nil || endsWithLine(status))
        return !isQuiet && now - since < 1_000_000_000
    }

    private func endsWithLine(_ status: FileStatus?) -> Bool {
        guard let status, status.size > 0 else { return false }
        do throws(FileSystemError) {
            return try bytes(of: system.open(path, for: .reading), from: status.size - 1, count: 1) == [10]
        } catch { return false }
    }

    /// Reads all of the file at the path.
    func reload(_ status: FileStatus?) throws(FileSystemError) -> ExternalChanges {
        let wasMissing = isMissing
        let rest = restOfOldFile()
        let found = status == nil ? nil : try openingUnlessMissing()
        defer { noteForeign() }
        guard var (file, status) = found else {
            (file, opened, reading, isKnown) = (nil, nil, nil, true)
            return .contents(after: rest, [])
        }
        // A file that was rewritten in place is still the open one.
        if let known = self.file, opened?.isSameFile(as: status) == true { file = known }
        var (next, lines): (LogReading, Lines) = (LogReading(path, status), [])
        for _ in 0..<3 {
            (next, lines) = (LogReading(path, status), [])
            let bytes = try bytes(of: file, from: 0, count: Int(status.size))
            // One that was truncated while it was read might have the beginning of an old and the end of a new text.
            guard bytes.count == status.size else {
                status = try system.status(file)
                continue
            }
            try next.read(bytes[...], joinsChanges: !wasMissing) { lines.append($0) }
            break
        }
        (self.file, opened, reading, isKnown) = (file, status, next, true)
        // What was missing has no past: its lines are transactions.
        return wasMissing ? lines.isEmpty ? .none : .changes(lines) : .contents(after: rest, lines.first ?? [])
    }

    /// Returns the lines that were appended to a file before another one took its place.
    private func restOfOldFile() -> Lines {
        guard let reading, let file, opened?.isSameFile(as: reading.status) == true else { return [] }
        let (start, _) = reading.compared(isWhole: false)
        let known = Int(reading.offset - start)
        var (next, lines): (LogReading, Lines) = (reading, [])
        do throws(FileSystemError) {
            let bytes = try bytes(of: file, from: start, count: Int(max(0, system.status(file).size - start)))
            guard bytes.count > known, reading.isSame(bytes[..<known], isWhole: false) else { return [] }
            try next.read(bytes[known...]) { lines.append($0) }
        } catch {
            // An old file on a network might be gone.
        }
        return lines
    }

    /// The size of a file above which it isn't read.
    private static let largestSize = 1 << 30

    func bytes(of file: OpenFile, from offset: Int64, count: Int) throws(FileSystemError) -> [UInt8] {
        guard count > 0 else { return [] }
        guard count <= Self.largestSize else { throw .tooLarge("read", path) }
        var failure: FileSystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                do throws(FileSystemError) {
                    let rest = UnsafeMutableRawBufferPointer(buffer)[done...]
                    let read = try system.read(
                        file,
                        into: UnsafeMutableRawBufferPointer(rebasing: rest),
                        at: offset + Int64(done)
                    )
                    guard read > 0 else { return }
                    done += read
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    // MARK: Opening

    /// Opens the file at the path, whose owner and folder must be trusted.
    func opening(for purpose: FileSystem.Purpose) throws(FileSystemError) -> (file: OpenFile, status: FileStatus) {
        try checkFolder()
        let file = try system.open(path, for: purpose)
        let status = try system.status(file)
        if let kind = status.otherKind {
            throw FileSystemError(call: "open", path: path, code: 0, kind: .notAFile(kind))
        }
        try checkOwner(status, path)
        return (file, status)
    }

    private func openingUnlessMissing() throws(FileSystemError) -> (file: OpenFile, status: FileStatus)? {
        do { return try opening(for: .reading) } catch {
            if error.isNoEntry { return nil }
            throw error
        }
    }

    /// Whether the owner of the file could choose what a program with more rights reads and writes.
    private var distrustsOwners: Bool { system.isPrivileged && !isTrusted }

    private func checkFolder() throws(FileSystemError) {
        guard distrustsOwners, let folder = try realFolder() else { return }
        try checkOwner(system.status(at: folder), folder)
    }

    /// The folder that has the file, or is going to have it.
    private func realFolder() throws(FileSystemError) -> String? {
        do throws(FileSystemError) {
            // A walk makes a text of each part of the path.
            if try !system.status(at: path, followsLinks: false).isLink { return path.folder }
        } catch {}  // the walk finds the cause, too
        return try PathWalk(path, system).entries.last?.folder
    }

    private func checkOwner(_ status: FileStatus, _ path: String) throws(FileSystemError) {
        guard distrustsOwners, status.owner != 0, status.owner != system.user else { return }
        throw FileSystemError(call: "open", path: path, code: 0, kind: .foreignOwner(status.owner))
    }

    // MARK: Facts, on any thread

    private func noteForeign() {
        let isForeign = reading?.isForeign ?? false
        if mayBeWritten.load(ordering: .relaxed) == isForeign { mayBeWritten.store(!isForeign, ordering: .relaxed) }
    }

    /// Whether a line could be appended now, as far as the system tells without trying.
    var isWritable: Bool {
        guard mayBeWritten.load(ordering: .relaxed) else { return false }
        do throws(FileSystemError) {
            try checkFolder()
            do {
                try checkOwner(system.status(at: path), path)
                return system.isWritable(path)
            } catch { if !error.isNoEntry { return false } }
            // The first folder that is there: the file, or the folder on the way to it, would be created in it.
            return try PathWalk(path, system).entries.last.map { system.isWritable($0.folder, isFolder: true) } ?? false
        } catch { return false }
    }

    /// Returns the number of the line that last set a name; nil if none has, or the file is large.
    func line(of name: String) -> Int? {
        do throws(FileSystemError) {
            let file = try system.open(path, for: .reading)
            let size = try system.status(file).size
            guard size <= 4 << 20 else { return nil }
            return try JSONLine.numbers(in: bytes(of: file, from: 0, count: Int(size)), joinsLines: false)[name]
        } catch { return nil }
    }
}

/// Whether files are used regardless of their owners.
package enum TrustedOwners {
    package static let setting = ProgramSetting(false, "PreferenceStore.trustsOwners")
}

extension ExternalChanges {
    /// Returns both as one.
    func followed(by next: ExternalChanges) -> ExternalChanges {
        switch (self, next) {
        case (_, .none): self
        case (.none, _): next
        case (.changes(let first), .changes(let more)): .changes(first + more)
        case (.changes(let first), .contents(let more, let values)): .contents(after: first + more, values)
        case (.contents(let rest, let lines), .changes(let more)): .contents(after: rest, lines + more.joined())
        case (.contents(let rest, _), .contents(let more, let values)): .contents(after: rest + more, values)
        }
    }
}
