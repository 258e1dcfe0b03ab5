internal import DurableFile

/// Changes that stores took in under locks, and what is left to do once these are released.
struct TakenChanges {
    private struct Taken {
        let store: PreferenceStore
        let batch: ChangeBatch
    }

    private var taken: [Taken] = []

    /// Makes `store`, and every layered store above it, show `changes`; call under the lock that orders its commits.
    mutating func take(
        _ changes: [String: PropertyListValue?],
        layer: Int? = nil,
        origin: PreferenceChangeOrigin,
        in store: PreferenceStore,
        announcedBy initiator: PreferenceStore? = nil
    ) {
        guard !changes.isEmpty else { return }
        let thread = ThreadIdentity.current
        let (batch, dependents) = store.state.withLock { state -> (ChangeBatch?, [StoreDependent]) in
            // A layered store may have to look again where this store's value changed under a stronger layer.
            let dependents = state.dependents
            guard var batch = state.take(changes, layer: layer, origin: origin) else { return (nil, dependents) }
            // Both stores of a set announced it: the layered one that was asked, and the one that holds the values.
            batch.needsAnnouncing = initiator == nil || (layer != nil && initiator !== store)
            if batch.isObserved { state.queue.enqueue(batch, setBy: thread, depth: AnswerDepth.current) }
            return (batch, dependents)
        }
        if let batch { taken.append(Taken(store: store, batch: batch)) }
        for dependent in dependents {
            guard let above = dependent.store else { continue }
            take(changes, layer: dependent.layer, origin: origin, in: above, announcedBy: initiator)
        }
    }

    /// Tells Observation and the observers; call without any lock.
    func finish() {
        for taken in taken { taken.batch.signals.send() }
        for taken in taken where taken.batch.isObserved { taken.store.deliver() }
    }
}

/// A layered store that shows another's values as one of its layers.
struct StoreDependent: Sendable {
    weak var store: PreferenceStore?
    let layer: Int
}
