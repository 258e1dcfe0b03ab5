/// The names and observers of a store, guarded by the store's lock; no method calls out.
struct StoreState {
    /// The number of batches of changes so far.
    private(set) var sequence: UInt64 = 0
    /// The pending deliveries to observers, and the thread that delivers.
    var queue = DeliveryQueue()
    /// The threads that are announcing a set, each with the depth of its sets in response to announcements.
    var announcing: [ThreadIdentity: Int] = [:]
    private var nodes = NodeTable()
    /// The number of nodes above which unused ones are removed.
    private var nodeLimit = 64
    /// The cells that reads of sources that are queried by name may have filled since their values were dropped.
    private var loaded: [PreferenceCell] = []
    /// The number of these cells above which unused ones are removed.
    private var loadedLimit = 64
    /// The subscriptions to all names.
    private var subscriptions: [ChangeSubscription] = []
    /// The names with subscriptions of their own.
    private var observedNames: Set<String> = []
    /// The number of subscriptions that are notified before a change.
    private var earlyCount = 0
    /// The names for which a hidden set was reported, that is, one below a stronger layer's value.
    private var reportedHidden: Set<String> = []
    /// The names that were declared secret; never removed, because a value outlives its declaration.
    private(set) var secretNames: Set<String> = []
    /// The names declared secret since the last check of where they are stored.
    private var uncheckedSecrets: Set<String> = []
    /// The former names of the preferences.
    private(set) var formerNames = FormerNames()
    /// The mistakes in declarations, by their descriptions; `nil` for one that was reported.
    private var misuses: [String: PreferenceError?] = [:]
    private var hasUnreportedMisuses = false
    /// The number of times that former names were declared that have to be checked, or names that may be former ones.
    private(set) var formerNameDeclarations = 0
    /// The same number when they were checked last.
    private var checkedDeclarations = 0
    /// Whether the store replaces another one, where its preferences are declared, too.
    var isReplacement = false
    /// The stores that replace this one.
    private(set) var replacements: [WeakCore] = []

    struct WeakCore {
        weak var core: StoreCore?
    }

    /// The names that were declared or observed, and the former names of these.
    var names: Set<String> { Set(nodes.entries.map(\.name)).union(formerNames.all) }

    /// Invalidates what the store has cached of a change of a source: makes slots stale, collects the signals of the names and, if there are
    /// observers, enqueues a batch. Returns whether there is something to deliver.
    ///
    /// - Parameter hint: The node of the only changed name, if known.
    mutating func invalidate(
        _ changes: ShortList<ValueChange>,
        of source: Source,
        in list: LayerList,
        _ context: ChangeContext,
        hint: PreferenceNode?,
        into notifications: inout DeferredNotifications
    ) -> Bool {
        var batch: ChangeBatch?
        if !formerNames.isEmpty || list.isScoped {
            invalidateEntries(changes, of: source, in: list, &batch, context, &notifications)
        } else {
            changes.forEach { change in
                let node = hint ?? nodes[change.name]
                guard node != nil || !subscriptions.isEmpty, let effect = list.effect(of: change, in: source) else {
                    return
                }
                if !subscriptions.isEmpty || node?.isObserved ?? false {
                    append(node, &batch, context) { list.entry(for: change, in: source) }
                }
                guard let node, node.invalidate(isShown: effect == .shown) else { return }
                notifications.addSignal(of: node, plain: { list.isPlain ? change : nil }) {
                    list.entry(for: change, in: source)
                }
            }
        }
        guard let batch, batch.isObserved else { return false }
        enqueue(batch)
        return true
    }

    @inline(__always)
    private mutating func enqueue(_ batch: ChangeBatch) {
        sequence += 1
        queue.enqueue(batch, setBy: .current, depth: FeedbackDepth.current)
    }

    /// Invalidates what is cached, name by name, for layers that show a part of the source and for preferences with former names, each
    /// of which reads the values under all its names.
    // Kept out of line, as the next function is: most sets don't need it, but would reserve stack space for it.
    @inline(never)
    private mutating func invalidateEntries(
        _ changes: ShortList<ValueChange>,
        of source: Source,
        in list: LayerList,
        _ batch: inout ChangeBatch?,
        _ context: ChangeContext,
        _ notifications: inout DeferredNotifications
    ) {
        let changes = changes.dictionary
        for entry in list.entries(for: changes, in: source) {
            if formerNames.concern(entry.name) {
                appendStored(&batch, context, entry.name) { entry }
                continue
            }
            let node = nodes[entry.name]
            if !subscriptions.isEmpty || node?.isObserved ?? false { append(node, &batch, context) { entry } }
            if let node, node.invalidate(isShown: !entry.isBelow) { notifications.addSignal(of: node) { entry } }
        }
        for entry in renamedEntries(for: changes, in: source, list) {
            guard let node = nodes[entry.name] else { continue }
            if node.isObserved { append(node, &batch, context) { entry } }
            if node.invalidate(isShown: !entry.isBelow) { notifications.addSignal(of: node) { entry } }
        }
    }

