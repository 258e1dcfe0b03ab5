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
        let backend = CanaryBackend(StoreFollower(resolved.asLayers, of: resolved), for: id, layer: name)
        return PreferenceStore(Layer(source: Source(backend)).readOnly(named: name))
    }
}

/// The values of a store that are meant for one unit.
private final class CanaryBackend: Backend {
    let place = "the canaries of another store"
    let timeout: Duration
    /// It reads what its store shows.
    let saysWhenItWaits = true
    let below: [Source]
    private let follower: StoreFollower
    private let id: String
    private let layer: String
    private let host = Lock<PreferenceBackendHost?>(nil)

    init(_ follower: StoreFollower, for id: String, layer: String) {
        (self.follower, self.id, self.layer) = (follower, id, layer)
        below = follower.sources
        timeout = below.map(\.longestWait).max() ?? .seconds(5)
    }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
        self.host.withLock { $0 = host }
        let all = follower.begin { host.changedNow() }
        if let failure = follower.failures.first { throw failure }
        return changes(all)
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        let changes = changes(follower.changes())
        return changes.isEmpty ? .none : .changes([changes])
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(
            .readOnly,
            "a canary's values are set by their dictionaries in the store below; nothing was changed"
        )
    }

    /// Returns the unit's values of names, of which the strongest layer's dictionary counts.
    private func changes(_ stored: [(layer: Int, change: StoredChange)]) -> [StoredChange] {
        var dictionaries: [String: PropertyListValue?] = [:]
        for (_, change) in stored.sorted(by: { $0.layer < $1.layer }) {
            dictionaries.updateValue(dictionaries[change.name].flatMap(\.self) ?? change.value, forKey: change.name)
        }
        return dictionaries.map { name, dictionary in
            do throws(PreferenceError) { return StoredChange(name, try dictionary.flatMap(value)) } catch {
                let problem = PreferenceError(error.code, name: name, "\(error.message) (\(layer) layer)")
                host.withLock { $0 }?.report(problem)
                return StoredChange(name, nil)
            }
        }
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
            throw PreferenceError(.unreadable, from: error)
        }
    }
}
