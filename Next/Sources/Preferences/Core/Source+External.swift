internal import Synchronization

// What others have changed, and what is done a while after changes.

extension Source {
    var host: PreferenceBackendHost {
        PreferenceBackendHost { [weak self] in self?.lookLater() } report: { [weak self] in self?.report($0) }
    }

    /// Has a thread look for external changes; returns at once.
    func lookLater() {
        guard !isLookQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
        process.pool.run { [weak self] in self?.lookNow() }
    }

    /// Looks when the turn is free: the thread that has it looks, too, so in a burst of sets there is nothing to wait for.
    private func lookNow(_ tries: Int = 0) {
        do { try look(until: isOpen && tries < 20 ? .now : timeout) } catch is PreferenceDeadline.WouldWait {
            process.pool.run(after: 5_000_000) { [weak self] in self?.lookNow(tries + 1) }
        } catch PreferenceError.busy {
            // Another thread has the turn for long; the event must not be lost.
            process.pool.run(after: 1_000_000_000) { [weak self] in self?.lookNow(20) }
        } catch {}  // the source has reported it
    }

    /// Shows what others have changed by now; opens the backend unless it is open.
    func look(until deadline: PreferenceDeadline) throws {
        if isKeyed, isOpen {
            isLookQueued.store(false, ordering: .releasing)
            return try read(nil, until: timeout)
        }
        try inTurn(until: deadline) { effects, deadline in
            isLookQueued.store(false, ordering: .releasing)
            if isOpen {
                try catchUp(until: deadline, &effects)
                noteProblems(&effects)
                if hasKept.load(ordering: .relaxed) { storeOrRetry(until: deadline, &effects) } else { _ = note(nil) }
            } else {
                try open(until: deadline, &effects)
            }
            if let error = own?.readingError { throw error }
        }
    }

    private func catchUp(until deadline: PreferenceDeadline, _ effects: inout Effects) throws(PreferenceError) {
        do throws(PreferenceError) {
            let update = if let own { try own.catchUp(until: deadline) } else { try backend.catchUp() }
            publish(update, &effects)
        } catch {
            if note(error) { effects.report(error) }
            throw error
        }
    }

    // MARK: After a change

    /// Syncs the place after 80 ms, so that the changes until then share the costs, and lets it tidy up; call in the turn.
    func tidyAfterChange(_ effects: inout Effects) {
        if isKeyed { effects.finish() }
        tidyLater(80_000_000)
    }

    private func tidyLater(_ nanoseconds: Int64) {
        guard !isTidying else { return }
        isTidying = true
        // It keeps the source: what a store that is released has stored is synced, too.
        process.pool.run(after: nanoseconds) { self.tidy() }
    }

    private func tidy() {
        do throws(PreferenceError) { try backend.sync() } catch { report(error) }
        do {
            try inTurn(until: timeout) { effects, _ in
                isTidying = false
                guard let own, !isKeyed else { return }
                let names = publishing.withLock { table.count }
                guard let delay = try own.tidy(names: names, { publish($0, &effects) }) else { return }
                tidyLater(delay.nanoseconds)
            }
        } catch PreferenceError.busy {
            process.pool.run(after: 1_000_000_000) { self.tidy() }
        } catch { report(PreferenceError(.unavailable, from: error)) }
    }

    /// Stores what is kept, and has all that was stored survive a loss of power.
    func flush(until deadline: PreferenceDeadline) throws {
        try storeAll(until: deadline)
        if mayWait { try backend.sync() }
    }

    // MARK: At the end of the program

    /// Stores what is kept; prints the names that can't be stored.
    func storeAtExit() {
        do { try storeAll(until: timeout) } catch {
            let error = PreferenceError(.unavailable, from: error)
            for name in publishing.withLock({ keptEntries.map(\.name) }) {
                writeToLog("the program ends, and a value that was set isn't stored: \(error.of(name))")
            }
        }
    }
}
