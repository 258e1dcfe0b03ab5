extension LogFile {
    /// Writes the file anew with one entry a line, whether or not it is worth it; blocks.
    ///
    /// Lines that can't be read are kept in a file beside it. Throws `outcomeUnknown` where the new file
    /// is in place but its name may not survive a loss of power.
    package func compact() throws(LogError) {
        defer { tellNews() }
        try compact(isForced: true) { true }
    }

    func compactIfDue() throws(LogError) {
        defer { announceNews() }
        try compact(isForced: false) { true }
    }

    /// Puts a new file in the place of one that couldn't be synced, unless another thread just has.
    func replaceFailedFile() throws(LogError) {
        defer { announceNews() }
        try compact(isForced: true) { core.withLock { $0.current?.sync.failure } != nil }
    }

    func compact(isForced: Bool, while isNeeded: () -> Bool) throws(LogError) {
        // One at a time; the lock is held while files are written, but nobody else waits for it.
        let stray = try compacting.withLock { schedule throws(LogError) -> StrayLines? in
            guard isNeeded() else { return nil }
            // Where another process compacted meanwhile there is mostly nothing left to do.
            for _ in 0..<(isForced ? 10 : 1) {
                guard let compaction = try core.withLock({ core throws(LogError) in try core.compaction() }),
                    isForced || schedule.mustLook(at: compaction.source)
                else { return nil }
                do throws(LogError) {
                    let lines = try compaction.lines()
                    guard isForced || schedule.isDue(compaction.source, live: lines.count) else { return nil }
                    let draft = try compaction.draft(lines)
                    let stray = try core.withLock { core throws(LogError) in try core.install(compaction, draft) }
                    if stray != nil {
                        schedule.noteSuccess(live: lines.count)
                        return stray
                    }
                    try core.withLock { core throws(LogError) in try core.catchUp(.all) }
                } catch {
                    schedule.noteFailure(compaction.source)
                    if !isForced, case .busy = error { return nil }
                    throw error
                }
            }
            return nil
        }
        guard let stray else { return }
        collect(stray, times: 10)
        if let failure = stray.failure { throw .outcomeUnknown(path: path, cause: failure) }
    }

    /// For one second looks what appenders without the lock still write to the old file.
    ///
    /// The job keeps the log: its lines would else be lost with the last store.
    private func collect(_ stray: StrayLines, times: Int) {
        worker.run(after: .milliseconds(100)) { [self] in
            var stray = stray
            do throws(LogError) {
                let isAny = try core.withLock { core throws(LogError) in
                    try core.collect(&stray, isLast: times == 1)
                }
                if isAny { scheduleSync() }
            } catch { announce(error) }
            announceNews()
            if times > 1 { collect(stray, times: times - 1) }
        }
    }
}
