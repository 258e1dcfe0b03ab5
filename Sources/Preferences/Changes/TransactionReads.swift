/// The stored values of one moment.
///
/// An update or transaction reads the layer that takes the writes and those below it. Read-only layers above are left out: else an
/// argument would be stored for good.
package struct StoreSnapshot: Sendable {
    private let list: LayerList
    /// The strongest layer that is read.
    private let base: Int
    /// Each layer's values, from `base` on.
    private var values: [StoredValues]
    /// Counts of the changes: of an update's snapshot those of the layers below the one that takes the writes, else of all.
    fileprivate let versions: [UInt64]
    /// Why layers couldn't be opened, if the snapshot is of all.
    var failures: [PreferencesError?] = []

    /// Creates the snapshot of an update; call with the store's lock.
    init(of list: LayerList) { self.init(of: list, from: list.base, versions: list.versionsBelow) }

    /// Creates the snapshot of all layers; call with the store's lock.
    init(ofAll list: LayerList) { self.init(of: list, from: 0, versions: list.layers.map(\.source.version)) }

    private init(of list: LayerList, from base: Int, versions: [UInt64]) {
        self.list = list
        self.base = base
        self.versions = versions
        values = list.layers[base...].map(\.source.snapshot)
    }

    /// The value under a name, as the store's subscript has it.
    package subscript(name: String) -> PropertyListValue? { candidates(for: name).first?.value }

    /// The first failure of a layer that couldn't be opened, unless a layer above it has a value under a name.
    package func failure(above name: String) -> PreferencesError? {
        for (index, failure) in failures.enumerated() {
            if values[index][list.layers[index].spelled(name)] != nil { return nil }
            if let failure { return failure }
        }
        return nil
    }

    /// What was under a name.
    func candidates(for name: String) -> StoredCandidates {
        list.candidates(from: base) { values[$0 - base][list.layers[$0].spelled(name)] }
    }

    /// Takes in what the layers have under a name that they were asked for later.
    mutating func take(_ name: String, from other: StoreSnapshot) {
        for index in values.indices {
            let name = list.layers[base + index].spelled(name)
            values[index].set(other.values[index][name], for: name)
        }
    }

    /// All that was listed.
    var contents: [String: PropertyListValue] {
        list.contents(from: base) { values[$0 - base].dictionary }
    }

    /// What the layer that takes the writes held.
    fileprivate var ownValues: [String: PropertyListValue] {
        list.writableLayer?.listed(values[0].dictionary) ?? [:]
    }
}

extension StoreSnapshot: Equatable {
    /// Returns whether no layer has changed between two snapshots of all layers.
    package static func == (left: StoreSnapshot, right: StoreSnapshot) -> Bool {
        left.list === right.list && left.versions == right.versions
            && left.failures.map { $0 == nil } == right.failures.map { $0 == nil }
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
        versionsBelow = snapshot.versions
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
