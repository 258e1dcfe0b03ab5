internal import DurableFile
internal import Synchronization

/// A store's backend, used by one thread at a time.
///
/// The lock orders all that happens to the backend, so the store takes changes in the order in which they were stored.
/// No code of a caller runs under it; deliveries follow after its release.
final class BackendSource: StoreSource {
    private enum Session {
        case closed
        case open(any PreferenceBackend)
    }

    private let make: @Sendable (PreferenceBackendHost) throws(PreferencesError) -> any PreferenceBackend
    /// The backend where it is asked for names.
    ///
    /// Known when the source is made: to cast to a protocol searches all conformances of the program, which took a quarter
    /// of the instructions of opening a small file.
    private let discovering: (any DiscoveringBackend)?
    private let session = Lock(Session.closed)
    /// The open backend, for those who don't use it alone: they must not keep `attend` from the session.
    private let opened = Lock<(any PreferenceBackend)?>(nil)
    /// Whether the backend called for a refresh, or reported, while the lock was held.
    private let needsAttention = Atomic<Bool>(false)
    /// Whether the backend called for a refresh, and not only to report.
    private let isChanged = Atomic<Bool>(false)
    private let reports = Lock<[PreferencesError]>([])

    /// The backend, once it is loaded.
    var openBackend: (any PreferenceBackend)? { opened.withLock { $0 } }

    /// Makes a source over the backend that `make` gives at the first use, and that lists all it holds.
    init(_ make: @escaping @Sendable (PreferenceBackendHost) throws(PreferencesError) -> any PreferenceBackend) {
        self.make = make
        discovering = nil
    }

    /// Makes a source over a backend that is asked for names.
    init(discovering backend: some DiscoveringBackend) {
        make = { _ in backend }
        discovering = backend
    }

    func load(into store: PreferenceStore) {
        do throws(PreferencesError) {
            try open(for: store)
        } catch {
            // Reads give defaults from now on; the next write tries to load again.
            if store.state.withLock({ $0.finishLoading() }) { store.report(error) }
        }
    }

    func discover(_ names: Set<String>, for store: PreferenceStore) {
        defer { attend(to: store) }
        session.withLock { session in
            guard case .open = session, let backend = discovering else { return }
            let names = store.state.withLock { $0.undiscovered(among: names) }
            let values = backend.values(under: names)
            store.state.withLock { state in
                state.discover(values)
                state.finishDiscovery(of: names)
            }
        }
    }

    func open(for store: PreferenceStore) throws(PreferencesError) {
        try exclusively(for: store) { (_, _) throws(PreferencesError) in }
    }

    func commit(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition,
        in store: PreferenceStore,
        for initiator: PreferenceStore
    ) throws(PreferencesError) -> Bool {
        let settling = try exclusively(for: store) {
            (backend, taken) throws(PreferencesError) -> (any PreferenceBackend)? in
            let commit: PreferenceBackendCommit
            do throws(PreferencesError) {
                commit = try backend.apply(changes, if: condition)
            } catch {
                // What it learned of outside changes before it failed is still to be taken in.
                needsAttention.store(true, ordering: .sequentiallyConsistent)
                throw error
            }
            taken.take(commit.outside, origin: .external, in: store)
            guard commit.isStored else { return nil }
            taken.take(changes, origin: .local, in: store, announcedBy: initiator)
            return backend
        }
        try settling?.settle()
        return settling != nil
    }

    func sync() throws(PreferencesError) {
        guard case .open(let backend) = session.withLock({ $0 }) else { return }
        try backend.sync()
    }

    func flush() async throws(PreferencesError) {
        try await openBackend?.flush()
    }

    var isOpen: Bool { openBackend != nil }

    func isManaged(_ name: String) -> Bool {
        openBackend?.isManaged(name) ?? false
    }

    func writable(of store: PreferenceStore) -> PreferenceStore { store }

    /// Runs `body` with the backend, opened and loaded, while no other thread can; then delivers what changed.
    private func exclusively<Result: Sendable>(
        for store: PreferenceStore,
        _ body: (any PreferenceBackend, inout TakenChanges) throws(PreferencesError) -> Result
    ) throws(PreferencesError) -> Result {
        defer { attend(to: store) }
        var taken = TakenChanges()
        defer { taken.finish() }
        return try session.withLock { session throws(PreferencesError) -> Result in
            try body(backend(&session, for: store, &taken), &taken)
        }
    }

    private func backend(
        _ session: inout Session,
        for store: PreferenceStore,
        _ taken: inout TakenChanges
    ) throws(PreferencesError) -> any PreferenceBackend {
        if case .open(let backend) = session { return backend }
        let host = host(for: store)
        let backend = try make(host)
        let contents: [String: PropertyListValue]
        do throws(PreferencesError) {
            contents = try backend.load(host: host)
        } catch {
            store.state.withLock { $0.begin(with: StoreContents(), isComplete: discovering == nil) }
            throw error
        }
        let isFirst = store.state.withLock { state in
            state.begin(with: StoreContents(contents), isComplete: discovering == nil)
            return state.finishLoading()
        }
        if !isFirst {
            // Reads gave defaults after an earlier try had failed: what is there now is a change.
            let names = discovering == nil ? [] : store.undiscoveredDeclarations
            let values = contents.merging(discovering?.values(under: names) ?? [:]) { $1 }
            store.state.withLock { $0.finishDiscovery(of: names) }
            taken.take(values.mapValues(Optional.some), origin: .external, in: store)
        }
        session = .open(backend)
        opened.withLock { $0 = backend }
        return backend
    }

    private func host(for store: PreferenceStore) -> PreferenceBackendHost {
        PreferenceBackendHost(
            changed: { [weak self, weak store] in
                guard let self, let store else { return }
                isChanged.store(true, ordering: .sequentiallyConsistent)
                needsAttention.store(true, ordering: .sequentiallyConsistent)
                attend(to: store)
            },
            report: { [weak self, weak store] error in
                guard let self, let store else { return }
                reports.withLock { $0.append(error) }
                needsAttention.store(true, ordering: .sequentiallyConsistent)
                attend(to: store)
            }
        )
    }

    /// Does what the backend asked for, unless another thread is at the backend: that one does it when it leaves.
    private func attend(to store: PreferenceStore) {
        // Orders the release of the lock before the look at the flag, so that one of two threads sees the other's.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        var mayOpen = true
        while needsAttention.load(ordering: .sequentiallyConsistent) {
            var taken = TakenChanges()
            let problem = session.withLockIfAvailable { session -> [PreferencesError] in
                needsAttention.store(false, ordering: .sequentiallyConsistent)
                let isChanged = isChanged.exchange(false, ordering: .sequentiallyConsistent)
                do throws(PreferencesError) {
                    if case .open(let backend) = session {
                        taken.take(try backend.refresh(), origin: .external, in: store)
                    } else if isChanged, mayOpen, store.state.withLock({ $0.isLoaded }) {
                        // It could not be loaded; now it calls because it can. Once, as a load that fails may call too.
                        mayOpen = false
                        _ = try backend(&session, for: store, &taken)
                    }
                    return []
                } catch {
                    return [error]
                }
            }
            guard let problem else { return }
            taken.finish()
            for error in problem + reports.withLock({ exchange(&$0, with: []) }) { store.report(error) }
        }
    }
}
