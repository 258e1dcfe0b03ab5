internal import DurableFile

extension PreferenceStore {
    /// Tells `body` of the changes of these names, or of all, from now on.
    ///
    /// `begin` is given what the names read as now, in one step with the subscription and under the store's lock: it
    /// must call nobody. The store keeps `body` until the observation ends, so `body` may keep the store.
    func subscribe(
        to names: Set<String>? = nil,
        timing: PreferenceTiming = .didSet,
        begin: (LayerList) -> Void = { _ in },
        _ body: @escaping @Sendable (ChangeBatch) -> Void
    ) -> PreferenceObservation {
        let core = core
        let list = core.preparedLayers(names ?? [])
        // Before it has its number: a set that is announced up to this number then looks for it.
        if timing == .willSet { for layer in list.layers { layer.source.addEarlySubscription() } }
        let subscription = core.state.withLock { state in
            let subscription = ChangeSubscription(names: names, timing: timing, after: state.sequence, body)
            state.subscribe(subscription)
            begin(list)
            return subscription
        }
        return PreferenceObservation { [self] in
            subscription.cancel()
            core.state.withLock { $0.unsubscribe(subscription) }
            if timing == .willSet { for layer in list.layers { layer.source.removeEarlySubscription() } }
            withExtendedLifetime(self) {}
        }
    }

    /// Every change of the store, from the moment an iterator is made.
    ///
    /// One element for each set, transaction or outside change, in the store's order; nothing for a set that changed
    /// nothing. A slow consumer loses nothing.
    public var changes: PreferenceUpdates<PreferenceStoreChange> {
        PreferenceUpdates(buffering: .unbounded) { [self] yield in
            let store = resolved
            return [
                store.subscribe { batch in
                    yield { PreferenceStoreChange(batch, secretNames: store.core.secretNames) }
                }
            ]
        }
    }
}

extension PreferenceStore {
    /// Returns all layers' values of one moment.
    ///
    /// - Parameter names: The names that are read, for backends that are asked name by name; those of declared preferences are
    ///   included.
    package func snapshot(of names: Set<String> = []) -> StoreSnapshot {
        let core = resolved.core
        core.prepareDeclared()
        // Before the values: a layer that is opened now is a change, after which the snapshot is made again.
        let failures = core.preparedLayers(names).layers.map(\.source.failure)
        var snapshot = core.read(names) { StoreSnapshot(ofAll: $0) }
        snapshot.failures = failures
        return snapshot
    }

    /// All values of the layers that are open already, each name as it reads; opens none.
    package var contentsOpen: [String: PropertyListValue] {
        let core = resolved.core
        let list = core.attachedLayers
        return core.state.withLock { _ in list.contents }
    }

    /// Returns the readings of the newest snapshot: one at first, then one after each change of these names, or of any, that makes
    /// another reading; a slow consumer gets the newest.
    ///
    /// The consumer reads, so a reading is never older than the one before.
    package func updates<Reading: Sendable>(
        of names: Set<String>? = nil,
        _ read: @escaping @Sendable (StoreSnapshot) -> Reading,
        isSame: @escaping @Sendable (Reading, Reading) -> Bool
    ) -> some AsyncSequence<Reading, Never> & Sendable {
        let updates = PreferenceUpdates<Reading?>(buffering: .newest(1)) { [self] yield in
            let store = resolved
            let latest = Lock<Reading?>(nil)
            let readNewest: @Sendable () -> Reading? = {
                let new = read(store.snapshot(of: names ?? []))
                let old = latest.withLock { exchange(&$0, with: new) }
                return old.map { isSame($0, new) } ?? false ? nil : new
            }
            yield(readNewest)
            return [store.subscribe(to: names) { _ in yield(readNewest) }]
        }
        return updates.compactMap { $0 }
    }
}

/// A running observation: it ends when cancelled, or when this is released.
public final class PreferenceObservation: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = Lock(end)
    }

    deinit {
        cancel()
    }

    /// Ends the observation; may be called from inside it, on any thread, and again.
    ///
    /// No call begins after this returns, except one that another thread had already chosen.
    public func cancel() {
        end.withLock { exchange(&$0, with: nil) }?()
    }
}
