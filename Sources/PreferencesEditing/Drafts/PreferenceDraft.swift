public import Preferences

/// Changes of a store that aren't stored until they are applied, as of a screen with the buttons *Apply* and *Cancel*.
///
///     let draft = store.draft()
///     let player = PlayerPreferences(in: draft.store)
///     player.volume = 8
///     try draft.apply()
///
/// The draft's store shows what the original store would show after `apply()`: it follows the changes of others, a `reset()` in it shows
/// the value of a weaker layer, and a value of a stronger layer hides what is set. A change of the original store shows in the draft before
/// the call that makes it returns, or a few milliseconds later if another thread uses the draft. A member with a store of its own, in a
/// group over the draft's store, is in a draft of that store, which belongs to this one. All members may be used on any thread.
public final class PreferenceDraft: Sendable {
    /// The store with the changes, for groups, observers and views; it may outlive the draft.
    public let store: PreferenceStore
    private let parts: DraftParts

    fileprivate init(of original: PreferenceStore) {
        let parts = DraftParts()
        let standIns = StandIns { [parts] store, standIns in
            let (part, store) = DraftPart.make(of: store.resolved, standIns)
            parts.add(part)
            return store
        }
        let (own, store) = DraftPart.make(of: original, standIns)
        parts.add(own)
        standIns.note(store, for: original)
        (self.store, self.parts) = (store, parts)
    }

    /// Whether `apply()` would change what is stored.
    public var hasChanges: Bool { !changes.names.isEmpty }

    /// The changes that `apply()` would make: the values that the stores themselves have now, and those that they would have.
    public var changes: PreferenceStoreChange {
        var (old, new) = ([String: PropertyListValue](), [String: PropertyListValue]())
        var (names, secrets): (Set<String>, Set<String>) = ([], [])
        for part in parts.all {
            for (name, before, after) in part.differences {
                (old[name], new[name]) = (before, after)
                names.insert(name)
                if part.isSecret(name) { secrets.insert(name) }
            }
        }
        return PreferenceStoreChange(names: names, old: old, new: new, origin: .local, secretNames: secrets)
    }

    /// Stores the changes in one transaction; the draft has none then, and can be edited again.
    ///
    /// A name that only others have changed keeps their value. A dictionary, a struct or a list that both have changed is merged, member by
    /// member; of other values the draft's is stored. The changes in other stores, of members with a store of their own, are stored before,
    /// in one transaction for each store; the error says which of them were stored.
    ///
    /// - Throws: `invalid` if a value, after merging, breaks the rule of a preference in the draft's store; `unreadable` if it can't be
    ///   decoded; the errors of a transaction. Nothing of that store is stored then, and the draft keeps these changes.
    public func apply() throws(PreferenceError) {
        var stored: [String] = []
        for part in parts.all {
            do { stored += try part.apply(until: part.deadline) } catch { throw PreferenceError(error, after: stored) }
        }
    }

    /// Stores the changes, as the blocking form does; the task is suspended when that has to wait.
    ///
    /// - Throws: The errors of the blocking form, and `unavailable` if the task was cancelled before.
    public nonisolated(nonsending) func apply() async throws(PreferenceError) {
        var stored: [String] = []
        for part in parts.all {
            do { stored += try await part.apply() } catch { throw PreferenceError(error, after: stored) }
        }
    }

    /// Discards the changes, so that the draft's store shows what the original store shows.
    public func revert() { for part in parts.all { part.revert() } }
}

extension PreferenceStore {
    /// Creates a draft: changes that are shown in a store of their own, and stored together or not at all.
    ///
    ///     let draft = store.draft()
    ///     PlayerPreferences(in: draft.store).volume = 8
    ///     try draft.apply()
    ///
    /// Several drafts of a store may be edited at once. Opens the store when the draft is first used; for a store on a network call
    /// `load()` before.
    public func draft() -> PreferenceDraft { PreferenceDraft(of: resolved) }
}

extension PreferenceError {
    /// Creates the error of an `apply()` that has stored the changes of other stores.
    fileprivate init(_ error: any Error, after stored: [String]) {
        let error = PreferenceError(.unencodable, from: error)
        guard !stored.isEmpty else {
            self = error
            return
        }
        let names = stored.map { "\"\($0)\"" }.joined(separator: ", ")
        self.init(
            error.code,
            name: error.name,
            "\(error.message); the changes of \(names), in other stores, are stored",
            codingPath: error.codingPath,
            cause: error.cause
        )
    }
}

/// The drafts of the single stores; that of the draft's own store is the last.
private final class DraftParts: Sendable {
    // Without their stores, which have these parts.
    private let parts = Lock<[DraftPart]>([])

    var all: [DraftPart] { parts.withLock { $0 } }

    /// Adds the draft's own part, or before it one of another store.
    func add(_ part: DraftPart) { parts.withLock { $0.insert(part, at: max(0, $0.count - 1)) } }
}
