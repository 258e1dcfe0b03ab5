internal import DurableFile

/// All that a store knows, guarded by the store's lock; no method calls out.
struct StoreState {
    /// Whether `contents` are the source's.
    private(set) var isLoaded = false
    private(set) var contents = StoreContents()
    /// The names that the source was asked for; nil where it lists all it has.
    private(set) var discovered: Set<String>?
    /// Counts the batches of changes.
    private(set) var sequence: UInt64 = 0
    /// What waits to be delivered to observers, and who delivers.
    var queue = DeliveryQueue()
    /// Who announces a set just now, and how often one answers another.
    var announcing: [ThreadIdentity: Int] = [:]
    /// Layered stores that show this one's values.
    private(set) var dependents: [StoreDependent] = []
    /// Who observes all names.
    private var subscriptions: [ChangeSubscription] = []
    private var nodes: [String: PreferenceNode] = [:]
    /// How many subscriptions there are, and how many of them to the moment before a change: a set without any does
    /// less.
    private var subscriptionCount = 0
    private(set) var announcedCount = 0

    /// Takes the source's contents before anybody has read; nobody is told.
    ///
    /// Where these are not all that the source has, names are asked for one by one; see `DiscoveringBackend`.
    mutating func begin(with contents: StoreContents, isComplete: Bool = true) {
        guard !isLoaded else { return }
        self.contents = contents
        discovered = isComplete ? nil : Set(contents.merged.keys)
    }

    /// Takes what is stored under names that nobody has read before; so nobody is told.
    mutating func discover(_ values: [String: PropertyListValue], layer: Int? = nil) {
        for (name, value) in values { contents.set(value, for: name, layer: layer) }
    }

    /// Notes that the source has been asked for the names.
    mutating func finishDiscovery(of names: Set<String>) {
        discovered?.formUnion(names)
    }

    /// Which of the names the source must be asked for before they are read; none for a source that lists its names.
    func undiscovered(among names: some Collection<String> & Sendable) -> Set<String> {
        guard let discovered, !names.isEmpty else { return [] }
        return Set(names).subtracting(discovered)
    }

    /// The names that were declared or observed, as `undiscovered(among:)`.
    var undiscoveredDeclarations: Set<String> { undiscovered(among: Set(nodes.keys)) }

    /// Lets everybody read, with defaults where the source could not be loaded; false where they do already.
    mutating func finishLoading() -> Bool {
        guard !isLoaded else { return false }
        isLoaded = true
        return true
    }

    /// Makes `changes` what everybody reads from now on; nil where nothing differs.
    mutating func take(
        _ changes: [String: PropertyListValue?],
        layer: Int? = nil,
        origin: PreferenceChangeOrigin
    ) -> ChangeBatch? {
        var batch = ChangeBatch(sequence: sequence + 1, origin: origin)
        batch.isObserved = !subscriptions.isEmpty
        // Entries are only made where somebody may read them.
        let isObserved = subscriptionCount > 0
        var isChanged = false
        for (name, value) in changes {
            if isObserved, let entry = contents.change(of: name, to: value, layer: layer) {
                batch.append(entry)
            }
            let effect = contents.set(value, for: name, layer: layer)
            isChanged = isChanged || effect == .shown
            guard effect != .none, let node = nodes[name] else { continue }
            if effect == .shown || node.isUnreadable { batch.signals.endEpoch(of: node.signal) }
            node.invalidate(effect)
            batch.isObserved = batch.isObserved || node.isObserved
        }
        guard isChanged || !batch.isEmpty else { return nil }
        sequence += 1
        return batch
    }
}

extension StoreState {
    /// Makes every later read go to the store.
    mutating func forgetValues() {
        for node in nodes.values { node.invalidate() }
    }

    /// The slot of a name, type and coding, with the caller counted as its user, and the name's signal.
    mutating func slot<Value>(for name: String, key: SlotKey) -> (PreferenceSlot<Value>, PreferenceSignal) {
        let node = node(of: name)
        return (node.slot(for: key), node.signal)
    }

    /// Whether this is the first report of a name's stored value by the slot's type and coding.
    mutating func isFirstReport(on name: String, by key: SlotKey) -> Bool {
        node(of: name).isFirstReport(by: key)
    }

    private mutating func node(of name: String) -> PreferenceNode {
        if let node = nodes[name] { return node }
        let node = PreferenceNode()
        nodes[name] = node
        return node
    }

    /// Adds a layered store above this one, and forgets those that are gone.
    ///
    /// The caller lets go of what is returned once the lock is released: it may be the last to hold a store.
    mutating func attach(_ dependent: StoreDependent) -> [PreferenceStore] {
        let stores = dependents.map(\.store)
        dependents = zip(dependents, stores).filter { $0.1 != nil }.map(\.0) + [dependent]
        return stores.compactMap(\.self)
    }

    /// Adds a subscription to these names, or to all.
    mutating func subscribe(_ subscription: ChangeSubscription) {
        subscriptionCount += 1
        guard let names = subscription.names else {
            subscriptions.append(subscription)
            return
        }
        if subscription.timing == .willSet { announcedCount += 1 }
        for name in names { node(of: name).subscriptions.append(subscription) }
    }

    /// Takes a subscription out; the caller lets go of it once the lock is released.
    mutating func unsubscribe(_ subscription: ChangeSubscription) {
        subscriptionCount -= 1
        guard let names = subscription.names else {
            subscriptions.removeAll { $0 === subscription }
            return
        }
        if subscription.timing == .willSet { announcedCount -= 1 }
        for name in names { nodes[name]?.subscriptions.removeAll { $0 === subscription } }
    }

    /// Those who are to be told of a batch: subscribed before it, each once, in the order in which they subscribed.
    func subscribers(to batch: ChangeBatch, at timing: PreferenceTiming = .didSet) -> [ChangeSubscription] {
        guard timing == .didSet || announcedCount > 0 else { return [] }
        var found = timing == .didSet && !batch.entries.isEmpty ? subscriptions : []
        var sources = found.isEmpty ? 0 : 1
        for entry in batch.entries + batch.entriesBelow {
            let own = nodes[entry.name]?.subscriptions.filter { $0.timing == timing } ?? []
            guard !own.isEmpty else { continue }
            sources += 1
            found += own
        }
        if sources > 1 {
            found.sort { $0.identifier < $1.identifier }
            var last: UInt64?
            found.removeAll { subscription in
                defer { last = subscription.identifier }
                return subscription.identifier == last
            }
        }
        return found.filter { $0.start < batch.sequence }
    }

    /// A batch of what `changes` would change, for those who are told before; nil where nobody is.
    func announcement(of changes: [String: PropertyListValue?]) -> ChangeBatch? {
        guard announcedCount > 0 else { return nil }
        var batch = ChangeBatch(sequence: sequence + 1, origin: .local)
        let layer = contents.writableLayer
        guard layer != nil || contents.layers.isEmpty else { return nil }
        for (name, value) in changes {
            if let entry = contents.change(of: name, to: value, layer: layer) { batch.append(entry) }
        }
        return batch.isEmpty ? nil : batch
    }
}
