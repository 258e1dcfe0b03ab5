#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import CPreferences

/// One file of lines, each a transaction, that several processes append, read and replace. Used within the turn of its source.
///
/// A writer has the file's lock from its look at what others appended until its own line is there. A reader needs no lock: a line
/// counts from its newline on, or as soon as it is complete. A compaction writes a new file and renames it, so each writer checks, when it
/// has the lock, that the path still names the file that it has opened.
final class Log: @unchecked Sendable {  // used within a turn, except `file` by `sync`
    typealias Lines = [[StoredChange]]

    let path: String
    private let system: FileSystem
    private var file: OpenFile?
    /// The status of that file when it was opened, for its identity.
    private var opened: FileStatus?
    private var seen = Seen.nothing
    /// The lines that can't be read, by number, since the file was read whole.
    private(set) var damage: [PreferenceError] = []
    /// The newest format among the lines, if it is too new to write.
    private var formatError: PreferenceError?
    /// The lines and names since the file was read whole; a compaction depends on them.
    private var lineCount = 0
    private var isCompactable = true
    private let generation = preferences_generation()

    private enum Seen {
        case nothing
        case missing
        case file(Position)
    }

    /// How far the file was read.
    private struct Position {
        var status: FileStatus
        var offset: Int64
        /// The last bytes before the offset, which tell whether the file was rewritten in place.
        var tail: [UInt8]
        var isTerminated: Bool
    }

    init(_ path: String, _ system: FileSystem = .system) { (self.path, self.system) = (path, system) }

    // MARK: Reading

    /// Returns what is new since the last look.
    func look() throws(FileSystemError) -> ExternalChanges { try look(status()) }

    /// Whether the last look found no file.
    var isMissing: Bool { if case .missing = seen { true } else { false } }

