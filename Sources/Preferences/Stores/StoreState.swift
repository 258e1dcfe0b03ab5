/// What a store knows of its names and observers, guarded by the store's lock; no method calls out.
struct StoreState {
    /// Counts the batches of changes.
    private(set) var sequence: UInt64 = 0
    /// What waits to be delivered to observers, and who delivers.
    var queue = DeliveryQueue()
    /// Who announces a set just now, and how often one answers another.
    var announcing: [ThreadIdentity: Int] = [:]
    private var nodes: [String: PreferenceNode] = [:]
    /// How many nodes there may be before those that nobody uses are forgotten.
    private var nodeLimit = 64
    /// Who observes all names.
    private var subscriptions: [ChangeSubscription] = []
    /// How many subscriptions are for the moment before a change.
    private var earlyCount = 0
    /// Names of which was reported that a stronger layer hides what was set.
    private var reportedHidden: Set<String> = []
    /// The names that were declared secret, for good, as a value outlives its declaration.
    private(set) var secretNames: Set<String> = []
    /// Those that were declared since it was looked where they are stored.
    private var uncheckedSecrets: Set<String> = []

    /// The names that were declared or observed.
    var names: Dictionary<String, PreferenceNode>.Keys { nodes.keys }

    /// Makes slots stale, readies the signals of the names and, if anybody observes them, a batch for the queue, before a source
    /// changes; returns whether there is something to deliver.
    ///
    /// `hint` is what the store keeps for the one name that changes, if that is known.
    mutating func take(
        _ changes: ShortList<ValueChange>,
        of source: Source,
        in list: LayerList,
        _ publication: Publication,
        hint: PreferenceNode?,
        into publications: inout Publications
    ) -> Bool {
        var batch: ChangeBatch?
        if list.isScoped {
            takeScoped(changes, of: source, in: list, &batch, publication, &publications)
        } else {
            changes.forEach { change in
                let node = hint ?? nodes[change.name]
                guard node != nil || !subscriptions.isEmpty, let effect = list.effect(of: change, in: source) else {
                    return
                }
                if !subscriptions.isEmpty || node?.isObserved ?? false {
                    append(node, &batch, publication) { list.entry(for: change, in: source) }
                }
                if let node, node.invalidate(isShown: effect == .shown) { publications.addSignal(of: node) }
            }
        }
        guard let batch, batch.isObserved else { return false }
        sequence += 1
        queue.enqueue(batch, setBy: .current, depth: AnswerDepth.current)
        return true
    }

    // Not inlined, as what follows: most sets need none of it, and would make room for it.
    @inline(never)
    private mutating func takeScoped(
        _ changes: ShortList<ValueChange>,
        of source: Source,
        in list: LayerList,
        _ batch: inout ChangeBatch?,
        _ publication: Publication,
        _ publications: inout Publications
    ) {
        for entry in list.entries(for: changes, in: source) {
            let node = nodes[entry.name]
            if !subscriptions.isEmpty || node?.isObserved ?? false { append(node, &batch, publication) { entry } }
            if let node, node.invalidate(isShown: !entry.isBelow) { publications.addSignal(of: node) }
        }
    }

    /// Adds a change to a batch.
    @inline(never)
    private mutating func append(
        _ node: PreferenceNode?,
        _ batch: inout ChangeBatch?,
        _ publication: Publication,
        _ entry: () -> ChangeEntry
    ) {
        var new =
            batch
            ?? ChangeBatch(
                sequence: sequence + 1,
                origin: publication.origin,
                announcedUpTo: publication.announcedUpTo
            )
        new.append(entry())
        new.isObserved = new.isObserved || node?.isObserved ?? false || !new.entries.isEmpty
        batch = new
    }

