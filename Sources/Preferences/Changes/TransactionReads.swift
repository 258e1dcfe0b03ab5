/// What an update or transaction may read: the layer that takes the writes, and those below it, at one moment.
///
/// Read-only layers above are left out: else an argument would be stored for good.
struct StoreSnapshot: Sendable {
    private let list: LayerList
    /// Each layer's values, from `list.base` on.
    private var values: [StoredValues]
    fileprivate let versionsBelow: [UInt64]

    /// Call with the store's lock.
    init(of list: LayerList) {
        self.list = list
        values = list.layers[list.base...].map(\.source.snapshot)
        versionsBelow = list.versionsBelow
    }

    /// What was under a name.
    func candidates(for name: String) -> StoredCandidates {
        list.candidates(from: list.base) { values[$0 - list.base][list.layers[$0].spelled(name)] }
    }

    /// Takes in what the layers have under a name that they were asked for later.
    mutating func take(_ name: String, from other: StoreSnapshot) {
        for index in values.indices {
            let name = list.layers[list.base + index].spelled(name)
            values[index].set(other.values[index][name], for: name)
        }
    }

    /// All that was listed.
    var contents: [String: PropertyListValue] {
        list.contents(from: list.base) { values[$0 - list.base].dictionary }
    }

    /// What the layer that takes the writes held.
    fileprivate var ownValues: [String: PropertyListValue] {
        list.writableLayer?.listed(values[0].dictionary) ?? [:]
    }
}

/// What an update or transaction has read, and must still be so when its changes are stored.
struct TransactionReads: Sendable {
    /// Of the layer that takes the writes; compared by the backend, in one step with the storing.
    private(set) var condition = PreferenceCondition.none
    /// Of the layers below; compared before. What changes there at that very moment counts as later.
    private var below: [String: StoredCandidates] = [:]
    private var versionsBelow: [UInt64]?

    init() {}

    /// The read of one name.
    init(of name: String, as candidates: StoredCandidates) {
        note(name, candidates)
    }

    /// Whether a name was read already.
    func isNoted(_ name: String) -> Bool { condition.isComplete || condition.values.index(forKey: name) != nil }

    mutating func note(_ name: String, _ candidates: StoredCandidates) {
        guard !isNoted(name) else { return }
        condition.values.updateValue(candidates.own, forKey: name)
        below[name] = candidates.withoutOwn
    }

    mutating func noteAll(_ snapshot: StoreSnapshot) {
        condition = PreferenceCondition(values: snapshot.ownValues.mapValues { $0 }, isComplete: true)
        versionsBelow = snapshot.versionsBelow
    }

    /// Whether what was read of the layers below is still so; call with the store's lock.
    func holdBelow(in list: LayerList) -> Bool {
        if let versionsBelow { return versionsBelow == list.versionsBelow }
        return below.allSatisfy { name, candidates in
            candidates == list.candidates(from: list.base + 1) { list.layers[$0].value(of: name) }
        }
    }
}

extension LayerList {
    fileprivate var versionsBelow: [UInt64] { layers.dropFirst(base + 1).map(\.source.version) }
}

extension StoredCandidates {
    /// What the layer that takes the writes has.
    fileprivate var own: PropertyListValue? { first?.layer == nil ? first?.value : nil }

    fileprivate var withoutOwn: StoredCandidates { first?.layer == nil ? dropFirst() : self }
}