    /// Returns the changes of the preferences with former names that `changes` of a source make.
    private func renamedEntries(
        for changes: [String: PropertyListValue?],
        in source: Source,
        _ list: LayerList
    ) -> [ChangeEntry] {
        guard !formerNames.isEmpty else { return [] }
        var names: Set<String> = []
        for layer in list.layers where layer.source === source {
            for change in changes.keys {
                guard let name = layer.preferenceName(of: change), formerNames.concern(name) else { continue }
                names.insert(formerNames.preference(storedAs: name) ?? name)
            }
        }
        return names.sortedByBytes.compactMap { name in
            var entry = list.entry(for: name, formerly: formerNames[name], after: changes, in: source)
            entry?.isOfSeveralNames = true
            return entry
        }
    }

    /// Adds a change of a single name of a preference with former names, for observers of the whole store or of that name.
    private mutating func appendStored(
        _ batch: inout ChangeBatch?,
        _ context: ChangeContext,
        _ name: String,
        _ entry: () -> ChangeEntry
    ) {
        guard !subscriptions.isEmpty || nodes[name]?.isObserved ?? false else { return }
        var new = batch ?? newBatch(context)
        new.append(stored: entry())
        new.isObserved = true
        batch = new
    }

    private func newBatch(_ context: ChangeContext) -> ChangeBatch {
        ChangeBatch(sequence: sequence + 1, origin: context.origin, announcedUpTo: context.announcedUpTo)
    }

    /// Adds a change to the batch, which it creates if necessary.
    @inline(never)
    private mutating func append(
        _ node: PreferenceNode?,
        _ batch: inout ChangeBatch?,
        _ context: ChangeContext,
        _ entry: () -> ChangeEntry
    ) {
        var new = batch ?? newBatch(context)
        new.append(entry())
        new.isObserved = new.isObserved || node?.isObserved ?? false || !new.entries.isEmpty
        batch = new
    }

    /// Returns the errors for sets of the writable layer that a stronger layer hides; one for each name only.
    mutating func hidden(_ changes: ShortList<ValueChange>, in list: LayerList) -> [PreferenceError] {
        var errors: [PreferenceError] = []
        changes.forEach { change in
            guard change.new != nil, let name = list.writableLayer?.preferenceName(of: change.name),
                let layer = hidingLayer(of: name, in: list), reportedHidden.insert(name).inserted
            else { return }
            errors.append(
                PreferenceError(
                    .hidden,
                    name: name,
                    "the value was stored, but the layer \"\(layer)\" has another one, which is used; remove that one to use the stored value"
                )
            )
        }
        return errors
    }

    /// Returns the layer above the writable one whose value is used, as far as it is known which values can be.
    private func hidingLayer(of name: String, in list: LayerList) -> String? {
        if let node = nodes[name], node.isFirstUnused { return node.hidingLayer }
        return list.layers[..<list.base].first { layer in
            layer.value(of: name) != nil || formerNames[name].contains { layer.value(of: $0) != nil }
        }?.name
    }
}

// MARK: Names

extension StoreState {
    /// Invalidates all slots, so that later reads go to the store.
    mutating func dropCachedValues() {
        for entry in nodes.entries { entry.node.invalidate() }
    }

    /// Records that a read of a source that is queried by name may fill a cell.
    mutating func noteLoading(_ cell: PreferenceCell) {
        guard !exchange(&cell.isLoaded, with: true) else { return }
        if loaded.count >= loadedLimit {
            loaded.removeAll { !$0.isUsed }
            loadedLimit = Swift.max(64, loaded.count * 2)
        }
        loaded.append(cell)
    }

    /// Invalidates the slots that such reads may have filled; those that were not read since the last call are stale already.
    mutating func dropLoadedValues() {
        for cell in exchange(&loaded, with: []) {
            cell.isLoaded = false
            cell.invalidate()
        }
    }

    /// Returns the names with observers, or also those whose readers Observation may track; `nil` if an observer waits for changes of
    /// all names.
    func observedNames(includingTracked: Bool) -> Set<String>? {
        guard subscriptions.isEmpty else { return nil }
        var names = observedNames
        if includingTracked { for entry in nodes.entries where entry.node.mayHaveReaders { names.insert(entry.name) } }
        return formerNames.isEmpty ? names : names.reduce(into: names) { $0.formUnion(formerNames[$1]) }
    }

    func forEachNode(_ body: (PreferenceNode) -> Void) { for entry in nodes.entries { body(entry.node) } }

