internal import CPreferences

extension Log {
    /// The size from which a compaction doesn't wait until the file is idle.
    private static let largeSize: Int64 = 65_536

    /// Whether a compaction is worth its costs: at once for a large file, else when it is idle.
    func isDue(names: Int, isIdle: Bool) -> Bool {
        guard let reading, !reading.isForeign, !reading.isTorn, reading.status.size >= leastSize else { return false }
        let outdated = reading.outdated(names)
        return reading.status.size > Self.largeSize && outdated > names || isIdle && outdated > max(names, 15)
    }

    /// Writes each name's value in the line of its first one, with comments, damaged lines and unknown names as they are, into a new file,
    /// which then takes the place of this one. `publish` gets what others have changed.
    ///
    /// - Parameter isRequested: Whether a person wants it: then an object over several lines is written as lines, a last line without an end
    ///   is ended, and each failure is thrown.
    /// - Throws: `LockedTooLong`; `unavailable`, once for a file, if that isn't possible and the file is large: it is then only appended to.
    package func compact(
        until deadline: PreferenceDeadline,
        isRequested: Bool = false,
        _ publish: (ExternalChanges) -> Void
    ) throws {
        do {
            try withFileLocked(until: deadline) { file in
                publish(exchange(&pending, with: .none))
                let file = try file()
                guard let reading, isRequested || !reading.isForeign && !reading.isTorn else { return }
                try replace(file, joinsLines: isRequested, publish)
                (leastSize, hasFailed) = (0, false)
            }
        } catch let error as FileSystemError {
            try noteFailure(error, isRequested)
        }
    }

    private func noteFailure(_ error: FileSystemError, _ isRequested: Bool) throws {
        let size = reading?.status.size ?? 0
        leastSize = size + Self.largeSize
        // The new file might not have been removed.
        hasRemovedDrafts = false
        guard error.deniesReplacing, isRequested || size > Self.largeSize && !hasFailed else {
            if isRequested { throw error }
            return
        }
        hasFailed = true
        throw PreferenceError(
            .unavailable,
            "\(path) can't be compacted, so it keeps growing and has \(size) bytes; all values are stored. Mount its folder instead of the "
                + "file, remove its other names, or let this user write to the folder and own the file",
            cause: error
        )
    }

    /// Replaces the locked file, which was read to its end.
    private func replace(_ old: OpenFile, joinsLines: Bool, _ publish: (ExternalChanges) -> Void) throws {
        guard let reading else { return }
        let bytes = try bytes(of: old, from: 0, count: Int(reading.status.size))
        let lines = try CompactedLines(bytes, joinsLines: joinsLines)
        if reading.isForeign, !lines.haveNames { throw PreferenceError.foreignFile(path) }
        let target = try PathWalk(path, system).real
        if try system.hasOtherNames(target) { throw FileSystemError.inUse("rename", path) }
        let (draft, new) = try openDraft(of: target)
        // After an exchange it is the old file.
        defer { system.discard(draft) }
        try system.copyAccess(from: old, reading.status, to: new)
        try writeAll(lines.text(), to: new)
        try system.sync(new)
        guard try put(draft, at: target, insteadOf: old) else { return }
        let isLate = try carryOver(from: old, to: new)
        let status = try system.status(new)
        (file, opened) = (new, status)
        let contents = try reload(status)
        // Without late lines, all was published before.
        if isLate { publish(contents) }
        try system.sync(system.open(target.folder, for: .folder))
    }

    /// Opens a new file beside the one whose place it will take.
    func openDraft(of target: String) throws(FileSystemError) -> (path: String, file: OpenFile) {
        let draft = target.folder.entry(
            ".\(target.lastComponent).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
        )
        let new = try system.open(draft, for: .replacing, named: path)
        do {
            // Until its process ends: the draft of a dead one is free.
            _ = try system.lock(new)
            return (draft, new)
        } catch {
            system.discard(draft)
            throw error
        }
    }

    /// Gives the new file the name of the old one; returns false if another program has replaced or changed that one.
    private func put(_ draft: String, at target: String, insteadOf old: OpenFile) throws -> Bool {
        guard let reading else { return false }
        func isUnchanged() throws(FileSystemError) -> Bool {
            let status = try system.status(old)
            return status.modified == reading.status.modified && status.size == reading.status.size
                || status.size > reading.status.size
        }
        guard try isUnchanged(), try system.exchange(draft, with: target) else {
            guard try isUnchanged(), try status().map({ $0.isSameFile(as: reading.status) }) == true else {
                return false
            }
            try system.rename(draft, to: target)
            return true
        }
        if try system.status(at: draft).isSameFile(as: reading.status), try isUnchanged() { return true }
        _ = try system.exchange(draft, with: target)
        return false
    }

    /// Copies what was appended to the old file without the lock; returns whether there was anything.
    private func carryOver(from old: OpenFile, to new: OpenFile) throws -> Bool {
        guard let reading else { return false }
        let count = try system.status(old).size - reading.status.size
        guard count > 0 else { return false }
        try writeAll(bytes(of: old, from: reading.status.size, count: Int(count)), to: new)
        return true
    }

