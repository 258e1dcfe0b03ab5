/// The stored values of one moment.
///
/// An update or transaction reads the writable layer and the layers below it. It doesn't read the read-only layers above:
/// otherwise a command-line argument, say, would be stored permanently.
package struct StoreSnapshot: Sendable {
    private let list: LayerList
    /// The index of the strongest layer that is read.
    private let base: Int
    /// The values of each layer from `base` on.
    private var values: [StoredValues]
    /// The layers' change counts: of the layers below the writable one for an update's snapshot, else of all layers.
    package let versions: [UInt64]
    /// For a snapshot of all layers: each layer's error if it couldn't be opened.
    package var failures: [PreferenceError?] = []

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

    /// The value of a name, as the store's subscript returns it.
    package subscript(name: String) -> PropertyListValue? { candidates(for: name).first?.value }

    /// Returns the error of the first layer that couldn't be opened or has a locked value of the name, unless a layer above it has a
    /// value for the name.
    package func failure(above name: String) -> PreferenceError? {
        for (index, failure) in failures.enumerated() {
            if values[index][list.layers[index].spelled(name)] != nil { return nil }
            if let failure = failure ?? list.layers[index].failure(of: name) { return failure }
        }
        return nil
    }

    /// Returns the error because of which the writable layer's value of the first of these names that has one can't be read now.
    ///
    /// - Parameter changes: The values to assume in the writable layer.
    func failure(ofOwn names: [String], after changes: [String: PropertyListValue?]) -> PreferenceError? {
        guard let layer = list.writableLayer, layer.source.locking != nil else { return nil }
        for name in names {
            if let changed = changes[name] {
                if changed != nil { return nil }
                continue
            }
            if ownValue(of: name) != nil { return nil }
            if let failure = layer.failure(of: name) { return failure.named(name) }
        }
        return nil
    }

    /// Returns the error because of which one of the writable layer's values can't be read now, if any.
    var failureOfOwnValues: PreferenceError? {
        guard let layer = list.writableLayer, let locking = layer.source.locking else { return nil }
        let names = locking.lockedNames.compactMap(layer.preferenceName).sortedByBytes
        return failure(ofOwn: names.filter { ownValue(of: $0) == nil }, after: [:])
    }

    /// Returns the values of a name in the layers, the strongest layer's first; in each layer, the name comes before its former names.
    ///
    /// - Parameter changes: The values to assume in the writable layer.
    package func candidates(
        for name: String,
        formerly names: [String] = [],
        after changes: [String: PropertyListValue?] = [:]
    ) -> StoredCandidates {
        list.candidates(for: name, formerly: names, from: base) { index, name in
            if index == list.writableIndex, let changed = changes[name] { return changed }
            return values[index - base][list.layers[index].spelled(name)]
        }
    }

    /// Adds the layers' values of a name that was read after this snapshot was made.
    mutating func merge(_ name: String, from other: StoreSnapshot) {
        for index in values.indices {
            let name = list.layers[base + index].spelled(name)
            values[index].set(other.values[index][name], for: name)
        }
    }

    /// All listed values, by name.
    var contents: [String: PropertyListValue] { contents(after: [:]) }

    /// Returns all listed values, by name.
    ///
    /// - Parameter changes: The values to assume in the writable layer.
    func contents(after changes: [String: PropertyListValue?]) -> [String: PropertyListValue] {
        list.contents(from: base) { index in
            var values = values[index - base].dictionary
            guard index == list.writableIndex else { return values }
            for (name, value) in changes { values[list.layers[index].spelled(name)] = value }
            return values
        }
    }

    /// Returns the values of all layers together, each under its stored name after what `key` returns for the layer; nil leaves it out.
    package func values(_ key: (Layer, Int) -> String?) -> [String: PropertyListValue] {
        var all: [String: PropertyListValue] = [:]
        for (index, values) in zip(base..., values) {
            guard let key = key(list.layers[index], index) else { continue }
            for (name, value) in values.dictionary { all[key + name] = value }
        }
        return all
    }

    /// Returns the value of the writable layer.
    func ownValue(of name: String) -> PropertyListValue? {
        list.writableLayer.flatMap { values[0][$0.spelled(name)] }
    }

    /// The values of the writable layer.
    var ownValues: [String: PropertyListValue] {
        list.writableLayer?.listed(values[0].dictionary) ?? [:]
    }
}

