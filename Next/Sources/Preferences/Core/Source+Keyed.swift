internal import CPreferences

// Places that are asked for single names, as user defaults and the keyring are. Their frameworks may call any code of the program, so they are
// read without the turn.

extension Source {
    /// A read that is on its way, and the names that were changed since: what it returns for those doesn't count.
    final class KeyedRead { var changed: Set<String> = [] }

    /// Notes the names of a change for the reads that are on their way; call under the publish lock.
    func noteReads(_ changes: [StoredChange]) {
        for read in reads { for change in changes { read.changed.insert(change.name) } }
    }

    /// Asks the backend for names, or for those that have changed if they are nil, and shows their values.
    func read(_ names: [String]?, until deadline: PreferenceDeadline) throws {
        guard let own else { return }
        if isForeign { throw misuse }
        var asked = names ?? Array(publishing.withLock { exchange(&unread, with: []) })
        var failure: (any Error)?
        for round in 0..<8 {
            let read = KeyedRead()
            publishing.withLock { reads.append(read) }
            defer { publishing.withLock { reads.removeAll { $0 === read } } }
            var values: [StoredChange] = []
            do {
                if names == nil, round == 0 { values = try own.values(for: nil) }
                if !asked.isEmpty { values += try own.values(for: asked) }
            } catch {
                // They wait for their next use or event: to ask again might be a question to a person.
                publishing.withLock { unread.formUnion(asked) }
                failure = error
            }
            asked = values.map(\.name)
            if asked.isEmpty { break }
            do { asked = try show(values, read, until: deadline) } catch {
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

    /// Shows what a read has returned, and returns the names that were changed meanwhile.
    private func show(
        _ values: [StoredChange],
        _ read: KeyedRead,
        until deadline: PreferenceDeadline
    ) throws -> [String] {
        func show(_ effects: inout Effects) -> [String] {
            publishing.withLock {
                reads.removeAll { $0 === read }
                let valid = values.filter { !read.changed.contains($0.name) }
                for change in valid { table.entry(adding: change.name).isKnown = true }
                noteReads(valid)
                publishSeveral(unmasked(valid, 0), nil, &effects)
                for change in valid { if let entry = table.entry(change.name) { table.dropUnused(entry) } }
                return values.filter { read.changed.contains($0.name) }.map(\.name)
            }
        }
        guard turn.isMine else { return try inTurn(until: deadline) { effects, _ in show(&effects) } }
        // A body reads a preference that was declared in it.
        var effects = Effects()
        defer { effects.run(self, preferences_state()) }
        return show(&effects)
    }
}