    /// What to report of changes in the writable layer that a stronger layer hides; each name once.
    mutating func hidden(_ changes: ShortList<ValueChange>, in list: LayerList) -> [PreferencesError] {
        var errors: [PreferencesError] = []
        changes.forEach { change in
            guard change.new != nil, let name = list.writableLayer?.preferenceName(of: change.name),
                !(nodes[name]?.isUnreadable ?? false),
                let layer = list.layers[..<list.base].first(where: { $0.value(of: name) != nil })?.name,
                reportedHidden.insert(name).inserted
            else { return }
            errors.append(
                PreferencesError(
                    .hidden,
                    name: name,
                    "the value was stored, but hidden by layer \"\(layer)\", whose value is read as long as it is there"
                )
            )
        }
        return errors
    }
}

/// What becomes of a value that changed in one layer.
enum ChangeEffect {
    /// A stronger layer's answers as before, for those who can read it.
    case below
    case shown
}

extension LayerList {
    /// What a change does to what a name reads as; nil where the layer has the name in another spelling, as its values
    /// never change.
    fileprivate func effect(of change: ValueChange, in source: Source) -> ChangeEffect? {
        if isPlain { return .shown }
        for (index, layer) in layers.enumerated() {
            guard layer.source === source else {
                if layer.value(of: change.name) != nil { return .below }
                continue
            }
            guard layer.spelling == nil else { return nil }
            // Where the layer has or had nothing, one below answers, perhaps with the same value.
            let below = change.old == nil || change.new == nil ? value(of: change.name, from: index + 1) : nil
            return change.old ?? below == change.new ?? below ? .below : .shown
        }
        return nil
    }

    /// The changes of what names read as, if a layer shows a part of the source.
    fileprivate func entries(for changes: ShortList<ValueChange>, in source: Source) -> [ChangeEntry] {
        var new: [String: PropertyListValue?] = [:]
        changes.forEach { new.updateValue($0.new, forKey: $0.name) }
        return entries(for: new, in: source)
    }

    fileprivate func entries(for changes: [String: PropertyListValue?], in source: Source) -> [ChangeEntry] {
        var names: Set<String> = []
        for layer in layers where layer.source === source {
            names.formUnion(changes.keys.compactMap(layer.preferenceName))
        }
        return names.compactMap { name in
            let old = candidates(for: name)
            let new = candidates(from: 0) { index in
                let layer = layers[index]
                guard layer.source === source, let new = changes[layer.spelled(name)] else {
                    return layer.value(of: name)
                }
                return new
            }
            return old == new ? nil : ChangeEntry(name: name, old: old, new: new)
        }
    }

    fileprivate func entry(for change: ValueChange, in source: Source) -> ChangeEntry {
        if isPlain { return ChangeEntry(name: change.name, old: candidate(change.old), new: candidate(change.new)) }
        return ChangeEntry(
            name: change.name,
            old: candidates(for: change.name),
            new: candidates(for: change.name, with: change.new, in: source)
        )
    }

    private func candidate(_ value: PropertyListValue?) -> StoredCandidates {
        var candidates = StoredCandidates()
        if let value { candidates.append(candidate(value, at: 0)) }
        return candidates
    }
}

// MARK: Names

extension StoreState {
    /// Makes every later read go to the store.
    mutating func forgetValues() {
        for node in nodes.values { node.invalidate() }
    }

    /// The slot of a name, type and coding, with the caller counted as its user, and what is kept for the name.
    ///
    /// What was forgotten is to be released without the lock, as it may be anybody's code that ends with it.
    mutating func slot<Value>(
        for name: String,
        key: SlotKey
    ) -> (PreferenceSlot<Value>, PreferenceNode, forgotten: [PreferenceNode]) {
        let forgotten = nodes.count >= nodeLimit ? forget() : []
        let node = node(of: name)
        return (node.slot(for: key), node, forgotten)
    }

    /// Takes names out that nobody uses, as a program does that makes names up; each time when they have doubled.
    private mutating func forget() -> [PreferenceNode] {
        let forgotten = nodes.filter { $0.value.isForgettable }
        for name in forgotten.keys { nodes[name] = nil }
        nodeLimit = Swift.max(64, nodes.count * 2)
        return Array(forgotten.values)
    }