extension StoreSnapshot: Equatable {
    /// Returns whether no layer changed between two snapshots of all layers.
    package static func == (left: StoreSnapshot, right: StoreSnapshot) -> Bool {
        left.list === right.list && left.versions == right.versions
            && left.failures.map { $0 == nil } == right.failures.map { $0 == nil }
    }
}

/// The values that an update or transaction read; they must be unchanged when its changes are stored.
package struct TransactionReads: Sendable {
    /// The values of the writable layer, compared by the backend in one step with storing the changes.
    private(set) var condition = PreferenceCondition.none
    /// The values of the layers below, compared before that. A change to them between comparing and storing counts as later.
    private var below: [String: Below] = [:]
    private var versionsBelow: [UInt64]?

    /// The values of a name and of its former names in the layers below.
    private struct Below {
        var formerNames: [String] = []
        let candidates: StoredCandidates
    }

    init() {}

    /// Creates the record of a condition on the writable layer.
    package init(_ condition: PreferenceCondition) { self.condition = condition }

    /// Creates the record of the value that a merge expects in the writable layer, whatever the others have.
    init(of name: String, mergedInto value: PropertyListValue) {
        condition.values = [name: value]
        condition.isOfMerge = true
    }

    /// Returns the same record for values that were merged into those read.
    consuming func ofMerge() -> TransactionReads {
        var reads = self
        reads.condition.isOfMerge = true
        return reads
    }

    /// Creates the record of reading one preference.
    init(of name: String, formerly names: [String], as candidates: StoredCandidates) {
        guard !names.isEmpty else {
            note(name, candidates)
            return
        }
        for stored in [name] + names {
            let own = candidates.first { $0.layer == nil && ($0.formerName ?? name) == stored }
            condition.values.updateValue(own?.value, forKey: stored)
        }
        below[name] = Below(formerNames: names, candidates: candidates.filter { $0.layer != nil })
    }

    /// The names that were read.
    var names: Set<String> { Set(condition.values.keys) }

    /// Returns whether the value of a name was already read.
    func isNoted(_ name: String) -> Bool { condition.values.index(forKey: name) != nil }

    mutating func note(_ name: String, _ candidates: StoredCandidates) {
        // A complete condition covers an absent name. A store that is asked name by name lists only those it was asked for.
        guard !isNoted(name), !condition.isComplete || candidates.own != nil else { return }
        condition.values.updateValue(candidates.own, forKey: name)
        below[name] = Below(candidates: candidates.withoutOwn)
    }

    mutating func noteAll(_ snapshot: StoreSnapshot) {
        condition = PreferenceCondition(values: snapshot.ownValues.mapValues { $0 }, isComplete: true)
        versionsBelow = snapshot.versions
    }

    /// Returns whether the values read from the layers below are unchanged; call it with the store's lock.
    func holdBelow(in list: LayerList) -> Bool {
        if let versionsBelow { return versionsBelow == list.versionsBelow }
        return below.allSatisfy { name, below in
            below.candidates == list.candidates(for: name, formerly: below.formerNames, from: list.base + 1)
        }
    }
}

extension LayerList {
    fileprivate var versionsBelow: [UInt64] { layers.dropFirst(base + 1).map(\.source.version) }
}

extension StoredCandidates {
    /// The value in the writable layer.
    fileprivate var own: PropertyListValue? { first?.layer == nil ? first?.value : nil }

    fileprivate var withoutOwn: StoredCandidates { first?.layer == nil ? dropFirst() : self }
}
