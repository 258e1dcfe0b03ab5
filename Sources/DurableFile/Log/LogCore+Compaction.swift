extension LogCore {
    /// Returns a copy of the contents to make a new file of; nil if there is no file, or it can only be read.
    mutating func compaction(isRequested: Bool = false) throws(LogError) -> Compaction? {
        beginWriting()
        guard let current, current.isWritable, current.identity == position.identity else { return nil }
        if position.isForeign { throw .foreign(path: path) }
        do {
            let target = try LogPath(path: path).resolved(fileSystem)
            return Compaction(
                contents: contents.copy(),
                source: position,
                old: current.file,
                target: target,
                fileSystem: fileSystem,
                isRequested: isRequested
            )
        } catch { throw .failed(error) }
    }

    /// Puts a new file in the place of the old one, with everything that was added to the old one since.
    ///
    /// Returns nil if another file is at the path by now. If it returns nil or throws, the files that were made for it
    /// are removed; but if it throws `busy`, as it doesn't wait for another program, the draft can be used again.
    mutating func install(
        _ compaction: Compaction,
        _ draft: Compaction.Draft
    ) throws(LogError) -> LateLines? {
        var (compaction, draft) = (compaction, draft)
        var damagedCopy: String?
        var (isLocked, isKept) = (false, false)
        defer {
            if !isKept {
                fileSystem.discard(draft.file.path)
                if let damagedCopy { fileSystem.discard(damagedCopy) }
            }
        }
        guard let old = try currentHandle(), old.file === compaction.old else { return nil }
        defer { if isLocked { unlock(old.file) } }
        let isReady: Bool
        do throws(LogError) {
            try lock(old.file)
            isLocked = true
            isReady = try self.isReady(old)
        } catch {
            if case .busy = error { isKept = true }
            throw error
        }
        guard isReady, current?.file === old.file, try isTarget(compaction.target) else { return nil }

        let reader = reader(of: old.file)
        guard try refresh(&compaction, &draft, reader) else { return nil }
        if compaction.source.damaged > 0 { damagedCopy = try compaction.keepDamaged(reader) }
        guard var lateLines = try replace(old, by: &draft, of: compaction, reader) else { return nil }
        isKept = true
        if damagedCopy != nil { compaction.removeOldCopies() }
        // Programs that don't use the lock might have appended to the old file before it lost its name. If this fails,
        // it is tried again with what they append later.
        do { try lateLines.carryOverRest(reader, to: draft.file) } catch {}
        lateLines.damagedCopy = damagedCopy
        lateLines.failure = adopt(draft, of: compaction, insteadOf: old)
        lateLines.endWriting(fileSystem)
        return lateLines
    }

    /// Copies the contents again if the bytes that were copied have been overwritten since; returns false if there is
    /// no longer anything to copy.
    private mutating func refresh(
        _ compaction: inout Compaction,
        _ draft: inout Compaction.Draft,
        _ reader: LogReader
    ) throws(LogError) -> Bool {
        if try reader.isUnchanged(compaction.source, whole: true) { return true }
        fileSystem.discard(draft.file.path)
        try reload()
        guard let newCompaction = try self.compaction(isRequested: compaction.isRequested) else { return false }
        compaction = newCompaction
        draft = try compaction.draft()
        return true
    }

    /// Adds to the new file what was added to the old one since it was copied, and gives it the old one's name.
    ///
    /// Returns the end of the old file, to which lines might still be added; nil if the compaction of another process
    /// has removed the new file as a leftover.
    private func replace(
        _ old: Handle,
        by draft: inout Compaction.Draft,
        of compaction: Compaction,
        _ reader: LogReader
    ) throws(LogError) -> LateLines? {
        var lateLines = LateLines(old: old.file, from: compaction.source.offset, readEnd: position.end)
        do throws(FileSystemError) {
            // No other process knows the new file yet, and one that finds it at the path has to wait until it is complete.
            _ = try fileSystem.lock(draft.file)
            try lateLines.carryOver(reader, to: draft.file, upTo: position.offset, &draft.position)
            try fileSystem.syncData(draft.file)
            try fileSystem.rename(draft.file.path, to: compaction.target.path)
        } catch {
            if error.call == "rename", error.code == .noEntry { return nil }
            throw LogError(writing: error)
        }
        draft.file.rename(to: compaction.target.path)
        return lateLines
    }

    /// Whether the path still leads to the file that a compaction is to replace: a link might have been changed.
    private func isTarget(_ target: LogPath) throws(LogError) -> Bool {
        do {
            let resolved = try LogPath(path: path).resolved(fileSystem)
            return resolved.path == target.path
        } catch { throw .failed(error) }
    }

    /// Adopts the new file, which is at the path now, as the current one and syncs its name; returns the error of that
    /// sync.
    private mutating func adopt(
        _ draft: Compaction.Draft,
        of compaction: Compaction,
        insteadOf old: Handle
    ) -> FileSystemError? {
        let file = draft.file
        defer { unlock(file) }
        let (lines, damaged) = (position.lines, position.damaged)
        position = draft.position
        position.lines += lines - compaction.source.lines
        position.damaged = damaged - compaction.source.damaged
        var folders = old.sync.folders.filter { $0 != compaction.target.folder }
        var failure: FileSystemError?
        do {
            try fileSystem.syncFolder(compaction.target.folder)
        } catch {
            folders.insert(compaction.target.folder, at: 0)
            failure = error
        }
        current = position.identity.map { identity in
            Handle(
                file: file,
                identity: identity,
                isWritable: true,
                forks: old.forks,
                sync: FileSync(file, synced: position.end, folders: folders, failure: failure, fileSystem: fileSystem)
            )
        }
        removeDrafts(of: compaction.target)
        return failure
    }

    /// Removes drafts whose processes died or are overtaken by this compaction; under the lock.
    private func removeDrafts(of target: LogPath) {
        do {
            for name in try fileSystem.names(inFolder: target.folder) where target.isDraftName(name) {
                fileSystem.discard(target.sibling(name))
            }
        } catch {
            // They stay for the next compaction.
        }
    }

    /// Appends to the log what was added to its old file after that was replaced; the last time also a line without its
    /// newline.
    ///
    /// Returns whether anything was added; throws `busy` as `append` does.
    @discardableResult
    mutating func append(
        _ lateLines: inout LateLines,
        isLast: Bool,
        _ wait: inout BusyWait
    ) throws(LogError) -> Bool {
        let rest: (bytes: [UInt8], next: LateLines)?
        do { rest = try lateLines.rest(reader(of: lateLines.old), endsLast: isLast) } catch { throw .failed(error) }
        guard let rest else { return false }
        if !rest.bytes.isEmpty { try append(external: rest.bytes, &wait) }
        lateLines = rest.next
        return !rest.bytes.isEmpty
    }
}