    private func status() throws(FileSystemError) -> FileStatus? {
        do { return try system.status(at: path) } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    private func look(_ status: FileStatus?) throws(FileSystemError) -> ExternalChanges {
        guard let status else {
            if case .missing = seen { return .none }
            let rest = try restOfOldFile()
            (file, opened, seen) = (nil, nil, .missing)
            forget()
            return .contents(after: rest, [])
        }
        if case .file(let position) = seen {
            if position.status == status { return .none }
            if position.status.isSameFile(as: status), let lines = try append(since: position, status) {
                return lines.isEmpty ? .none : .changes(lines)
            }
        }
        if isBeingSaved(status) { return .none }
        let rest = try restOfOldFile()
        // If it was rewritten in place, the open file is still the one.
        if opened.map(status.isSameFile) != true { try open(for: .reading) }
        guard let opened else { return .none }
        forget()
        let wasMissing = if case .missing = seen { true } else { false }
        seen = .nothing
        guard opened.isRegular else { throw FileSystemError(call: "open", path: path, code: opened.isFolder ? EISDIR : EINVAL) }
        seen = .file(Position(status: opened, offset: 0, tail: [], isTerminated: true))
        if wasMissing {
            let lines = try readOn()
            return lines.isEmpty ? .none : .changes(lines)
        }
        var all: [StoredChange] = []
        try readOn(joinsLines: true) { all = $0 }
        return .contents(after: rest, all)
    }

    // MARK: Files that are saved in place

    /// When a file was first seen half saved, and its status then.
    private var saving: (status: FileStatus, since: Int64, quiet: Int64)?
    /// Whether the file must be looked at again a little later.
    var isUnsettled: Bool { saving != nil }

    /// Whether a known file was changed in place a moment ago: while an editor writes it, the values that were read before stay. It is read when
    /// it was quiet for 50 ms and ends with a line, and as it stands after a second.
    private func isBeingSaved(_ status: FileStatus) -> Bool {
        guard case .file(let position) = seen, position.status.isSameFile(as: status) else {
            saving = nil
            return false
        }
        let now = preferences_now()
        guard let saving, saving.status == status else {
            saving = (status, saving?.since ?? now, now)
            return now - (saving?.since ?? now) < 1_000_000_000
        }
        if now - saving.since < 1_000_000_000, now - saving.quiet < 50_000_000 || status.size == 0 || !endsWithLine(status) { return true }
        self.saving = nil
        return false
    }

    private func endsWithLine(_ status: FileStatus) -> Bool {
        do throws(FileSystemError) {
            let file = try system.open(path, for: .reading)
            return try bytes(of: file, from: status.size - 1, count: 1).first == UInt8(ascii: "\n")
        } catch { return false }
    }

    private func forget() {
        damage = []
        formatError = nil
        lineCount = 0
    }

    /// Returns the lines after a position; nil if the file was rewritten in place.
    private func append(since position: Position, _ status: FileStatus) throws(FileSystemError) -> Lines? {
        guard status.size > position.offset, let file else { return nil }
        let tail = try bytes(of: file, from: position.offset - Int64(position.tail.count), count: position.tail.count)
        guard tail == position.tail else { return nil }
        return try readOn()
    }

    /// Returns the lines that were appended to a file before another one took its place.
    private func restOfOldFile() throws(FileSystemError) -> Lines {
        guard let file, let opened, case .file(let position) = seen, opened.isSameFile(as: position.status) else { return [] }
        let status = try system.status(file)
        return status.size > position.offset ? try append(since: position, status) ?? [] : []
    }

    private func readOn() throws(FileSystemError) -> Lines {
        var lines: Lines = []
        try readOn { lines.append($0) }
        return lines
    }

    /// Reads the lines from the position on and moves it behind them.
    private func readOn(joinsLines: Bool = false, _ body: ([StoredChange]) -> Void) throws(FileSystemError) {
        guard let file, case .file(var position) = seen else { return }
        position.status = try system.status(file)
        let bytes = try bytes(of: file, from: position.offset, count: Int(position.status.size - position.offset))
        let used = bytes.withUnsafeBytes { bytes in
            var start = 0
            var changes: [StoredChange] = []
            if joinsLines { changes.reserveCapacity(bytes.count / 16) }
            while start < bytes.count {
                let end = memchr(bytes.baseAddress! + start, 10, bytes.count - start).map { UnsafeRawPointer($0) - bytes.baseAddress! }
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<(end ?? bytes.count)])
                // One without an end counts if it is complete; else it is being written.
                guard read(line, isLast: end == nil, isFirst: position.offset == 0 && start == 0, into: &changes) else { break }
                start = (end ?? bytes.count - 1) + 1
                if joinsLines || changes.isEmpty { continue }
                body(changes)
                changes.removeAll(keepingCapacity: true)
            }
            if joinsLines { body(changes) }
            return start
        }
        if used > 0 {
            position.offset += Int64(used)
            position.tail = Array((position.tail + bytes[..<used]).suffix(256))
            position.isTerminated = position.tail.last == UInt8(ascii: "\n")
        }
        seen = .file(position)
    }

    /// Reads a line; returns false if it is the last one and unfinished.
    private func read(_ line: UnsafeRawBufferPointer, isLast: Bool, isFirst: Bool, into changes: inout [StoredChange]) -> Bool {
        if let change = Self.plainChange(line) {
            changes.append(change)
            lineCount += 1
            return true
        }
        do throws(JSONLineError) {
            try JSONLine.read(line, isFirst: isFirst) { name, value in changes.append(StoredChange(name, value)) }
        } catch {
            guard !isLast || error.kind == .unknownFormat else { return false }
            let isNewer = error.kind == .unknownFormat
            let message = "\(path), line \(lineCount + 1): \(error); it is skipped and kept"
            let problem = PreferenceError(isNewer ? .unknownFormat : .damaged, isNewer ? "\(path): \(error)" : message)
            if isNewer { formatError = problem }
            damage.append(problem)
        }
        lineCount += 1
        return true
    }

    /// Returns the change of a line such as `{"name":12}`, as most are; nil for all others.
    private static func plainChange(_ line: UnsafeRawBufferPointer) -> StoredChange? {
        guard line.count >= 7, line[0] == UInt8(ascii: "{"), line[1] == UInt8(ascii: "\""), line[2] != UInt8(ascii: "$") else { return nil }
        let end = line.firstIndexNotPlain(from: 2)
        guard end > 2, end + 3 < line.count, end < 200, line[end] == UInt8(ascii: "\""), line[end + 1] == UInt8(ascii: ":") else { return nil }
        var index = end + 2
        let isNegative = line[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let first = index
        var number: Int64 = 0
        while index < line.count, line[index] >= 48, line[index] < 58 {
            number = number &* 10 &+ Int64(line[index] &- 48)
            index += 1
        }
        // Neither a leading zero nor "-0", and no overflow.
        guard index == line.count - 1, line[index] == UInt8(ascii: "}"), 1...18 ~= index - first,
            line[first] != 48 || index == first + 1 && !isNegative
        else { return nil }
        let name = String(decoding: UnsafeRawBufferPointer(rebasing: line[2..<end]), as: UTF8.self)
        return StoredChange(name, .integer(isNegative ? -number : number))
    }

    private func bytes(of file: OpenFile, from offset: Int64, count: Int) throws(FileSystemError) -> [UInt8] {
        guard count > 0 else { return [] }
        var failure: FileSystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                do throws(FileSystemError) {
                    let rest = UnsafeMutableRawBufferPointer(buffer)[done...]
                    let read = try system.read(file, into: UnsafeMutableRawBufferPointer(rebasing: rest), at: offset + Int64(done))
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

    // MARK: Writing

    /// Appends the bytes that `body` returns for what others have changed, while no other process can.
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [UInt8]) throws {
        try withFileLocked(until: deadline) { file, update in
            if let formatError { throw formatError }
            var bytes = try body(update)
            guard !bytes.isEmpty, case .file(var position) = seen else { return }
            // A line without an end is ended; if it isn't complete, a program died while it wrote it.
            let torn = position.status.size > position.offset
            if torn || !position.isTerminated { bytes.insert(UInt8(ascii: "\n"), at: 0) }
            try append(bytes, to: file, at: position.status.size)
            if torn {
                _ = try readOn()
                return
            }
            let status = try system.status(file)
            // If somebody appended without the lock, the next look reads both lines.
            guard status.size == position.status.size + Int64(bytes.count) else { return }
            lineCount += 1
            position.offset += Int64(bytes.count)
            seen = .nothing  // so that the tail isn't copied
            position.tail += bytes
            if position.tail.count > 1_024 { position.tail = Array(position.tail.suffix(256)) }
            position.isTerminated = true
            position.status = status
            seen = .file(position)
        }
    }

    private func append(_ bytes: [UInt8], to file: OpenFile, at size: Int64) throws(FileSystemError) {
        var failure: FileSystemError?
        bytes.withUnsafeBytes { bytes in
            var done = 0
            do throws(FileSystemError) {
                while done < bytes.count { done += try system.append(UnsafeRawBufferPointer(rebasing: bytes[done...]), to: file) }
            } catch { failure = error }
        }
        guard let failure else { return }
        // No part of it stays; if that fails, too, the part is a damaged line.
        do throws(FileSystemError) { try system.truncate(file, to: size) } catch {}
        throw failure
    }

    /// Locks the file that the path names, which it creates, and passes it with what is new in it.
    private func withFileLocked(until deadline: PreferenceDeadline, _ body: (OpenFile, ExternalChanges) throws -> Void) throws {
        var (pause, deadline): (Int64, PreferenceDeadline) = (50_000, deadline)
        var update = ExternalChanges.none
        while true {
            if file?.isWritable != true {
                update = update.followed(by: try look())
                try openForWriting()
            }
            guard let file, let opened else { return }
            guard try system.lock(file) else {
                let rest = deadline.start().rest
                guard rest != 0 else { throw deadline.isNow ? PreferenceDeadline.WouldWait() as any Error : LockedTooLong() }
                system.sleep(nanoseconds: rest < 0 ? pause : min(rest, pause))
                pause = min(pause * 2, 10_000_000)
                continue
            }
            // The child of a fork in a body has its parent's lock.
            defer { if generation == preferences_generation() { system.unlock(file) } }
            let status = try status()
            if let status, opened.isSameFile(as: status) {
                update = update.followed(by: try look(status))
                return try body(file, update)
            }
            // Another file is at the path by now.
            update = update.followed(by: try look(status))
        }
    }

    private func open(for purpose: FileSystem.Purpose) throws(FileSystemError) {
        let new = try system.open(path, for: purpose)
        (file, opened) = (new, try system.status(new))
    }

    private func openForWriting() throws(FileSystemError) {
        do { try open(for: .creating) } catch {
            guard error.code == ENOENT else { throw error }
            try makeFolders(to: path)
            try open(for: .creating)
        }
    }

    private func makeFolders(to path: String) throws(FileSystemError) {
        let folder = path.folder
        guard folder != path else { return }
        do { try system.makeFolder(folder) } catch {
            if error.code == EEXIST { return }
            guard error.code == ENOENT else { throw error }
            try makeFolders(to: folder)
            do { try system.makeFolder(folder) } catch { if error.code != EEXIST { throw error } }
        }
    }

    /// The file to sync; call within the turn, and sync it without.
    var fileToSync: OpenFile? { file?.isWritable == true ? file : nil }

    // MARK: Compaction

    /// Whether a compaction is worth its costs: at once for a large file, else when nobody writes.
    func isDue(names: Int, isIdle: Bool) -> Bool {
        guard isCompactable, case .file(let position) = seen, damage.count < lineCount else { return false }
        let outdated = lineCount - names - damage.count
        return position.status.size > 65_536 && outdated > names || isIdle && outdated > max(names, 15)
    }

    /// Writes each name's value in the line of its first one, with comments, damaged lines and unknown names as they are, into a new file,
    /// which then takes the place of this one. `publish` gets what others have changed before.
    func compact(until deadline: PreferenceDeadline, _ publish: (ExternalChanges) -> Void) throws {
        var newFile: OpenFile?
        try withFileLocked(until: deadline) { file, update in
            publish(update)
            guard let formatError else {
                guard case .file(let position) = seen, position.status.links == 1 else { return isCompactable = false }
                let target = system.realPath(path) ?? path
                let temporary = target.folder + "/." + target.lastComponent + ".new"
                do throws(FileSystemError) { try system.remove(temporary) } catch {}  // of a program that died
                let new = try system.open(temporary, for: .replacing)
                do {
                    try system.copyAccess(of: position.status, to: new)
                    try append(rewritten(bytes(of: file, from: 0, count: Int(position.status.size))), to: new, at: 0)
                    try system.sync(new)
                    guard try system.lock(new) else { return }
                    try system.rename(temporary, to: target)
                    // Of those that append without the lock.
                    let late = try system.status(file).size - position.status.size
                    if late > 0 { try append(bytes(of: file, from: position.status.size, count: Int(late)), to: new, at: system.status(new).size) }
                } catch {
                    do throws(FileSystemError) { try system.remove(temporary) } catch {}
                    // A file that is mounted by itself can't be replaced.
                    if (error as? FileSystemError)?.code == EBUSY { return isCompactable = false }
                    throw error
                }
                newFile = new
                let status = try system.status(new)
                (self.file, opened, seen) = (new, status, .file(Position(status: status, offset: 0, tail: [], isTerminated: true)))
                forget()
                _ = try readOn()
                try system.sync(system.open(target.folder, for: .folder))
                return
            }
            throw formatError
        }
        if let newFile { system.unlock(newFile) }
    }

    /// Returns the lines of a file with the newest values.
    private func rewritten(_ bytes: [UInt8]) throws -> [UInt8] {
        var values: [String: PropertyListValue] = [:]
        var lines: [(names: [String], remarks: [JSONLine.Remark], damaged: ArraySlice<UInt8>?)] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            var names: [String] = []
            var remarks: [JSONLine.Remark] = []
            do throws(JSONLineError) {
                let isFirst = lines.isEmpty
                func read(_ bytes: UnsafeRawBufferPointer) throws(JSONLineError) {
                    try JSONLine.read(bytes, isFirst: isFirst) { name, value in
                        // Only the first line of a name stays.
                        if values[name] == nil { names.append(name) }
                        values[name] = value
                    } remark: { remarks.append($0) }
                }
                try line.withUnsafeBytes { bytes in Result { () throws(JSONLineError) in try read(bytes) } }.get()
                lines.append((names, remarks, nil))
            } catch { lines.append(([], [], line)) }
        }
        var result: [UInt8] = []
        for (names, remarks, damaged) in lines {
            if let damaged { result += damaged + [UInt8(ascii: "\n")] }
            for remark in remarks {
                switch remark {
                case .comment(let text): try JSONLine.write(comment: text, to: &result)
                case .unknown(let text): result += Array("{\(text)}\n".utf8)  // of a newer version
                }
            }
            for name in names {
                // A name that was removed and set again has several first lines; the value goes into the earliest.
                if let value = values.removeValue(forKey: name) { try JSONLine.write(name: name, value: value, to: &result) }
            }
        }
        return result
    }

    // MARK: Watching

    /// The folders in which a change may concern the path, with the names there: those of its links, and the nearest that exists.
    func places() -> [(folder: String, name: String?)] {
        var places: [(folder: String, name: String?)] = []
        var path = path
        for _ in 0..<32 {
            var (folder, name) = (path.folder, path.lastComponent)
            while true {
                do throws(FileSystemError) {
                    if try system.status(at: folder).isFolder { break }
                } catch {}
                guard folder != "/" && folder != "." else { break }
                (folder, name) = (folder.folder, folder.lastComponent)
            }
            places.append((folder, name))
            do throws(FileSystemError) {
                guard try system.status(at: path, followsLinks: false).isLink else { break }
                let target = try system.target(ofLinkAt: path)
                path = target.hasPrefix("/") ? target : path.folder + "/" + target
            } catch { break }
        }
        return places
    }

    var isWritable: Bool {
        if system.isWritable(path) { return true }
        do throws(FileSystemError) {
            _ = try system.status(at: path)
            return false
        } catch { return places().last.map { system.isWritable($0.folder) } ?? false }
    }
}

/// Another process had the file's lock for the whole time.
struct LockedTooLong: Error {}

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

extension String {
    var folder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    var lastComponent: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }
}
