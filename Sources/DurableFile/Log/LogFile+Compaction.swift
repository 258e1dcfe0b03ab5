extension LogFile {
    /// Rewrites the file with one entry per line, whether or not that is worth it; blocks.
    ///
    /// Lines that can't be read are kept in another file in the same folder. Throws `outcomeUnknown` if the new file is
    /// in place but its name might not survive a loss of power.
    package func compact() throws(LogError) {
        defer { notifyObserver() }
        try compact(isForced: true) { true }
    }

    func compactIfDue() throws(LogError) {
        defer { notifyInBackground() }
        try compact(isForced: false) { true }
    }

    /// Replaces a file that couldn't be synced by a new one, unless another thread has just done that.
    func replaceFailedFile() throws(LogError) {
        defer { notifyInBackground() }
        try compact(isForced: true) { core.withLock { $0.current?.sync.failure } != nil }
    }

    func compact(isForced: Bool, while isNeeded: () -> Bool) throws(LogError) {
        // One at a time. The lock is held while files are written, but only compactions wait for it.
        let lateLines = try compacting.withLock { schedule throws(LogError) -> LateLines? in
            guard isNeeded() else { return nil }
            // If another process has compacted the file in between, there is usually nothing left to do.
            for _ in 0..<(isForced ? 10 : 1) {
                guard let compaction = try core.withLock({ core throws(LogError) in try core.compaction() }),
                    isForced || schedule.mustLook(at: compaction.source)
                else { return nil }
                do throws(LogError) {
                    let lines = try compaction.lines()
                    guard isForced || schedule.isDue(compaction.source, live: lines.count) else { return nil }
                    guard let lateLines = try replace(compaction, lines) else {
                        try core.withLock { core throws(LogError) in try core.catchUp(.all) }
                        continue
                    }
                    schedule.noteSuccess(live: lines.count)
                    // The lines that can't be read are still there, and no reason to rewrite it again.
                    if case .inPlace(let position) = lateLines { schedule.noteFailure(position) }
                    return lateLines.late
                } catch {
                    schedule.noteFailure(compaction.source)
                    if !isForced, case .busy = error { return nil }
                    throw error
                }
            }
            return nil
        }
        guard let lateLines else { return }
        if let copy = lateLines.damagedCopy, let observer = background.withLock({ $0.observer }) {
            notifier.run { observer.moved(copy) }
        }
        appendLateLines(lateLines, times: 10)
        if let failure = lateLines.failure { throw .outcomeUnknown(path: path, cause: failure) }
    }

    /// How a file was compacted.
    private enum Outcome {
        case replaced(LateLines)
        case inPlace(LogPosition)

        var late: LateLines? { if case .replaced(let lines) = self { lines } else { nil } }
    }

    /// Puts a new file in the place of the old one, or rewrites that if none can take its place; returns nil if another
    /// program has changed it in between.
    private func replace(_ compaction: Compaction, _ lines: [UInt8]) throws(LogError) -> Outcome? {
        do throws(LogError) {
            if try compaction.isReplacing() {
                let draft = try compaction.draft(lines)
                return try core.withLock { core throws(LogError) in
                    try core.install(compaction, draft).map { .replaced($0) }
                }
            }
        } catch {
            guard error.forbidsReplacing, try core.withLock({ core throws(LogError) in try core.rewrite() }) else {
                throw error
            }
            return .inPlace(core.withLock { $0.position })
        }
        _ = try core.withLock { core throws(LogError) in try core.rewrite() }
        return .inPlace(core.withLock { $0.position })
    }

    /// Appends the lines that programs without the lock still write to the old file: for one second, and if the file is
    /// watched, as long as one of them has it open, as far as the system tells.
    ///
    /// The job retains the log: otherwise its lines would be lost with the last store.
    private func appendLateLines(_ lateLines: LateLines, times: Int) {
        worker.run(after: times > 0 ? .milliseconds(100) : .milliseconds(500)) { [self] in
            var lateLines = lateLines
            var isLast = false
            do throws(LogError) {
                // Asked before the last look, as a program might write and close the file in between.
                isLast = times <= 1 && (watcher == nil || !lateLines.haveWriters(fileSystem))
                let isAny = try core.withLock { core throws(LogError) in
                    try core.appendLateLines(&lateLines, isLast: isLast)
                }
                if isAny { scheduleSync() }
            } catch { notifyInBackground(of: error) }
            notifyInBackground()
            if !isLast { appendLateLines(lateLines, times: max(0, times - 1)) }
        }
    }
}

extension LogError {
    /// The system's error, if nothing was changed because of it.
    var cause: FileSystemError? {
        switch self {
        case .failed(let cause), .readOnly(let cause): cause
        default: nil
        }
    }

    /// Whether no new file can take the file's place, but the file might be written: it is mounted by itself, or this user
    /// can't create files in its folder or give them the file's owner.
    fileprivate var forbidsReplacing: Bool {
        guard let cause else { return false }
        switch cause.call {
        case "open", "fchown": return cause.deniesWriting
        case "rename": return cause.code == .inUse
        default: return false
        }
    }
}
