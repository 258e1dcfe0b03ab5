internal import DurableFile

extension PreferenceUpdates {
    /// The current values of several preferences, then all of them again after each change or transaction of any.
    ///
    ///     for await (theme, volume) in PreferenceUpdates.of(preferences.$theme, preferences.$volume) { … }
    ///
    /// Preferences of one store are never seen half-way through a transaction. They may be of several stores; then each
    /// store's changes come in its own order.
    public static func of<each Value: Sendable>(
        _ preferences: repeat Preference<each Value>
    ) -> PreferenceUpdates<(repeat each Value)> where Element == (repeat each Value) {
        PreferenceUpdates(buffering: .unbounded) { yield in
            // Scopes of isolated stores count where the iterator is made, not where it is used.
            let preferences = (repeat (each preferences).inUse)
            var namesByStore: [ObjectIdentifier: (store: PreferenceStore, names: Set<String>)] = [:]
            for preference in repeat each preferences {
                let store = preference.store
                namesByStore[ObjectIdentifier(store), default: (store, [])].names.insert(preference.name)
            }
            let latest = Lock(LatestCandidates())
            let values: @Sendable (LatestCandidates) -> (repeat each Value) = { latest in
                (repeat latest.value(of: each preferences))
            }
            let observations = namesByStore.map { identifier, observed in
                observed.store.subscribe(
                    to: observed.names,
                    begin: { contents in latest.withLock { $0.begin(observed.names, of: identifier, with: contents) } }
                ) { batch in
                    var isNews = false
                    for preference in repeat each preferences {
                        guard preference.store === observed.store, let entry = batch.entry(for: preference.name)
                        else { continue }
                        isNews = isNews || preference.isNews(entry)
                    }
                    latest.withLock { [isNews] latest -> UpdatesStorage<Element>.Resumption? in
                        guard latest.take(batch, of: identifier), isNews else { return nil }
                        let latest = latest
                        return yield { values(latest) }
                    }?()
                }
            }
            latest.withLock { latest -> UpdatesStorage<Element>.Resumption? in
                latest.isComplete = true
                let latest = latest
                return yield { values(latest) }
            }?()
            return observations
        }
    }
}

/// What answers for the names of several stores as of the last change.
private struct LatestCandidates: Sendable {
    private struct Key: Hashable {
        let store: ObjectIdentifier
        let name: String
    }

    /// Whether every store is subscribed to, so that elements may be yielded.
    var isComplete = false
    private var candidates: [Key: StoredCandidates] = [:]

    /// Takes a store's contents at the time of its subscription.
    mutating func begin(_ names: Set<String>, of store: ObjectIdentifier, with contents: LayerList) {
        for name in names { candidates[Key(store: store, name: name)] = contents.candidates(for: name) }
    }

    /// Takes a change; whether it is to be yielded.
    mutating func take(_ batch: ChangeBatch, of store: ObjectIdentifier) -> Bool {
        for entry in batch.entries + batch.entriesBelow {
            // A transaction may have changed other names too.
            guard let index = candidates.index(forKey: Key(store: store, name: entry.name)) else { continue }
            candidates.values[index] = entry.new
        }
        return isComplete
    }

    func value<Value>(of preference: Preference<Value>) -> Value {
        let candidates =
            candidates[Key(store: ObjectIdentifier(preference.store), name: preference.name)] ?? StoredCandidates()
        return preference.value(of: candidates)
    }
}
