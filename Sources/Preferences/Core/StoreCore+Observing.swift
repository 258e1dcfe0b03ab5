internal import CPreferences
internal import Synchronization

// The observers of a store, and the delivery of transactions to them.

extension StoreCore {
    /// The number of the newest subscription of the process; increased under the publish lock of its store.
    fileprivate static let lastNumber = Atomic<UInt64>(0)
    /// The number of those that are notified before a change.
    static let willSetCount = Atomic<Int>(0)
    /// The length of a chain of observers' reactions above which it counts as a loop.
    static let depthLimit: Int64 = 1000
    /// The number of batches of other threads that a thread delivers before it hands the rest over.
    fileprivate static let foreignLimit = 64

    /// Subscribes to some nodes, or to all names; passes the state to `begin` in one step with that, under the publish lock: it must not
    /// call out. Returns what cancels it.
    func subscribe(
        to nodes: [Node]?,
        at timing: PreferenceTiming,
        begin: () -> Void = {},
        _ call: @escaping @Sendable (ChangeBatch) -> Void
    ) -> @Sendable () -> Void {
        prepare(nodes.map(NamesInUse.nodes) ?? .all)
        if timing == .willSet { Self.willSetCount.wrappingAdd(1, ordering: .relaxed) }
        let subscription = publishing.withLock {
            let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
            let subscription = Subscription(timing, number, after: sequence, nodes ?? [], call)
            if let nodes {
                for node in nodes { node.subscriptions.add(subscription) }
            } else {
                if storeSubscriptions.isEmpty { addViews() }
                storeSubscriptions.add(subscription)
            }
            begin()
            return subscription
        }
        // A strong reference, as each observation keeps its store anyway: a weak one would make all others slower.
        return { [self] in
            guard !subscription.isCancelled.exchange(true, ordering: .releasing) else { return }
            if timing == .willSet { Self.willSetCount.wrappingSubtract(1, ordering: .relaxed) }
            remove(subscription)
        }
    }

    /// Notifies the readers of a name through Observation, although its value is the same: a control may show another one.
    package func signal(_ node: Node) {
        var effects = Effects()
        publishing.withLock { effects.note(node) }
        if let source = layers.first?.source { effects.run(source, preferences_state()) }
    }

    private func remove(_ subscription: Subscription) {
        publishing.withLock {
            for node in subscription.nodes { node.subscriptions.remove(subscription) }
            guard subscription.nodes.isEmpty else { return }
            storeSubscriptions.remove(subscription)
            if storeSubscriptions.isEmpty { removeViews() }
        }
    }

    private func addViews() {
        for (index, layer) in layers.enumerated() where layer.spelling == nil {
            let view = Views.View(layer.prefix, self, index)
            layer.source.views.add(view)
            views.append(view)
        }
    }

    /// Call under the publish lock.
    func removeViews() {
        for view in views { layers[view.layer].source.views.remove(view) }
        views = []
    }

    /// Calls the observers that are notified before a change; returns the number of the last subscription.
    func notifyEarly(_ changes: [StoredChange]) -> UInt64 {
        let layer = layers[base]
        let (last, batches) = publishing.withLock {
            let last = Self.lastNumber.load(ordering: .relaxed)
            let keys = Dictionary(changes.map { (layer.key($0.name), $0.value) }) { $1 }
            var touched: [Node] = []
            var cores: [StoreCore] = []
            for key in keys.keys {
                // A transaction may concern several names of one preference.
                for (node, _) in layer.source.table.entry(key)?.nodes ?? []
                where !node.isTouched && node.hasEarlyObserver {
                    node.isTouched = true
                    touched.append(node)
                    let (old, new) = (node.candidates(), node.candidates(with: (layer.source, keys)))
                    guard old != new else { continue }
                    if node.core.published.isEmpty { cores.append(node.core) }
                    node.core.published.append(ChangeEntry(node: node, name: node.name, old: old, new: new))
                }
            }
            for node in touched { node.isTouched = false }
            return (last, cores.map { $0.announcement(upTo: last) })
        }
        for (batch, receivers) in batches { receivers.receive(batch) }
        return last
    }

    /// Returns what is to be announced of `published`, and to whom.
    private func announcement(upTo last: UInt64) -> (ChangeBatch, [Subscription]) {
        let batch = batch(exchange(&published, with: []), announced: last)
        return (batch, receivers(of: batch) { $0.timing == .willSet && $0.number <= last })
    }

    private func batch(_ entries: [ChangeEntry], announced: UInt64?) -> ChangeBatch {
        ChangeBatch(
            entries: entries,
            origin: announced == nil ? .external : .local,
            sequence: sequence,
            announced: announced ?? 0,
            depth: preferences_state().pointee.depth + 1,
            thread: preferences_thread()
        )
    }

    /// Adds a transaction to the queue; call under the publish lock.
    func enqueue(_ announced: UInt64?) {
        sequence += 1
        queue.append(batch(exchange(&published, with: []), announced: announced))
    }

    /// Returns the subscriptions for which a batch is, in their order, each once; call under the publish lock.
    private func receivers(of batch: ChangeBatch, _ isIncluded: (Subscription) -> Bool) -> [Subscription] {
        var found: [Subscription] = []
        var isSorted = true
        var hasStoreSubscriptions = false
        func add(_ subscriptions: Subscriptions) {
            for case let subscription? in subscriptions.all where isIncluded(subscription) {
                if subscription.nodes.count > 1, found.contains(where: { $0 === subscription }) { continue }
                if let last = found.last, last.number > subscription.number { isSorted = false }
                found.append(subscription)
            }
        }
        for entry in batch.entries {
            if let node = entry.node { add(node.subscriptions) } else { hasStoreSubscriptions = true }
        }
        if hasStoreSubscriptions { add(storeSubscriptions) }
        return isSorted ? found : found.sorted { $0.number < $1.number }
    }

    /// Calls the observers of the transactions in the queue, in their order; one thread at a time, which others leave theirs to. After 64 of
    /// others, a thread of the pool goes on.
    func deliver(on pool: Pool, goesOn: Bool = false) {
        var (isFirst, foreign) = (!goesOn, 0)
        while true {
            var done: [ChangeBatch] = []
            let delivered: (batch: ChangeBatch, early: [Subscription], late: [Subscription])? = publishing.withLock {
                if isFirst, isDelivering { return nil }
                isFirst = false
                isDelivering = next < queue.count
                guard isDelivering else {
                    // They might have the last references to values of the program.
                    (done, queue, next) = (queue, [], 0)
                    return nil
                }
                next += 1
                let batch = queue[next - 1]
                let late = receivers(of: batch) { $0.timing == .didSet && $0.start < batch.sequence }
                guard Self.willSetCount.load(ordering: .relaxed) > 0 else { return (batch, [], late) }
                // Those to be notified before, and weren't, come first.
                let early = receivers(of: batch) {
                    $0.timing == .willSet && $0.start < batch.sequence && $0.number > batch.announced
                }
                return (batch, early, late)
            }
            guard let (batch, early, late) = delivered else { return withExtendedLifetime(done) {} }
            early.receive(batch)
            late.receive(batch)
            if batch.thread != preferences_thread() { foreign += 1 }
            if foreign >= Self.foreignLimit, pool.start() {
                let isolation = PreferenceIsolation.current
                return pool.run { isolation.run { self.deliver(on: pool, goesOn: true) } }
            }
        }
    }
}
