internal import CPreferences
internal import Synchronization

// Values that a property sets while the turn, or the place, can't be had.

extension Source {
    /// Stores the value of a property; one that can't be stored within a tenth of a second is kept.
    ///
    /// - Parameters:
    ///   - isFixed: Whether the changes don't depend on what is stored.
    ///   - body: Returns the changes for what is stored or shown by then; it may run again.
    /// - Returns: The error to report, if any.
    func set(isFixed: Bool, _ body: (inout Effects) throws -> Decision) -> PreferenceError? {
        var failed: PreferenceError?
        if !isRetrying.load(ordering: .relaxed) {
            do {
                // Who has waited once for a turn needn't do it again.
                let isKeeping = hasKept.load(ordering: .relaxed)
                if isKeeping, !saysWhenItWaits { throw PreferenceDeadline.WouldWait() }
                try change(until: isKeeping ? .now : .patience, isTrial: true, body)
                return nil
            } catch is PreferenceDeadline.WouldWait {} catch {
                let error = PreferenceError(.unavailable, from: error)
                let isInTurn = isInTurn
                if !isInTurn, !error.isOfPlace { return error }
                // A place that can't be tried might only have had too little time; then a thread of the pool finds that out.
                if !isInTurn, !error.isOfOthers, saysWhenItWaits { failed = error }
            }
        }
        // Also in the body of an update, which might have forked.
        if isForeign { return misuse }
        var effects = Effects()
        do {
            // Without the turn, what the body has read might change before its changes are kept.
            for round in 0..<64 {
                let count = publishing.withLock { table.changeCount }
                let (changes, announced) = try body(&effects)
                // What can't be read might be merged with what is set.
                let locked = locked
                for change in changes { if let error = locked[change.name] { return error.named(change.name) } }
                if keep(changes, announced, isFixed || round == 63 ? nil : count, &effects) { break }
            }
        } catch { return PreferenceError(.unencodable, from: error) }
        var issue: PreferenceError?
        if let failed {
            // That of the opening was reported already.
            if !failed.isOfOpening, note(failed) { issue = failed }
            retryLater()
        } else {
            storeKept(&effects)
        }
        effects.run(self, preferences_state())
        return issue
    }

    /// - Parameter count: The count of changes that the table must still have; else this does nothing and returns false.
    private func keep(
        _ changes: [StoredChange],
        _ announced: UInt64,
        _ count: Int?,
        _ effects: inout Effects
    ) -> Bool {
        let isKept = publishing.withLock {
            if let count, count != table.changeCount { return false }
            keptNumber += 1
            for change in changes {
                let entry = table.entry(adding: change.name)
                if let kept = entry.kept {
                    kept.number = keptNumber
                } else {
                    entry.kept = Entry.Kept(entry.value, keptNumber)
                    keptEntries.append(entry)
                }
            }
            hasKept.store(true, ordering: .releasing)
            if !reads.isEmpty { noteReads(changes) }
            publishSeveral(changes, announced, &effects)
            return true
        }
        if isKept { process.noteKeeping(self) }
        return isKept
    }

    /// Adds what is kept by a number to a change that has none of it.
    func addKept(_ limit: Int, to changes: inout [StoredChange]) {
        let names = Set(changes.map(\.name))
        for entry in keptEntries where (entry.kept?.number ?? .max) <= limit && !names.contains(entry.name) {
            changes.append(StoredChange(entry.name, entry.value))
        }
    }

    /// Takes those out of a change that are kept by a later set; an own change up to a number ends the keeping of its names.
    func unmasked(_ changes: [StoredChange], _ limit: Int) -> [StoredChange] {
        guard !keptEntries.isEmpty else { return changes }
        var ended = false
        let shown = changes.filter { change in
            guard let entry = table.entry(change.name), let kept = entry.kept else { return true }
            guard kept.number <= limit else {
                kept.stored = change.value
                return false
            }
            (entry.kept, ended) = (nil, true)
            return true
        }
        if ended { forgetStored() }
        return shown
    }

    /// Call under the publish lock.
    private func forgetStored() {
        for entry in keptEntries where entry.kept == nil { table.dropUnused(entry) }
        keptEntries.removeAll { $0.kept == nil }
        hasKept.store(!keptEntries.isEmpty, ordering: .releasing)
    }