    /// Returns the node of a declared name, the nodes that were removed because they are no longer used, and whether the name has to be
    /// compared with former names.
    ///
    /// The caller releases those without the lock, because their deinitializers may run code of the program, and notifies their readers.
    mutating func declare(_ name: String) -> (PreferenceNode, removed: [PreferenceNode], mustCheck: Bool) {
        let removed = nodes.count >= nodeLimit ? removeUnused() : []
        let node = nodes.node(of: name)
        return (node, removed, !formerNames.isEmpty && mustCheckFormerNames(with: node, of: name))
    }

    /// Removes unused names, as a program leaves behind that generates names; runs each time their number has doubled.
    ///
    /// Names that were only read may have readers that Observation tracks; they are removed if they are many.
    private mutating func removeUnused() -> [PreferenceNode] {
        var removed = nodes.remove { $0.isUnused }
        let idleCount = nodes.entries.count { $0.node.isIdle }
        if idleCount > Self.mostIdleNodes { removed += nodes.remove { $0.isIdle } }
        if !isReplacement { for entry in removed { formerNames.removeAll(of: entry.name) } }
        nodeLimit = Swift.max(64, nodes.count * 2)
        return removed.map(\.node)
    }

    private static var mostIdleNodes: Int { 4096 }

    /// The number of names that have a node.
    var nodeCount: Int { nodes.count }

    /// Records that a name's strongest stored value isn't used, but `used`, if any.
    mutating func noteFirstUnused(_ name: String, but used: StoredCandidate?, in list: LayerList) {
        nodes.node(of: name).noteFirstUnused(hiddenBy: used.flatMap(list.layerAboveWritable))
    }

    /// Records names that were declared secret; returns whether one is new.
    mutating func noteSecrets(_ names: Set<String>) -> Bool {
        let new = names.union(names.flatMap { formerNames[$0] }).subtracting(secretNames)
        secretNames.formUnion(new)
        uncheckedSecrets.formUnion(new)
        return !new.isEmpty
    }

    /// Returns whether a name was declared secret, or may turn out to be a former name of one that was.
    func isSecret(_ name: String) -> Bool {
        secretNames.contains(name)
            || !formerNames.isEmpty && !isDeclared(name)
                && !secretNames.isDisjoint(with: formerNames.uncheckedPreferences(storedAs: name))
    }

    mutating func drainUncheckedSecrets() -> Set<String> { exchange(&uncheckedSecrets, with: []) }

    /// Leaves secrets to the next check.
    mutating func keepUnchecked(secrets names: Set<String>) { uncheckedSecrets.formUnion(names) }

    /// Records a mistake in a declaration; returns whether it is new.
    mutating func noteMisuse(_ error: PreferenceError) -> Bool {
        guard misuses[error.description] == nil else { return false }
        misuses.updateValue(error, forKey: error.description)
        hasUnreportedMisuses = true
        return true
    }

    /// Returns the mistakes that were not reported yet, in the order of their descriptions.
    mutating func drainMisuses() -> [PreferenceError] {
        guard hasUnreportedMisuses else { return [] }
        hasUnreportedMisuses = false
        let new = misuses.sortedByBytes.compactMap(\.value)
        misuses = misuses.mapValues { _ in nil }
        return new
    }
}

// MARK: Former names

extension StoreState {
    /// Returns whether a declaration of a name exists.
    func isDeclared(_ name: String) -> Bool { nodes[name]?.isDeclared ?? false }

    /// Returns the former names as they are to be used after the check of those declared since the last one.
    func checkedFormerNames() -> FormerNames { formerNames.checked(isDeclared) }

    /// Records the former names of a preference; returns whether they have to be checked.
    mutating func noteFormerNames(_ names: [String], of name: String) -> Bool {
        guard formerNames.note(names, of: name, isDeclared) else { return false }
        // The next read goes to the store, and so checks them.
        nodes.node(of: name).invalidate()
        noteUncheckedFormerNames()
        return true
    }

    /// Records that a preference is migrated from its former name; returns whether that has to be checked.
    mutating func noteMigration(_ pair: FormerNames.Pair) -> Bool {
        guard formerNames.noteMigration(pair) else { return false }
        nodes[pair.name]?.invalidate()
        noteUncheckedFormerNames()
        return true
    }

    /// Returns whether a name that is declared now may be a former name of another preference.
    @inline(never)
    private mutating func mustCheckFormerNames(with node: PreferenceNode, of name: String) -> Bool {
        guard !isReplacement, !node.isDeclared else { return false }
        let other = formerNames.preference(storedAs: name)
        guard other != nil || !formerNames.uncheckedPreferences(storedAs: name).isEmpty else {
            return false
        }
        if let other { nodes[other]?.invalidate() }
        noteUncheckedFormerNames()
        return true
    }

    mutating func noteUncheckedFormerNames() { formerNameDeclarations += 1 }

    /// Whether former names have to be checked.
    var hasUncheckedFormerNames: Bool { checkedDeclarations != formerNameDeclarations }

