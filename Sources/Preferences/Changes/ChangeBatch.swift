/// One name's part in a batch.
struct ChangeEntry: Sendable {
    let name: String
    let old: PropertyListValue?
    let new: PropertyListValue?
    /// In a layered store what answers where `old` can't be read, the strongest first.
    private let oldFallbacks: ArraySlice<StoredCandidate>
    private let newFallbacks: ArraySlice<StoredCandidate>
    private let isText: (old: Bool, new: Bool)
    private let layer: (old: String?, new: String?)

    init(name: String, old: PropertyListValue?, new: PropertyListValue?) {
        self.name = name
        self.old = old
        self.new = new
        oldFallbacks = []
        newFallbacks = []
        isText = (false, false)
        layer = (nil, nil)
    }

    init(name: String, old: [StoredCandidate], new: [StoredCandidate]) {
        self.name = name
        self.old = old.first?.value
        self.new = new.first?.value
        oldFallbacks = old.dropFirst()
        newFallbacks = new.dropFirst()
        isText = (old.first?.isText ?? false, new.first?.isText ?? false)
        layer = (old.first?.layer, new.first?.layer)
    }

    /// Whether the name reads as before, and only a value under a stronger layer's changed.
    ///
    /// That counts for those who can't read the stronger one.
    var isBelow: Bool { old == new }

    /// What might have answered before the change.
    var oldCandidates: [StoredCandidate] {
        (old.map { [StoredCandidate(value: $0, isText: isText.old, layer: layer.old)] } ?? []) + oldFallbacks
    }

    /// What may answer after it.
    var newCandidates: [StoredCandidate] {
        (new.map { [StoredCandidate(value: $0, isText: isText.new, layer: layer.new)] } ?? []) + newFallbacks
    }
}

/// Changes that happened as one: a set, a transaction, or what came from outside at once.
struct ChangeBatch: Sendable {
    let sequence: UInt64
    let origin: PreferenceChangeOrigin
    private(set) var entries: [ChangeEntry] = []
    /// The names of which only a value under a stronger layer's changed.
    private(set) var entriesBelow: [ChangeEntry] = []
    /// The names' signals for Observation, sent right after the change.
    var signals = PreferenceSignals()
    /// Whether anybody subscribed, so that it is worth a delivery.
    var isObserved = false
    /// Whether observers of the moment before a change are still to be told.
    var needsAnnouncing = false

    init(sequence: UInt64, origin: PreferenceChangeOrigin) {
        self.sequence = sequence
        self.origin = origin
    }

    /// Whether nobody is to be told of anything.
    var isEmpty: Bool { entries.isEmpty && entriesBelow.isEmpty && signals.isEmpty }

    mutating func append(_ entry: ChangeEntry) {
        if entry.isBelow { entriesBelow.append(entry) } else { entries.append(entry) }
    }

    func entry(for name: String) -> ChangeEntry? {
        entries.first { $0.name == name } ?? entriesBelow.first { $0.name == name }
    }
}
