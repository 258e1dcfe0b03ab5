internal import DurableFile
internal import Synchronization

/// One scope of `withIsolatedStores`: in-memory stores that stand in for the shared ones.
///
/// It is open as long as it lives, and that is as long as any task or thread runs in it: also a task that outlives the
/// call which opened the scope never reaches a shared store.
final class IsolatedStores: Sendable {
    @TaskLocal private static var current: IsolatedStores?

    /// By the store that is stood in for, which is kept so that its identity stays its own.
    private let standIns = Lock<[ObjectIdentifier: (original: PreferenceStore, standIn: PreferenceStore)]>([:])
    private let initialContents: [String: PropertyListValue]

    /// How many scopes are open in the process; while none is, nothing looks any further.
    private static let count = Atomic<Int>(0)

    /// Whether a store with a stand-in may be read by somebody for whom another one answers.
    static var areOpen: Bool { count.load(ordering: .relaxed) > 0 }

    /// The scope that the caller runs in.
    static var inEffect: IsolatedStores? { areOpen ? current : nil }

    /// Opens a scope: from here on, reads of shared stores look for the scope that they run in.
    init(_ initialContents: [String: PropertyListValue]) {
        self.initialContents = initialContents
        // A decoded value that a shared store has kept would be read without a look at the scope, so none is kept while
        // any scope is open: that costs reads nothing where no test runs. Under the registry's lock, so that whoever
        // opens the second scope finds nothing kept either.
        SharedStores.forgetValues { Self.count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 }
    }

    deinit {
        Self.count.wrappingSubtract(1, ordering: .relaxed)
    }

    /// The store that stands in for `original` in this scope.
    func store(for original: PreferenceStore, _ kind: StandIn) -> PreferenceStore {
        let key = ObjectIdentifier(original)
        if let known = standIns.withLock({ $0[key]?.standIn }) { return known }
        // Made without the lock, as layers ask for the stand-ins of theirs.
        let made = make(kind)
        return standIns.withLock { standIns in
            if let known = standIns[key]?.standIn { return known }
            standIns[key] = (original, made)
            return made
        }
    }

    private func make(_ kind: StandIn) -> PreferenceStore {
        switch kind {
        case .memory(let shared):
            return .inMemory(shared == .standard ? initialContents : [:])
        case .layers(let layers):
            let layers = layers.map { layer in layer.standIn.map { store(for: layer, $0) } ?? layer }
            return PreferenceStore(layers: layers)
        }
    }

    static func with<Result, Failure: Error>(
        _ scope: IsolatedStores?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = $current.withValue(scope) { () -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    nonisolated(nonsending) static func with<Result, Failure: Error>(
        _ scope: IsolatedStores?,
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome = await $current.withValue(scope) { () async -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

/// What takes a store's place inside `withIsolatedStores`.
enum StandIn: Sendable {
    /// A fresh store in memory.
    case memory(SharedStore)
    /// The same layers, each by its stand-in where it has one.
    case layers([PreferenceStore])
}

extension PreferenceStore {
    /// This store, or the one that stands in for it inside `withIsolatedStores`.
    var resolved: PreferenceStore { isolated ?? self }

    /// The store that stands in for this one just now, if any.
    var isolated: PreferenceStore? {
        guard let standIn else { return nil }
        return IsolatedStores.inEffect?.store(for: self, standIn)
    }

    /// Whether reads must not be kept, since another store answers for some of the readers.
    var keepsNothing: Bool { standIn != nil && IsolatedStores.areOpen }
}
