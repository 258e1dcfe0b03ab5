extension LogCore {
    /// A copy of what is known, to make a new file of; nil where there is no file, or it may only be read.
    func compaction() throws(LogError) -> Compaction? {
        guard let current, current.isWritable, current.identity == position.identity else { return nil }
        do {
            let target = try LogPath(path: path).resolved(fileSystem)
            return Compaction(
                contents: contents.copy(),
                source: position,
                old: current.file,
                target: target,
                fileSystem: fileSystem
            )
        } catch { throw .failed(error) }
    }

    /// Puts a new file in the place of the old one, with all that came to the old one since.
    ///
    /// Returns nil where another file is at the path by now. Where it returns nil or throws, what was made for it is gone.
    mutating func install(
        _ compaction: Compaction,
        _ draft: Compaction.Draft
    ) throws(LogError) -> StrayLines? {
        var (compaction, draft) = (compaction, draft)
        var damagedCopy: String?
        var isInstalled = false
        defer {
            if !isInstalled {
                fileSystem.discard(draft.file.path)
                if let damagedCopy { fileSystem.discard(damagedCopy) }
            }
        }
        guard let old = try currentHandle(), old.file === compaction.old else { return nil }
        try lock(old.file, until: fileSystem.now() + min(lockTimeout, .milliseconds(500)))
        defer { unlock(old.file) }
        guard try isReady(old), current?.file === old.file, try isTarget(compaction.target) else { return nil }

        let reader = reader(of: old.file)
        guard try refresh(&compaction, &draft, reader) else { return nil }
        if compaction.source.damaged > 0 { damagedCopy = try compaction.keepDamaged(reader) }
        guard var stray = try replace(old, by: &draft, of: compaction, reader) else { return nil }
        isInstalled = true
        // What appenders without the lock wrote to the old file before it lost its name. If it fails, it is tried again
        // with what they still write.
        do { try stray.carryOverRest(reader, to: draft.file) } catch {}
        stray.damagedCopy = damagedCopy
        stray.failure = adopt(draft, of: compaction, insteadOf: old)
        return stray
    }

    /// Makes the copy anew if what was copied has been overwritten since; false if there is nothing to copy any more.
    private mutating func refresh(
        _ compaction: inout Compaction,
        _ draft: inout Compaction.Draft,
        _ reader: LogReader
    ) throws(LogError) -> Bool {
        if try reader.isUnchanged(compaction.source, whole: true) { return true }
        fileSystem.discard(draft.file.path)
        try readAfresh()
        guard let fresh = try self.compaction() else { return false }
        compaction = fresh
        draft = try compaction.draft()
        return true
    }

    /// Adds to the new file what came to the old one since it was copied, and gives it the old one's name.
    ///
    /// Returns what may still come to the old file; nil where another process's compaction has taken the new file for a
    /// leftover.
    private func replace(
        _ old: Handle,
        by draft: inout Compaction.Draft,
        of compaction: Compaction,
        _ reader: LogReader
    ) throws(LogError) -> StrayLines? {
        var stray = StrayLines(old: old.file, from: compaction.source.offset, seen: position.end)
        do throws(FileSystemError) {
            // No other process knows the new file yet, and one that finds it at the path has to wait until it is complete.
            _ = try fileSystem.lock(draft.file)
            try stray.carryOver(reader, to: draft.file, upTo: position.offset, &draft.position)
            try fileSystem.syncData(draft.file)
            try fileSystem.rename(draft.file.path, to: compaction.target.path)
        } catch {
            if error.call == "rename", error.code == .noEntry { return nil }
            throw LogError(writing: error)
        }
        draft.file.rename(to: compaction.target.path)
        return stray
    }

    /// Whether the path still means the file that a compaction is to replace: a link may have been changed.
    private func isTarget(_ target: LogPath) throws(LogError) -> Bool {
        do {
            let resolved = try LogPath(path: path).resolved(fileSystem)
            return resolved.path == target.path
        } catch { throw .failed(error) }
    }

    /// Makes the new file, which is at the path now, the current one, and syncs its name.
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
        removeLeftovers(beside: compaction.target)
        return failure
    }

    /// Removes new files whose makers died, or lose to this compaction; under the lock.
    private func removeLeftovers(beside target: LogPath) {
        do {
            for name in try fileSystem.names(inFolder: target.folder) where target.isDraftName(name) {
                fileSystem.discard(target.sibling(name))
            }
        } catch {
            // They stay for the next compaction.
        }
    }

    /// Adds to the log what came to its old file after it was replaced; the last time also a line without its newline.
    ///
    /// Returns whether anything came.
    @discardableResult
    mutating func collect(_ stray: inout StrayLines, isLast: Bool) throws(LogError) -> Bool {
        let rest: (bytes: [UInt8], next: StrayLines)?
        do { rest = try stray.rest(reader(of: stray.old), endsLast: isLast) } catch { throw .failed(error) }
        guard let rest else { return false }
        if !rest.bytes.isEmpty { try append(foreign: rest.bytes, until: fileSystem.now() + lockTimeout) }
        stray = rest.next
        return !rest.bytes.isEmpty
    }
}
