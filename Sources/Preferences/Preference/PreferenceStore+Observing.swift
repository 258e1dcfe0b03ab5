extension PreferenceStore {
    /// Calls `body` with all changes of the store from now on.
    ///
    /// - Parameter begin: Gets the values that the first change is made to, under a lock: it must not call out.
    package func subscribe(
        begin: (([String: PropertyListValue]) -> Void)? = nil,
        _ body: @escaping @Sendable (ChangeBatch) -> Void
    ) -> PreferenceObservation {
        PreferenceObservation(
            of: self,
            core.subscribe(to: nil, at: .didSet, begin: { begin?(core.contentsUnderLock) }, body)
        )
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
                    yield { PreferenceStoreChange(batch) { Set($0.filter(store.core.isSecret)) } }
                }
            ]
        }
    }
}

extension PreferenceStore {
    /// Returns the values of all layers at one moment, or those of some preferences.
    package func snapshot(of names: [String]? = nil) -> StoreSnapshot { resolved.core.snapshot(of: names) }

    /// All values of the layers that are open, without opening any.
    package var contentsOpen: [String: PropertyListValue] { resolved.core.contents() }

    /// Returns the readings of the newest snapshot: the first, and then one after each change of these names (or of any) that makes
    /// the reading differ; a slow consumer gets the newest.
    ///
    /// `read` runs in the consumer, so a reading is never older than the one before.
    package func updates<Reading: Sendable>(
        of names: [String]? = nil,
        _ read: @escaping @Sendable (StoreSnapshot) -> Reading,
        isSame: @escaping @Sendable (Reading, Reading) -> Bool
    ) -> some AsyncSequence<Reading, Never> & Sendable {
        let updates = PreferenceUpdates<Reading?>(buffering: .newest(1)) { [self] yield in
            let store = resolved
            let latest = Lock<Reading?>(nil)
            let readNewest: @Sendable () -> Reading? = {
                let new = read(store.snapshot(of: names))
                let old = latest.withLock { exchange(&$0, with: new) }
                return old.map { isSame($0, new) } ?? false ? nil : new
            }
            yield(readNewest)
            let nodes = names?.map(store.core.node)
            let end = store.core.subscribe(to: nodes, at: .didSet) { _ in yield(readNewest) }
            return [PreferenceObservation(of: store, end)]
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

    init(_ end: @escaping @Sendable () -> Void) { self.end = Lock(End(call: end)) }

    /// Creates the observation of a store, which is kept while it runs.
    convenience init(of store: PreferenceStore, _ end: @escaping @Sendable () -> Void) {
        self.init {
            end()
            withExtendedLifetime(store) {}
        }
    }

    deinit { cancel() }

    /// Ends the observation; may be called inside the observer, on any thread, and repeatedly.
    ///
    /// No call begins after this returns, except one that another thread has already begun to make.
    public func cancel() { end.withLock { exchange(&$0, with: nil) }?.call() }
}
