/// One name's part in a batch.
struct ChangeEntry: Sendable {
    let name: String
    /// What might have answered before the change.
    let old: StoredCandidates
    /// What may answer after it.
    let new: StoredCandidates

    /// Whether the name reads as before, and only a value under a stronger layer's changed.
    ///
    /// That counts for those who can't read the stronger one.
    var isBelow: Bool { old.first?.value == new.first?.value }
}

/// Changes that happened as one: a set, a transaction, or what came from outside at once.
struct ChangeBatch: Sendable {
    let sequence: UInt64
    let origin: PreferenceChangeOrigin
    /// The number of the last subscription that was notified before the change, where it is for that moment.
    let announcedUpTo: UInt64
    private(set) var entries: [ChangeEntry] = []
    /// The names of which only a value under a stronger layer's changed.
    private(set) var entriesBelow: [ChangeEntry] = []
    /// The names' signals for Observation, sent right after the change.
    var signals = PreferenceSignals()
    /// Whether anybody subscribed, so that it is worth a delivery.
    var isObserved = false

    init(sequence: UInt64, origin: PreferenceChangeOrigin, announcedUpTo: UInt64 = 0) {
        self.sequence = sequence
        self.origin = origin
        self.announcedUpTo = announcedUpTo
    }

    mutating func append(_ entry: ChangeEntry) {
        if entry.isBelow { entriesBelow.append(entry) } else { entries.append(entry) }
    }

    func entry(for name: String) -> ChangeEntry? {
        entries.first { $0.name == name } ?? entriesBelow.first { $0.name == name }
    }
}

/// Where a change came from.
public enum PreferenceChangeOrigin: Sendable, Hashable {
    /// This process, through this library.
    case local
    /// Another process, a person with an editor, or a framework below the store.
    case external
}
