internal import DurableFile

extension PreferenceStore {
    /// Calls `body` with the changes of these names, or of all, from now on.
    ///
    /// Passes the current state to `begin`, in one step with the subscription and under the store's lock: `begin` must not
    /// call out. The store keeps `body` until the observation ends, so `body` may keep the store.
    package func subscribe(
        to names: Set<String>? = nil,
        timing: PreferenceTiming = .didSet,
        begin: (LayerList, FormerNames) -> Void = { _, _ in },
        _ body: @escaping @Sendable (ChangeBatch) -> Void
    ) -> PreferenceObservation {
        subscribe(to: names, timing: timing, begin: begin, decoding: { batch, _ in body(batch) })
    }

    /// Calls `body` with the changes, and with what other subscribers have decoded of them if there are any.
    func subscribe(
        to names: Set<String>? = nil,
        timing: PreferenceTiming = .didSet,
        begin: (LayerList, FormerNames) -> Void = { _, _ in },
        decoding body: @escaping @Sendable (ChangeBatch, DecodedChanges?) -> Void
    ) -> PreferenceObservation {
        let core = core
        let list = core.preparedLayers(names.map { $0.union($0.flatMap(core.formerNames)) } ?? [])
        // Comes before the subscription has its number: a set announces up to that number only if a layer has such a subscription.
        if timing == .willSet { for layer in list.layers { layer.source.addEarlySubscription() } }
        let subscription = core.state.withLock { state in
            let subscription = ChangeSubscription(names: names, timing: timing, after: state.sequence, body)
            state.subscribe(subscription)
            begin(list, state.formerNames)
            return subscription
        }
        return PreferenceObservation { [self] in
            subscription.cancel()
            core.state.withLock { $0.unsubscribe(subscription) }
            if timing == .willSet { for layer in list.layers { layer.source.removeEarlySubscription() } }
            withExtendedLifetime(self) {}
        }
    }

    /// All changes of the store from the time an iterator is created.
    ///
    /// One element for each write, transaction or external change, in the store's order; none for a write that changed
    /// nothing. A slow consumer loses no elements.
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
    /// Returns the values of all layers at one moment.
    ///
    /// - Parameter names: The names to read from backends that are asked name by name, in addition to those of declared
    ///   preferences.
    package func snapshot(of names: Set<String> = []) -> StoreSnapshot {
        let core = resolved.core
        core.prepareDeclared()
        // Comes before the values: opening a layer now is a change, after which the snapshot is made again.
        let failures = core.preparedLayers(names).layers.map(\.source.failure)
        var snapshot = core.read(names) { StoreSnapshot(ofAll: $0) }
        snapshot.failures = failures
        return snapshot
    }

    /// All values of the layers that are already open, without opening any.
    package var contentsOpen: [String: PropertyListValue] {
        let core = resolved.core
        let list = core.attachedLayers
        return core.state.withLock { _ in list.contents }
    }

    /// Returns the readings of the newest snapshot: the first, and then one after each change of these names (or of any) that makes
    /// the reading differ; a slow consumer gets the newest.
    ///
    /// `read` runs in the consumer, so a reading is never older than the one before.
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

/// A running observation; it ends when it is cancelled or released.
public final class PreferenceObservation: Sendable {
    /// The work of `cancel`, once; in a struct, as the state of a lock must not be a bare function.
    private struct End {
        let call: @Sendable () -> Void
    }
    private let end: Lock<End?>

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = Lock(End(call: end))
    }

    deinit {
        cancel()
    }

    /// Ends the observation; may be called inside the observer, on any thread, and repeatedly.
    ///
    /// No call begins after this returns, except one that another thread has already begun to make.
    public func cancel() {
        end.withLock { exchange(&$0, with: nil) }?.call()
    }
}
