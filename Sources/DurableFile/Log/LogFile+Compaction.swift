/// Why a file is compacted.
enum CompactionReason {
    /// Overridden or damaged lines take too much space.
    case waste
    /// The file is idle and has more lines than it needs.
    case untidy
    /// A sync of the file has failed.
    case failedSync
    /// The user of the log has asked for it.
    case request

    var isForced: Bool { self == .failedSync || self == .request }
}

extension LogFile {
    /// Rewrites the file with one entry per line, whether or not that is worth it; blocks.
    ///
    /// Lines that can't be read are kept in another file in the same folder. Throws `outcomeUnknown` if the new file is
    /// in place but its name might not survive a loss of power.
    package func compact() throws(LogError) {
        defer { notifyObserver() }
        try compact(.request) { true }
    }

    func compactIfDue() throws(LogError) {
        defer { notifyInBackground() }
        try compact(.waste) { true }
    }

    /// Rewrites the file with one entry per line if it has more lines than that.
    func tidy() throws(LogError) {
        defer { notifyInBackground() }
        try compact(.untidy) { true }
    }

    /// Replaces a file that couldn't be synced by a new one, unless another thread has just done that.
    func replaceFailedFile() throws(LogError) {
        defer { notifyInBackground() }
        try compact(.failedSync) { core.withLock { $0.current?.sync.failure } != nil }
    }

    /// Removes the drafts of processes that died while they compacted the file, once: one that runs has the lock of its draft.
    func removeDeadDrafts() {
        guard compacting.withLock({ $0.mustRemoveDrafts() }) else { return }
        do throws(FileSystemError) {
            let target = try LogPath(path: path).resolved(fileSystem)
            for name in try fileSystem.names(inFolder: target.folder) where target.isDraftName(name) {
                let draft = try fileSystem.open(target.sibling(name), for: .reading)
                if try fileSystem.lock(draft) { fileSystem.discard(draft.path) }
            }
        } catch {
            // They stay for the next compaction.
        }
    }