    /// Removes the new files of processes that died, once: one that runs has the lock of its file.
    func removeDrafts() {
        guard !hasRemovedDrafts else { return }
        hasRemovedDrafts = true
        do throws(FileSystemError) {
            let target = try PathWalk(path, system).real
            for name in try system.names(inFolder: target.folder)
            where name.hasPrefix(".\(target.lastComponent).") && name.hasSuffix(".new") {
                let draft = try system.open(target.folder.entry(name), for: .reading)
                if try system.lock(draft) { system.discard(draft.path) }
            }
        } catch {
            // They stay for the next program.
        }
    }
}

/// The lines of a file without the values that later lines override, in the order in which the names first appear.
package struct CompactedLines {
    private enum Item {
        case name(String)
        /// A comment, a part of a newer version, or a line that can't be read.
        case text([UInt8])
        /// One or more empty lines.
        case space
    }

    private struct Value {
        /// The line of the value alone; empty if the name is removed.
        var line: [UInt8]
        /// Whether the name had other values, which the file no longer contains.
        var isOverridden: Bool
    }

    private var items: [Item] = []
    private var values: [String: Value] = [:]
    private var unknown: Set<String> = []
    private var isAfterSpace = false

    /// Whether a line sets a name.
    var haveNames: Bool { !values.isEmpty }

    /// Creates the lines of a file from its text.
    ///
    /// - Parameter joinsLines: Whether an object may extend over several lines.
    init(_ bytes: [UInt8], joinsLines: Bool = false) throws(PreferenceError) {
        var failure: PreferenceError?
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                let joined = joinsLines ? LogReading.joined(rest, isFirst: start == 0) : nil
                let end = start + (joined ?? rest.firstNewline ?? rest.count)
                do throws(PreferenceError) {
                    try read(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isFirst: start == 0)
                } catch { failure = failure ?? error }
                start = end + 1
            }
        }
        if let failure { throw failure }
    }

    private mutating func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) throws(PreferenceError) {
        if line.allSatisfy({ $0 == 13 }) { return isAfterSpace = true }
        let isMarked = Self.isMarked(line)
        var scanner = JSONScanner(line)
        var step = scanner.next()
        while case .entry = step { step = scanner.next() }
        if step == .end {
            scanner = JSONScanner(line)
            while case .entry(let name, let value) = scanner.next() {
                // Byte by byte: another program might write a number or a text otherwise.
                var text: [UInt8] = []
                if !value.isEmpty { text = [123, 34] + line[name] + [34, 58] + line[value] + [125, 10] }
                add(String(decoding: line[name], as: UTF8.self), text, isMarked)
            }
            return
        }
        var entries: [(String, PropertyListValue?)] = []
        var remarks: [JSONLine.Remark] = []
        do throws(JSONLineError) {
            try JSONLine.read(line, isFirst: isFirst) {
                entries.append(($0, $1))
            } remark: {
                remarks.append($0)
            }
        } catch { return add(.text(Array(line) + [10])) }
        for remark in remarks {
            switch remark {
            case .comment(let comment):
                var text: [UInt8] = []
                try JSONLine.write(comment: comment, to: &text)
                add(.text(text))
            case .unknown(let text):
                // In an object over several lines, it might have some; a string has none.
                let line = "{\(text)}".utf8.map { $0 == 10 ? 32 : $0 } + [10]
                if unknown.insert(text).inserted { add(.text(line)) }
            }
        }
        for (name, value) in entries {
            var text: [UInt8] = []
            if let value { try JSONLine.write(name: name, value: value, to: &text) }
            add(name, text, isMarked)
        }
    }

    private mutating func add(_ name: String, _ line: [UInt8], _ isMarked: Bool) {
        guard let old = values[name] else {
            values[name] = Value(line: line, isOverridden: isMarked)
            return add(.name(name))
        }
        values[name] = Value(line: line, isOverridden: old.isOverridden || isMarked || old.line != line)
    }

    private mutating func add(_ item: Item) {
        if isAfterSpace, !items.isEmpty { items.append(.space) }
        isAfterSpace = false
        items.append(item)
    }

    func text() -> [UInt8] {
        var bytes: [UInt8] = []
        var isAfterSpace = false
        for item in items {
            var text: [UInt8] = []
            switch item {
            case .space: isAfterSpace = true
            case .text(let line): text = line
            case .name(let name):
                guard let value = values[name] else { continue }
                text = value.line
                if value.isOverridden, !text.isEmpty, text.count < JSONLine.maximumLength {
                    text.insert(32, at: text.count - 2)
                }
            }
            if text.isEmpty { continue }
            if isAfterSpace, !bytes.isEmpty { bytes.append(10) }
            isAfterSpace = false
            bytes += text
        }
        return bytes
    }

    /// Whether a line's name had other values when the file was compacted: then a space is before the brace.
    package static func isMarked(_ line: UnsafeRawBufferPointer) -> Bool {
        // A person who writes a space there usually writes one after the brace, too.
        line.count > 3 && line[1] == UInt8(ascii: "\"") && line[line.count - 3] != UInt8(ascii: " ")
            && line[line.count - 2] == UInt8(ascii: " ") && line[line.count - 1] == UInt8(ascii: "}")
    }
}
