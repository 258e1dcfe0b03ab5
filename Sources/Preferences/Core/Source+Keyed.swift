internal import CPreferences

// Places that are asked for single names, as user defaults and iCloud are. Their frameworks may call any code of the program, so they are
// read without the turn.

extension Source {
    /// A read that is on its way.
    final class KeyedRead {
        /// The names that were changed since: what it returns for those doesn't count.
        var changed: Set<String> = []
        /// Whether any name might have changed since: what it returns is shown, and asked for again.
        var isOutdated = false
    }

    /// Why names are asked for.
    enum ReadCause {
        /// They are going to be used. Observers of changes are called on another thread, as the reader might have a lock.
        case use
        /// The backend may have noted changes, of other names, too.
        case change
        /// They are outdated, and have observers.
        case observers
    }

    /// Notes the names of a change for the reads that are on their way; call under the publish lock.
    func noteReads(_ changes: [StoredChange]) {
        for read in reads { for change in changes { read.changed.insert(change.name) } }
    }

    /// Shows what the backend has noted, and what could not be read before.
    func readChanged(until deadline: PreferenceDeadline) throws {
        try read(Array(publishing.withLock { exchange(&unread, with: []) }), for: .change, until: deadline)
    }

    /// Asks the backend for names and shows their values.
    func read(_ names: [String], for cause: ReadCause, until deadline: PreferenceDeadline) throws {
        guard let own else { return }
        if isForeign { throw misuse }
        var asked = names
        var failure: (any Error)?
        for round in 0..<8 {
            let read = KeyedRead()
            publishing.withLock { reads.append(read) }
            defer { publishing.withLock { reads.removeAll { $0 === read } } }
            var values: [StoredChange] = []
            do {
                if cause == .change, round == 0 { values = try own.values(for: nil) }
                if !asked.isEmpty { values += try own.values(for: asked) }
            } catch {
                // They wait for their next use or event: to ask again might be a question to a person.
                publishing.withLock { unread.formUnion(asked) }
                failure = error
            }
            asked = values.map(\.name)
            if asked.isEmpty { break }
            do { asked = try show(values, read, cause, until: deadline) } catch {
                failure = error
                break
            }
            if asked.isEmpty { break }
        }
        if !asked.isEmpty {
            // The backend doesn't return them again.
            publishing.withLock { unread.formUnion(asked) }
            repeatLook()
        }
        guard let failure else {
            if publishing.withLock({ unread.isEmpty }) { _ = note(nil) }
            return
        }
        if failure is PreferenceDeadline.WouldWait { throw failure }
        let error = PreferenceError(.unavailable, from: failure)
        if note(error) { reportAfterTurn(error) }
        throw error
    }

    /// Shows what a read has returned, and returns the names that were changed during it.
    private func show(
        _ values: [StoredChange],
        _ read: KeyedRead,
        _ cause: ReadCause,
        until deadline: PreferenceDeadline
    ) throws -> [String] {
        func show(_ effects: inout Effects) -> [String] {
            publishing.withLock {
                var changes: [StoredChange] = []
                let rest = values.filter { read.isOutdated || read.changed.contains($0.name) }.map(\.name)
                for change in values where !read.changed.contains(change.name) {
                    let entry = table.entry(adding: change.name)
                    let isNew = entry.knowledge == .none && entry.value == nil && entry.kept == nil
                    if !entry.isKnown { current.append(entry) }
                    entry.knowledge = read.isOutdated ? .outdated : .current
                    if cause != .use || !isNew || !showNew(change, entry, &effects) { changes.append(change) }
                }
                noteReads(changes)
                publishSeveral(unmasked(changes, 0), nil, &effects)
                return rest
            }
        }
        guard turn.isMine else {
            return try inTurn(until: deadline) { effects, _ in
                let rest = show(&effects)
                if cause == .use, !effects.isEmpty { exchange(&effects, with: Effects()).runLater(self) }
                return rest
            }
        }
        // A body reads a preference that was declared in it.
        var effects = Effects()
        defer { effects.run(self, preferences_state()) }
        return show(&effects)
    }

    /// Shows the first value of a name, which isn't a change; returns false, and does nothing, if the name is observed.
    private func showNew(_ change: StoredChange, _ entry: Entry, _ effects: inout Effects) -> Bool {
        guard entry.nodes.allSatisfy({ $0.node.subscriptions.isEmpty }) else { return false }
        if change.value == nil { return true }
        for (node, _) in entry.nodes { effects.note(node) }
        effects.release(table.set(entry, to: change.value))
        return true
    }

    // MARK: Changes that the backend notices

    /// Has each name asked for again when it is next used, as any might have changed; returns whether there are any.
    func outdate() -> Bool {
        publishing.withLock {
            for read in reads { read.isOutdated = true }
            for entry in current {
                entry.knowledge = .outdated
                for (node, _) in entry.nodes { node.invalidate() }
            }
            outdated += current
            current = []
            return !outdated.isEmpty
        }
    }

    /// Asks for the names of those that have observers, or might have: the others are asked for when they are used.
    func readOutdated(until deadline: PreferenceDeadline) throws {
        let names = publishing.withLock {
            exchange(&outdated, with: []).filter { $0.knowledge == .outdated && isObserved($0) }.map(\.name)
        }
        if !names.isEmpty { try read(names, for: .observers, until: deadline) }
    }

    private func isObserved(_ entry: Entry) -> Bool {
        if entry.nodes.contains(where: { !$0.node.subscriptions.isEmpty || $0.node.signal.isTracked }) { return true }
        var isViewed = false
        views.forEach(of: entry.name) { _ in isViewed = true }
        return isViewed
    }
}