    /// Notes that a name's stored value can't be read.
    mutating func noteUnreadable(_ name: String) {
        node(of: name).noteUnreadable()
    }

    /// Notes names that were declared secret; returns whether one is new.
    mutating func noteSecrets(_ names: Set<String>) -> Bool {
        let new = names.subtracting(secretNames)
        secretNames.formUnion(new)
        uncheckedSecrets.formUnion(new)
        return !new.isEmpty
    }

    mutating func takeUncheckedSecrets() -> Set<String> { exchange(&uncheckedSecrets, with: []) }

    private mutating func node(of name: String) -> PreferenceNode {
        if let node = nodes[name] { return node }
        let node = PreferenceNode()
        nodes[name] = node
        return node
    }
}

// MARK: Subscriptions

extension StoreState {
    /// Adds a subscription to these names, or to all.
    mutating func subscribe(_ subscription: ChangeSubscription) {
        guard let names = subscription.names else {
            subscriptions.append(subscription)
            return
        }
        if subscription.timing == .willSet { earlyCount += 1 }
        for name in names { node(of: name).subscriptions.append(subscription) }
    }

    /// Takes a subscription out; the caller lets go of it once the lock is released.
    mutating func unsubscribe(_ subscription: ChangeSubscription) {
        guard let names = subscription.names else {
            subscriptions.removeAll { $0 === subscription }
            return
        }
        if subscription.timing == .willSet { earlyCount -= 1 }
        for name in names { nodes[name]?.subscriptions.removeAll { $0 === subscription } }
    }

    /// Who is to be notified of a batch that was made: of the moment before it, who was not told then, and of the moment
    /// after it.
    func subscribers(to batch: ChangeBatch) -> [ChangeSubscription] {
        let late = subscribers(to: batch, at: .didSet)
        guard earlyCount > 0 else { return late }
        return subscribers(to: batch, at: .willSet).filter { $0.identifier > batch.announcedUpTo } + late
    }

    /// Those who subscribed before a batch, each once, in the order in which they subscribed.
    private func subscribers(to batch: ChangeBatch, at timing: PreferenceTiming) -> [ChangeSubscription] {
        guard timing == .didSet || earlyCount > 0 else { return [] }
        var found = timing == .didSet && !batch.entries.isEmpty ? subscriptions : []
        var sources = found.isEmpty ? 0 : 1
        for entries in [batch.entries, batch.entriesBelow] {
            for entry in entries {
                guard let node = nodes[entry.name], node.isObserved else { continue }
                sources += 1
                for own in node.subscriptions where own.timing == timing { found.append(own) }
            }
        }
        if sources > 1 {
            found.sort { $0.identifier < $1.identifier }
            var last: UInt64?
            found.removeAll { subscription in
                defer { last = subscription.identifier }
                return subscription.identifier == last
            }
        }
        found.removeAll { $0.start >= batch.sequence }
        return found
    }

    struct Announcement: Sendable {
        let batch: ChangeBatch
        let subscribers: [ChangeSubscription]
    }

    /// What is to be announced of a set that is about to be made, and to whom: to those up to a number, as later ones are
    /// notified afterwards.
    func announcement(
        of changes: ValueChanges,
        in source: Source,
        _ list: LayerList,
        upTo newest: UInt64
    ) -> Announcement? {
        guard earlyCount > 0 else { return nil }
        var batch = ChangeBatch(sequence: sequence + 1, origin: .local)
        for entry in list.entries(for: changes.dictionary, in: source) { batch.append(entry) }
        let subscribers = subscribers(to: batch, at: .willSet).filter { $0.identifier <= newest }
        return subscribers.isEmpty ? nil : Announcement(batch: batch, subscribers: subscribers)
    }
}
