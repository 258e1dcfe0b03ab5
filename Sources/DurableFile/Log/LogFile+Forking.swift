extension LogFile: ForkParticipant {
    package var forkRanks: [ForkRank] { [.logs] }

    package func take(_ rank: ForkRank) -> Bool {
        guard compacting.take() else { return false }
        if core.take() {
            if background.take() { return true }
            core.release(inChild: false)
        }
        compacting.release(inChild: false)
        return false
    }

    package func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        background.release(inChild: inChild)
        core.release(inChild: inChild)
        compacting.release(inChild: inChild)
        return nil
    }

    package func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        // A thread of the parent might have been using it, as one that waits for a file system that doesn't answer.
        if !isWhole { core.withLock { $0.forgetFile() } }
        background.withLock { $0.forgetThreads() }
        return []
    }

    /// Watches the file in a child of `fork`, from its first use there on, and makes the report that a thread of the parent was to make.
    package func resume() {
        watcher?.resume()
        resumeReports()
        notifier.resume()
    }
}
