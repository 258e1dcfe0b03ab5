extension PreferenceStore {
    /// Calls `body` with all changes of the store from now on.
    package func subscribe(_ body: @escaping @Sendable (ChangeBatch) -> Void) -> PreferenceObservation {
        PreferenceObservation(of: self, core.subscribe(to: nil, at: .didSet, body))
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