    func compact(_ reason: CompactionReason, while isNeeded: () -> Bool) throws(LogError) {
        // One at a time. The lock is held while files are written, but only compactions wait for it.
        let lateLines = try compacting.withLock { schedule throws(LogError) -> LateLines? in
            guard isNeeded() else { return nil }
            // If another process has compacted the file in between, there is usually nothing left to do.
            for _ in 0..<(reason.isForced ? 10 : 1) {
                guard
                    let compaction = try core.withLock({ core throws(LogError) in
                        try core.compaction(isRequested: reason == .request)
                    }),
                    schedule.mustLook(at: compaction, reason)
                else { return nil }
                do throws(LogError) {
                    let lines = try compaction.lines()
                    guard schedule.isDue(compaction.source, lines, reason) else { return nil }
                    guard let lateLines = try replace(compaction, lines, reason) else {
                        try core.withLock { core throws(LogError) in try core.catchUp(.all) }
                        continue
                    }
                    schedule.noteSuccess(live: lines.count)
                    if reason == .untidy { schedule.noteTidying(at: fileSystem.now()) }
                    // The lines that can't be read are still there, and no reason to rewrite it again.
                    if case .inPlace(let position) = lateLines { schedule.noteFailure(position, isReported: false) }
                    return lateLines.late
                } catch {
                    // An untidy file isn't large yet.
                    var isBusy = false
                    if !reason.isForced, case .busy = error { isBusy = true }
                    if reason != .untidy { schedule.noteFailure(compaction.source, isReported: !isBusy) }
                    if isBusy { return nil }
                    throw error
                }
            }
            return nil
        }
        guard let lateLines else { return }
        if let copy = lateLines.damagedCopy {
            notifyInBackground { $0.copies.append(copy) }
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
    private func replace(
        _ compaction: Compaction,
        _ lines: [UInt8],
        _ reason: CompactionReason
    ) throws(LogError) -> Outcome? {
        let failure: LogError?
        do throws(LogError) {
            if try compaction.isReplacing() {
                let draft = try compaction.draft(lines)
                return try install(compaction, draft).map { .replaced($0) }
            }
            failure = nil
        } catch {
            // Its folder has just been removed.
            if case .failed(let cause) = error, cause.code == .noEntry { return nil }
            guard error.forbidsReplacing else { throw error }
            failure = error
        }
        // Each step of that is synced, while other programs wait for the file's lock.
        let waste = compaction.source.offset - Int64(lines.count)
        guard reason.isForced || waste >= CompactionSchedule.smallestWaste else {
            if let failure { throw failure }
            return .inPlace(compaction.source)
        }
        let isRewritten = try fileSystem.whileBusy(longestWait) { _ throws(LogError) in
            try core.withLock { core throws(LogError) in try core.rewrite(isRequested: compaction.isRequested) }
        }
        guard let isRewritten else { return nil }
        if let failure, !isRewritten { throw failure }
        return .inPlace(core.withLock { $0.position })
    }

    private func install(_ compaction: Compaction, _ draft: Compaction.Draft) throws(LogError) -> LateLines? {
        do throws(LogError) {
            return try fileSystem.whileBusy(longestWait) { _ throws(LogError) in
                try core.withLock { core throws(LogError) in try core.install(compaction, draft) }
            }
        } catch {
            if case .busy = error { fileSystem.discard(draft.file.path) }
            throw error
        }
    }

    /// The longest time that a compaction waits for another program.
    private var longestWait: Duration { min(lockTimeout, .milliseconds(500)) }

    /// Appends the lines that programs without the lock still write to the old file: for one second, and if the file is
    /// watched, as long as one of them has it open, as far as the system tells.
    ///
    /// The job retains the log: otherwise its lines would be lost with the last store. If the lines can't be appended, that
    /// is reported once and tried again for half a minute.
    private func appendLateLines(_ lateLines: LateLines, times: Int, waits: Int = 0, failures: Int = 0) {
        let pause = times > 0 ? Duration.milliseconds(100) : min(.milliseconds(500) * (1 << min(waits, 4)), .seconds(8))
        let isScheduled = worker.schedule(after: pause * (1 << failures)) { [self] in
            appendLateLines(lateLines, times, waits, failures)
        }
        // Without a thread the only look is now.
        if !isScheduled { appendLateLines(lateLines, 0, 0, 0, isOnly: true) }
    }

    private func appendLateLines(
        _ lateLines: LateLines,
        _ times: Int,
        _ waits: Int,
        _ failures: Int,
        isOnly: Bool = false
    ) {
        var (lateLines, failures) = (lateLines, failures)
        var isLast = isOnly
        do throws(LogError) {
            // Asked before the last look, as a program might write and close the file in between.
            if times <= 1, !isOnly {
                isLast = watcher == nil || !(lateLines.haveWriters(fileSystem) ?? (waits < Self.mostWaits))
            }
            let isAny = try fileSystem.whileBusy(lockTimeout) { wait throws(LogError) in
                try core.withLock { core throws(LogError) in
                    try core.append(&lateLines, isLast: isLast, &wait)
                }
            }
            if isAny { scheduleSync() }
            failures = 0
        } catch {
            if failures == 0 { notifyInBackground(of: error) }
            failures += 1
            isLast = isOnly || failures > Self.mostFailures
        }
        notifyInBackground()
        guard !isLast else { return }
        let nextWaits = times > 1 ? 0 : waits + 1
        appendLateLines(lateLines, times: max(0, times - 1), waits: nextWaits, failures: failures)
    }
}

extension LogFile {
    /// How often in a row the lines of an old file are tried to be appended again.
    private static var mostFailures: Int { 5 }
    /// How often an old file is looked at after the first second if the system doesn't tell whether a program has it open: for
    /// some minutes.
    private static var mostWaits: Int { 40 }
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
    /// can't create files in its folder or give them the file's owner, or the file system has room for no other file.
    fileprivate var forbidsReplacing: Bool {
        guard let cause else { return false }
        switch cause.call {
        case "open": return cause.deniesWriting || cause.code == .noSpace || cause.code == .quota
        case "fchown", "fchmod": return cause.deniesWriting
        case "rename": return cause.code == .inUse
        default: return false
        }
    }
}