    /// Stores what is kept if the turn is free and nothing needs waiting; else its holder does, or a thread of the pool.
    func storeKept(_ effects: inout Effects) {
        while hasKept.load(ordering: .acquiring), !isRetrying.load(ordering: .relaxed), !isForeign, turn.enterOrMark() {
            let thread = preferences_state()
            thread.pointee.turns += 1
            if isBelowInTurn {
                // The turn of a source below isn't over yet.
                retryLater(0)
            } else if isOpen {
                storeOrRetry(until: .now, &effects)
            } else {
                retryLater(isClosed ? 0 : nil)
            }
            thread.pointee.turns -= 1
            if !turn.leave() { return }
        }
    }

    /// Stores what is kept; call in the turn.
    func storeOrRetry(until deadline: PreferenceDeadline, _ effects: inout Effects) {
        if deadline.isNow, !saysWhenItWaits { return retryLater(0) }
        do {
            try store(until: deadline, &effects) { _ in ([], 0) }
            pause = 0
        } catch is PreferenceDeadline.WouldWait {
            retryLater(0)
        } catch {
            let error = PreferenceError(.unavailable, from: error)
            if error.code == .notDurable { return effects.report(error) }
            guard error.isOfPlace else { return dropUnstorable(until: deadline, &effects) }
            // Another program has the file's lock: often, but not for long, so that this one's turn stays free for others' changes.
            if error.isOfOthers { return retryLater(200_000_000) }
            if note(error) { effects.report(error) }
            retryLater()
        }
    }

    /// Stores each kept value by itself; those that the place rejects for what they are show what is stored again.
    private func dropUnstorable(until deadline: PreferenceDeadline, _ effects: inout Effects) {
        for entry in publishing.withLock({ keptEntries }) {
            let (change, number) = publishing.withLock {
                (StoredChange(entry.name, entry.value), entry.kept?.number ?? 0)
            }
            do {
                readNames = []
                try backend.change(until: begun(deadline)) { update in
                    publish(update, &effects)
                    return [change]
                }
                publish([change], 0, number, &effects)
            } catch {
                let error = PreferenceError(.unavailable, from: error)
                guard !error.isOfPlace else { return retryLater() }
                effects.report(error.named(entry.name))
                publishing.withLock {
                    guard let kept = entry.kept, kept.number == number else { return }
                    entry.kept = nil
                    publishSeveral([StoredChange(entry.name, kept.stored)], nil, &effects)
                    forgetStored()
                }
            }
        }
        if isKeyed { effects.finish() }
        process.noteKeeping(self)
    }

    /// Has a thread of the pool store what is kept: after a second, then two, four, up to half a minute.
    private func retryLater(_ delay: Int64? = nil) {
        guard !isRetrying.exchange(true, ordering: .relaxed) else { return }
        // Not in the turn if a set calls it: the pause may be read a little old.
        let nanoseconds = delay ?? 1_000_000_000 << min(pause, 5)
        process.pool.run(after: nanoseconds) { [weak self] in self?.retry(mayPause: delay == nil) }
    }

    private func retry(mayPause: Bool) {
        isRetrying.store(false, ordering: .relaxed)
        do {
            try inTurn(until: unattended) { effects, deadline in
                if mayPause { pause = min(pause + 1, 5) }
                guard isOpen else { return try open(until: deadline, &effects) }
                // A place that can't be tried might need longer for each change.
                storeOrRetry(until: saysWhenItWaits ? .patience : deadline, &effects)
            }
        } catch { if hasKept.load(ordering: .relaxed) { retryLater() } }
    }

    /// Stores what is kept; throws if it can't be stored yet.
    func storeAll(until deadline: PreferenceDeadline) throws {
        guard hasKept.load(ordering: .acquiring) else { return }
        try inTurn(until: deadline) { effects, deadline in
            try open(until: deadline, &effects)
            if hasKept.load(ordering: .relaxed) { try store(until: deadline, &effects) { _ in ([], 0) } }
        }
    }
}

extension PreferenceError {
    /// Whether the place can't store now what it might store later; else the value itself, or one that it depends on, is rejected.
    var isOfPlace: Bool {
        let codes: [Code] = [
            .unavailable, .readOnly, .noSpace, .notPermitted, .unknownFormat, .outcomeUnknown,
        ]
        return isOfOthers || name == nil && codes.contains(code)
    }

    /// Whether others were using the place for too long.
    var isOfOthers: Bool { code == .busy || code == .conflict }
}
