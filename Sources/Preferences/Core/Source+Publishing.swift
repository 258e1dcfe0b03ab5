// Changes of the shown values, each in one step for all readers.

extension Source {
    /// The values by name. Copies references under the lock, and reads the values some at a time.
    var contents: [(String, PropertyListValue)] {
        var entries: [Entry] = []
        publishing.withLock {
            entries.reserveCapacity(table.count)
            table.forEach { entries.append($0) }
        }
        var found: [(String, PropertyListValue)] = []
        for start in stride(from: 0, to: entries.count, by: 256) {
            publishing.withLock {
                for entry in entries[start..<min(start + 256, entries.count)] {
                    if let value = entry.value { found.append((entry.name, value)) }
                }
            }
        }
        return found
    }

    /// Shows what others have changed.
    func publish(_ update: ExternalChanges, _ effects: inout Effects) {
        switch update {
        case .none: break
        case .changes(let transactions): for changes in transactions { publish(changes, nil, 0, &effects) }
        case .contents(let transactions, let changes):
            for changes in transactions { publish(changes, nil, 0, &effects) }
            let isEmpty = publishing.withLock { table.count == 0 && keptEntries.isEmpty && views.isEmpty }
            if isEmpty, load(changes, &effects) { return }
            var values: [String: PropertyListValue?] = [:]
            publishing.withLock {
                table.forEach { entry in
                    if (entry.kept?.stored ?? entry.value) != nil || entry.kept != nil {
                        values.updateValue(nil, forKey: entry.name)
                    }
                }
            }
            for change in changes { values.updateValue(change.value, forKey: change.name) }
            publish(values.map { StoredChange($0.key, $0.value) }, nil, 0, &effects)
        }
    }

    /// Fills the empty table, some names at a time; stops and returns false at a name that is observed.
    private func load(_ changes: [StoredChange], _ effects: inout Effects) -> Bool {
        publishing.withLock { table.reserve(changes.count) }
        var start = 0
        while start < changes.count {
            let end = min(start + 256, changes.count)
            let isDone = publishing.withLock {
                for change in changes[start..<end] {
                    let entry = table.entry(adding: change.name)
                    if entry.nodes.contains(where: { !$0.node.subscriptions.isEmpty }) { return false }
                    for (node, _) in entry.nodes { effects.note(node) }
                    effects.release(table.set(entry, to: change.value))
                }
                return true
            }
            if !isDone { return false }
            start = end
        }
        return true
    }

    /// Changes the values and notifies the stores that show them, in one step for all readers.
    ///
    /// - Parameters:
    ///   - announced: The last subscription that was notified before; nil for an external change.
    ///   - limit: The last keeping that the change supersedes.
    func publish(_ changes: [StoredChange], _ announced: UInt64?, _ limit: Int, _ effects: inout Effects) {
        publishing.withLock {
            if !reads.isEmpty { noteReads(changes) }
            if changes.count == 1, views.isEmpty, keptEntries.isEmpty {
                // A backend might pass on what another store has set, whose node isn't one of this source.
                let entry = announced == nil ? table.entry(changes[0].name) : entry(of: changes[0])
                if let entry, publishPlain(changes[0], entry, &effects) { return }
            }
            publishSeveral(unmasked(changes, limit), announced, &effects)
        }
    }

    /// Publishes a change that nobody observes and one layer shows; returns false, and does nothing, for others.
    private func publishPlain(_ change: StoredChange, _ entry: Entry, _ effects: inout Effects) -> Bool {
        guard entry.value != change.value else { return true }
        guard entry.nodes.count == 1, case let node = entry.nodes[0].node, node.plain != nil, node.subscriptions.isEmpty
        else { return false }
        effects.note(node)
        effects.release(table.set(entry, to: change.value))
        return true
    }

    /// A node before a change. Not a tuple, of which an array is destroyed by the runtime.
    private struct Touched {
        unowned(unsafe) let node: Node
        let first: PropertyListValue?
        let old: [Candidate]

        init(_ node: Node) {
            self.node = node
            (first, old) = (node.first, node.needsCandidates ? node.candidates() : [])
        }
    }

    private struct RealChange {
        let entry: Entry
        let value: PropertyListValue?
    }

    func publishSeveral(_ changes: [StoredChange], _ announced: UInt64?, _ effects: inout Effects) {
        var touched: [Touched] = []
        var seen: [(core: StoreCore, name: String, old: [Candidate])] = []
        var real: [RealChange] = []
        touched.reserveCapacity(changes.count)
        real.reserveCapacity(changes.count)
        for change in changes {
            guard let entry = change.value == nil ? table.entry(change.name) : table.entry(adding: change.name),
                entry.value != change.value || entry.isTouched
            else { continue }
            real.append(RealChange(entry: entry, value: change.value))
            if entry.isTouched { continue }  // a line may have a name twice
            entry.isTouched = true
            for (node, _) in entry.nodes where !node.isTouched {
                node.isTouched = true
                touched.append(Touched(node))
            }
            if views.isEmpty { continue }
            views.forEach(of: change.name) { view in
                guard let name = view.core.layers[view.layer].name(of: change.name) else { return }
                seen.append((view.core, name, view.core.candidates(name)))
            }
        }
        guard !real.isEmpty else { return }
        for change in real {
            change.entry.isTouched = false
            effects.release(table.set(change.entry, to: change.value))
        }
        let first = effects.cores.count
        for before in touched {
            let (node, first, old) = (before.node, before.first, before.old)
            node.isTouched = false
            let new = node.needsCandidates ? node.candidates() : []
            if first != node.first || node.usesWeaker && old != new { effects.note(node) } else { node.invalidate() }
            if !node.subscriptions.isEmpty, old != new {
                effects.add(ChangeEntry(node: node, name: node.name, old: old, new: new), to: node.core)
            }
        }
        for (core, name, old) in seen {
            let new = core.candidates(name)
            guard old.first?.value != new.first?.value || core.isFollowed && old != new else { continue }
            if core.isFollowed { core.noted.insert(name) }
            effects.add(ChangeEntry(node: nil, name: name, old: old, new: new), to: core)
        }
        for core in effects.cores[first...] { core.enqueue(announced) }
    }
}
