internal import DurableFile
public import Preferences

extension PreferenceStore {
    /// Returns a read-only store of those of this store's values that are meant for one host, user or other unit, as a layer of
    /// `layered(_:)`: a canary release of any value to a share of them.
    ///
    ///     let store = PreferenceStore.layered([fleet.scoped(prefix: "canary.").canary(for: "web-3"), fleet])
    ///     fleet["canary.rateLimit"] = ["percent": 10, "value": 50]  // 50 for a tenth of the hosts
    ///
    /// Each value of this store is a dictionary: the members of a `Rollout`, which are `percent` and optionally `seed`, and `value`. A name
    /// has that value if the rollout includes the identifier, and otherwise none. So a higher percentage adds units and drops none, and
    /// rollouts with equal seeds, or none, select the same units first. A dictionary of another form is reported as `unreadable`, and
    /// the name has no value.
    ///
    /// The store follows this store: a change arrives when this store delivers it, as a change of its own after that. It opens this store
    /// at its first use, on any thread, and can't be opened while that one can't be. A write to it throws `readOnly`; change or remove
    /// the dictionary instead. This store must list all names, as those of files, memory and etcd do; of one that is asked name by name,
    /// such as user defaults, only the names in use are seen. Inside `withIsolatedStores` it stays over the store that it was created from.
    ///
    /// - Parameters:
    ///   - id: The identifier of the unit, such as the host's name.
    ///   - name: The layer's name in `Preference.source`.
    public func canary(for id: String, named name: String = "canary") -> PreferenceStore {
        PreferenceStore(backend: CanaryBackend(over: resolved, for: id, layer: name), name: name, isReadOnly: true)
    }
}

/// The values of a store that are meant for one unit.
private final class CanaryBackend: PreferenceBackend {
    private let store: PreferenceStore
    private let id: String
    private let layer: String
    private let state = Lock(State())

    private struct State {
        var host: PreferenceBackendHost?
        /// The dictionaries as they were last read.
        var stored: [String: PropertyListValue] = [:]
        var values: [String: PropertyListValue] = [:]
        var observation: PreferenceObservation?
    }

    init(over store: PreferenceStore, for id: String, layer: String) {
        self.store = store
        self.id = id
        self.layer = layer
    }

    var timeout: Duration? { store.core.layers.timeout }

    func checkThreadMayBlock() throws(PreferenceError) { try store.core.layers.checkThreadMayBlock() }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        // Before the values are read, so that no change is missed, and even if they can't be.
        let observation = store.subscribe { [weak self] _ in
            if self?.update() != true { host.changed() } else { host.changed([:]) }
        }
        state.withLock { $0.observation = observation }
        if let failure = store.snapshot().failures.lazy.compactMap(\.self).first { throw failure }
        state.withLock { $0.host = host }
        update()
        return state.withLock { $0.values }
    }

    func catchUp() throws(PreferenceError) {
        try store.load()
        update()
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        throw PreferenceError(
            .readOnly,
            "a canary's values are set by their dictionaries in the store below; nothing was changed"
        )
    }

    /// Reads the store again and collects what has changed; returns false, and reads nothing, before the store was loaded.
    @discardableResult
    private func update() -> Bool {
        let (host, problems) = state.withLock { state -> (PreferenceBackendHost?, [PreferenceError]) in
            guard let host = state.host else { return (nil, []) }
            // Under the lock, so that an older reading never follows a newer one. Opens and reports nothing: an issue handler may use
            // the store.
            let stored = store.contentsOpen
            var problems: [PreferenceError] = []
            for (name, change) in state.stored.changes(to: stored) {
                do throws(PreferenceError) {
                    let value = if let change { try value(in: change) } else { PropertyListValue?.none }
                    guard state.values[name] != value else { continue }
                    state.values[name] = value
                    host.collect([name: value])
                } catch {
                    if state.values.removeValue(forKey: name) != nil { host.collect([name: PropertyListValue?.none]) }
                    let message = "\(error.message) (\(layer) layer)"
                    problems.append(PreferenceError(error.code, name: name, message))
                }
            }
            state.stored = stored
            return (host, problems)
        }
        for problem in problems { host?.report(problem) }
        return host != nil
    }

    /// Returns the value in a dictionary if it is meant for the unit.
    private func value(in form: PropertyListValue) throws(PreferenceError) -> PropertyListValue? {
        guard case .dictionary(var members) = form, let value = members.removeValue(forKey: "value") else {
            throw PreferenceError(
                .unreadable,
                "expected a share and a value, such as {\"percent\":10,\"value\":50}, found \(form.summary)"
            )
        }
        do {
            return try Rollout(storedValue: .dictionary(members)).includes(id) ? value : nil
        } catch {
            throw PreferenceError(.unreadable, (error as? PreferenceError)?.message ?? "\(error)")
        }
    }
}