    /// Records that the former names are checked, unless others were declared since the check began; returns whether they are.
    mutating func noteCheckedFormerNames(after declarations: Int) -> Bool {
        guard declarations == formerNameDeclarations else { return false }
        checkedDeclarations = declarations
        return true
    }

    /// Replaces the former names in use, invalidates the preferences whose values that changes, and enqueues their changes; returns
    /// whether there is something to deliver.
    mutating func useFormerNames(
        _ names: FormerNames,
        in list: LayerList,
        into notifications: inout DeferredNotifications
    ) -> Bool {
        let old = exchange(&formerNames, with: names)
        var batch: ChangeBatch?
        for name in names.preferences(differentIn: old) {
            if secretNames.contains(name) { _ = noteSecrets([name]) }
            guard let node = nodes[name] else { continue }
            let (before, now) = (
                list.candidates(for: name, formerly: old[name]), list.candidates(for: name, formerly: names[name])
            )
            guard before != now else {
                node.invalidate()
                continue
            }
            let entry = ChangeEntry(name: name, old: before, new: now, isOfSeveralNames: true)
            if node.isObserved { append(node, &batch, ChangeContext(origin: .local)) { entry } }
            if node.invalidate(isShown: !entry.isBelow) { notifications.addSignal(of: node) { entry } }
        }
        for pair in names.ignored.subtracting(old.ignored) {
            _ = noteMisuse(
                PreferenceError(
                    .misuse,
                    name: pair.name,
                    "the former name \"\(pair.former)\" is ignored, because another preference has it; remove one of the two"
                )
            )
        }
        guard let batch, batch.isObserved else { return false }
        enqueue(batch)
        return true
    }

    /// Adds a store that replaces this one; returns the others, which the caller releases without the lock.
    mutating func addReplacement(_ core: StoreCore) -> [StoreCore] {
        let others = replacements.compactMap(\.core)
        replacements.removeAll { $0.core == nil }
        replacements.append(WeakCore(core: core))
        return others
    }
}

// MARK: Subscriptions

extension StoreState {
    /// Adds a subscription to its names, or to all names.
    mutating func subscribe(_ subscription: ChangeSubscription) {
        guard let names = subscription.names else {
            subscriptions.add(subscription)
            return
        }
        if subscription.timing == .willSet { earlyCount += 1 }
        for name in names {
            nodes.node(of: name).subscriptions.add(subscription)
            observedNames.insert(name)
        }
    }

    /// Removes a subscription, which the caller releases without the lock.
    mutating func unsubscribe(_ subscription: ChangeSubscription) {
        guard let names = subscription.names else {
            subscriptions.remove(subscription)
            return
        }
        if subscription.timing == .willSet { earlyCount -= 1 }
        for name in names {
            nodes[name]?.subscriptions.remove(subscription)
            if nodes[name]?.isObserved != true { observedNames.remove(name) }
        }
    }

    /// Returns the subscriptions to notify of a batch that is stored: those for the moment before the change that were not
    /// notified then, followed by those for the moment after it.
    func subscribers(to batch: ChangeBatch) -> [ChangeSubscription] {
        let late = subscribers(to: batch, at: .didSet)
        guard earlyCount > 0 else { return late }
        return subscribers(to: batch, at: .willSet).filter { $0.identifier > batch.announcedUpTo } + late
    }

    /// Returns the subscriptions that began before a batch, each once, in the order in which they began.
    private func subscribers(to batch: ChangeBatch, at timing: PreferenceTiming) -> [ChangeSubscription] {
        guard timing == .didSet || earlyCount > 0 else { return [] }
        let isStored = !batch.entries.isEmpty || !batch.entriesOfStoredNames.isEmpty
        var found = timing == .didSet && isStored ? subscriptions : []
        var sources = found.isEmpty ? 0 : 1
        for entries in [batch.entries, batch.entriesBelow, batch.entriesOfStoredNames] {
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

    /// Returns the announcement of a set before it is made, for subscriptions with a number up to `newest`; later ones are
    /// notified afterwards.
    func announcement(
        of changes: ValueChanges,
        in source: Source,
        _ list: LayerList,
        upTo newest: UInt64
    ) -> Announcement? {
        guard earlyCount > 0 else { return nil }
        var batch = ChangeBatch(sequence: sequence + 1, origin: .local)
        let changes = changes.dictionary
        for entry in list.entries(for: changes, in: source) where !formerNames.concern(entry.name) {
            batch.append(entry)
        }
        for entry in renamedEntries(for: changes, in: source, list) { batch.append(entry) }
        let subscribers = subscribers(to: batch, at: .willSet).filter { $0.identifier <= newest }
        return subscribers.isEmpty ? nil : Announcement(batch: batch, subscribers: subscribers)
    }
}
