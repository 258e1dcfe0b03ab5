internal import DurableFile

/// Which of the stores that a whole program shares a store is.
enum SharedStore: Hashable, Sendable {
    case standard
    case suite(String)
}

/// The stores that a whole program shares: made at first mention, kept for good.
enum SharedStores {
    private struct Registry {
        var stores: [SharedStore: PreferenceStore] = [:]
        /// Stores of a caller's own that show shared ones.
        var layered: [Layered] = []
    }

    private struct Layered {
        weak var store: PreferenceStore?
    }

    private static let registry = Lock(Registry())

    static func store(_ shared: SharedStore) -> PreferenceStore {
        registry.withLock { registry in
            if let store = registry.stores[shared] { return store }
            let standIn = StandIn.memory(shared)
            let store =
                IsolatedProgram.isOn
                ? PreferenceStore(Layer(source: Source([:])), standIn: standIn) : shared.makeStore(standIn: standIn)
            registry.stores[shared] = store
            return store
        }
    }

    /// Remembers a layered store, so that `forgetValues` reaches it.
    static func register(layered store: PreferenceStore) {
        let others = registry.withLock { registry in
            let others = registry.layered.compactMap(\.store)
            registry.layered.removeAll { $0.store == nil }
            registry.layered.append(Layered(store: store))
            return others
        }
        // One of these may be the last reference, and what ends with it may be anybody's code: not under the lock.
        withExtendedLifetime(others) {}
    }

    /// Where `isNeeded`, makes every store with a stand-in forget the decoded values that it keeps.
    static func forgetValues(if isNeeded: () -> Bool) {
        let touched = registry.withLock { registry -> [PreferenceStore] in
            guard isNeeded() else { return [] }
            let stores = Array(registry.stores.values) + registry.layered.compactMap(\.store)
            for store in stores { store.core.state.withLock { $0.forgetValues() } }
            return stores
        }
        withExtendedLifetime(touched) {}
    }
}

extension PreferenceStore {
    /// The store of this program.
    ///
    /// On Apple platforms `UserDefaults.standard`. Elsewhere the file of `applicationIdentifier`. Where that can't be
    /// opened, the cause is reported once and reads give defaults; what is set is kept in memory, and stored once the
    /// file can be opened, which each set and each change in the file's folder tries again. `update`, transactions that
    /// read, and `migrate` throw `unavailable` until then, and `flush()` throws until all is stored.
    ///
    /// A program that is started with `PREFERENCES_ISOLATED=1` in its environment, or with the arguments
    /// `-PreferencesIsolated YES`, has this store and every suite in memory, empty at first and without what an
    /// administrator imposes: for previews and for tests of its interface.
    public static let standard = SharedStores.store(.standard)

    /// The store of a name that several programs may share.
    ///
    /// On Apple platforms `UserDefaults(suiteName:)`, for an app group; elsewhere the file of that name. One name gives
    /// one store, however often it is asked for. An invalid name traps: `suite(named:)` takes names that users type.
    public static func suite(_ name: String) -> PreferenceStore {
        do throws(PreferencesError) {
            return try suite(named: name)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// As `suite(_:)`, but throws `invalidName` for a name that can't be one.
    public static func suite(named name: String) throws(PreferencesError) -> PreferenceStore {
        try SuiteLocation.check(name)
        try SharedStore.checkSuite(name)
        return SharedStores.store(.suite(name))
    }
}
