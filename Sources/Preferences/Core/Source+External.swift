internal import CPreferences
internal import Synchronization

// External changes, and the work that is done a while after changes.

extension Source {
    var host: PreferenceBackendHost { PreferenceBackendHost(self) }

    /// Reports for the backend, which is mostly called in a turn, where no code of the program may run.
    func reportAfterTurn(_ error: PreferenceError) {
        var effects = Effects()
        effects.report(error)
        effects.run(self, preferences_state())
    }

    /// Has a thread look for external changes; returns at once.
    func lookLater() {
        // A load that notifies of itself reads what is new, and would cause the next one if it fails.
        if !isOpen, turn.isMine { return }
        guard !isLookQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
        process.pool.run { [weak self] in self?.lookNow() }
    }

    /// Looks on the calling thread, unless that has the turn.
    func lookIfFree() { if turn.isMine { lookLater() } else { lookNow() } }

    /// Looks on the calling thread, unless that has the turn, or another one has it for long.
    func lookHere() {
        if turn.isMine { return lookLater() }
        do { try look(until: .patience) } catch { lookLater() }
    }

    /// Looks when the turn is free: the thread that has it looks, too, so in a burst of sets there is nothing to wait for.
    private func lookNow(_ tries: Int = 0) {
        do { try look(until: isOpen && tries < 20 ? .now : unattended) } catch is PreferenceDeadline.WouldWait {
            process.pool.run(after: 5_000_000) { [weak self] in self?.lookNow(tries + 1) }
        } catch {
            // A place that can't be opened says when it can be; other events must not be lost.
            if isForeign || PreferenceError(.unavailable, from: error).isOfOpening { return }
            repeatLook(tries)
        }
    }

    /// Looks again after a second, then two, four, up to half a minute.
    func repeatLook(_ tries: Int = 0) {
        guard !isLookRepeated.exchange(true, ordering: .relaxed) else { return }
        process.pool.run(after: 1_000_000_000 << Int64(max(0, min(tries - 20, 5)))) { [weak self] in
            self?.isLookRepeated.store(false, ordering: .relaxed)
            self?.lookNow(max(20, tries) + 1)
        }
    }

    /// Has the sources below look, and then does; opens them unless they are open.
    func lookWhole(until deadline: PreferenceDeadline) throws {
        for source in own?.below ?? [] where source.mayWait { try source.lookWhole(until: deadline) }
        let isOpen = isOpen
        try look(until: deadline, isWhole: true)
        // Not each change is noticed.
        if isKeyed, isOpen, outdate() { try readOutdated(until: deadline) }
    }

    /// Shows what others have changed by now; opens the backend unless it is open.
    ///
    /// - Parameter isWhole: Whether the backend looks for what it wasn't notified of.
    func look(until deadline: PreferenceDeadline, isWhole: Bool = false) throws {
        if isKeyed, isOpen {
            _ = isLookQueued.exchange(false, ordering: .acquiringAndReleasing)
            return try readChanged(until: deadline)
        }
        try inTurn(until: deadline) { effects, deadline in
            // Before the backend is asked: what comes later is another event.
            _ = isLookQueued.exchange(false, ordering: .acquiringAndReleasing)
            if isOpen {
                try catchUp(until: deadline, isWhole: isWhole, &effects)
                noteProblems(&effects)
                if hasKept.load(ordering: .relaxed) { storeOrRetry(until: .now, &effects) } else { _ = note(nil) }
            } else {
                try open(until: deadline, &effects)
            }
            if let error = own?.readingError { throw error }
        }
    }

    /// Looks for external changes before a read if that is necessary and the turn is free; else its holder reads the place.
    func lookIfStale() {
        for source in own?.below ?? [] { source.lookIfStale() }
        guard goesStale, isOpen, !turn.isMine, own?.isStale ?? false else { return }
        do { try look(until: .now) } catch {}  // the source has reported it
    }

    func catchUp(until deadline: PreferenceDeadline, isWhole: Bool = false, _ effects: inout Effects) throws {
        // Only a thread of the pool, or a read, asks a place that can't be tried to be quick.
        let deadline = deadline.isNow && !saysWhenItWaits ? unattended : deadline
        do {
            let deadline = begun(deadline)
            publish(try isWhole ? backend.refresh(until: deadline) : backend.catchUp(until: deadline), &effects)
        } catch {
            if error is PreferenceDeadline.WouldWait { throw error }
            let error = PreferenceError(.unavailable, from: error)
            if note(error) { effects.report(error) }
            throw error
        }
    }

    // MARK: After a change

    /// Syncs the place after 80 ms, so that the changes until then share the costs, and lets it tidy up; call in the turn.
    func tidyAfterChange(_ effects: inout Effects) {
        if isKeyed { return effects.finish() }
        guard !isSyncQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // It keeps the source: what a store that is released has stored is synced, too.
        process.pool.run(after: 80_000_000) { self.syncNow() }
    }

    private func syncNow() {
        // Before the sync: what is stored meanwhile might need another one.
        _ = isSyncQueued.exchange(false, ordering: .acquiringAndReleasing)
        do { try backend.sync(until: begun(timeout)) } catch { report(PreferenceError(.notDurable, from: error)) }
        if own != nil { tidy() }
    }

    private func tidyLater(_ nanoseconds: Int64) {
        guard !isTidying else { return }
        isTidying = true
        process.pool.run(after: nanoseconds) { self.tidy(isDue: true) }
    }

    /// - Parameter isDue: Whether it was put off until now.
    private func tidy(isDue: Bool = false) {
        do {
            try inTurn(until: timeout) { effects, _ in
                if isDue { isTidying = false }
                guard let own else { return }
                let names = publishing.withLock { table.count }
                guard let delay = try own.tidy(names: names, { publish($0, &effects) }) else { return }
                tidyLater(delay.nanoseconds)
            }
        } catch PreferenceError.busy {
            process.pool.run(after: 1_000_000_000) { self.tidy(isDue: isDue) }
        } catch { report(PreferenceError(.unavailable, from: error)) }
    }

    /// Stores what is kept, and has all that was stored survive a loss of power.
    func flush(until deadline: PreferenceDeadline) throws {
        try storeAll(until: deadline)
        if let error = openingError { throw error }
        for source in own?.below ?? [] { try source.flush(until: deadline) }
        if mayWait, isOpen { try backend.sync(until: begun(deadline)) }
    }

    // MARK: At the end of the program

    /// Stores what is kept; prints the names that can't be stored.
    func storeAtExit(until deadline: PreferenceDeadline) {
        do { try storeAll(until: deadline) } catch {
            let error = PreferenceError(.unavailable, from: error)
            for name in publishing.withLock({ keptEntries.map(\.name) }) {
                writeToLog("the program ends, and a value that was set isn't stored: \(error.of(name))")
            }
        }
    }
}
