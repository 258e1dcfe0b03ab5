/// The stores that stand for those of members with a store of their own, in the groups over a store that itself stands for another: in memory,
/// or a draft. All groups over that store have the same ones.
package final class StandIns: Sendable {
    package typealias Make = @Sendable (_ store: PreferenceStore, _ standIns: StandIns) -> PreferenceStore

    private let make: Make
    /// By the identity of the original store, which is retained so that no other object gets its identity.
    private let known = Lock<[ObjectIdentifier: Known]>([:])
    /// Those of the first store, for a store that is itself among them; a constant.
    nonisolated(unsafe) private weak var first: StandIns?

    private struct Known {
        let original: PreferenceStore
        weak var standIn: PreferenceStore?
        /// Nil for the first store, which has these.
        let kept: PreferenceStore?
    }

    package init(_ make: @escaping Make) { self.make = make }

    private init(among first: StandIns) { (make, self.first) = (first.make, first) }

    /// New stores in memory, also for shared stores; another store in memory stays, as it reaches nothing outside.
    static var inMemory: StandIns {
        StandIns { store, standIns in
            store.standIns == nil ? PreferenceStore(Layer(source: Source([:])), standIns: standIns) : store
        }
    }

    /// Has the first store stand for another one.
    package func note(_ store: PreferenceStore, for original: PreferenceStore) {
        known.withLock { $0[ObjectIdentifier(original)] = Known(original: original, standIn: store, kept: nil) }
    }

    /// Returns the store that stands for another, and creates it at the first call.
    func standIn(for store: PreferenceStore) -> PreferenceStore {
        if let first { return first.standIn(for: store) }
        if case .scope(let whole, let prefix)? = store.replacement {
            return standIn(for: whole).scoped(prefix: prefix)
        }
        if let known = known.withLock({ $0[ObjectIdentifier(store)]?.standIn }) { return known }
        let made = make(store, StandIns(among: self))
        if made === store { return store }
        return known.withLock { known in
            if let known = known[ObjectIdentifier(store)]?.standIn { return known }
            known[ObjectIdentifier(store)] = Known(original: store, standIn: made, kept: made)
            return made
        }
    }
}
