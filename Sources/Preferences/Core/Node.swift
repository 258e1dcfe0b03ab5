internal import Synchronization

/// A declared or observed name of a store. All but `signal` and the cells is guarded by the publish lock.
@usableFromInline
package final class Node: Named, @unchecked Sendable {
    /// The store, which has the node until it is released.
    package unowned(unsafe) let core: StoreCore
    package let signal = PreferenceSignal()
    /// The former names in use, the first one first.
    @exclusivity(unchecked) fileprivate(set) var formerNames: [String] = []
    /// Those of its name and then of its former names in the strongest layer, then in the next; each with the node's index there.
    @exclusivity(unchecked) fileprivate var entries: [(entry: Entry, place: Int)] = []
    /// The first of the cells.
    @exclusivity(unchecked) private var cell: PreferenceCell?
    @exclusivity(unchecked) var subscriptions = Subscriptions()
    /// Whether a read used more than the strongest value since the last change, so that a change below it counts.
    @exclusivity(unchecked) var usesWeaker = false
    /// Whether the transaction that is being published changes it.
    @exclusivity(unchecked) var isTouched = false

    init(_ name: String, _ core: StoreCore) {
        self.core = core
        super.init(name)
    }

    private var nameCount: Int { formerNames.count + 1 }

    /// The entry, if it has one layer and one name, as most.
    var plain: Entry? { entries.count == 1 ? entries[0].entry : nil }

    /// Whether a change below the strongest value counts.
    var needsCandidates: Bool { usesWeaker || !subscriptions.isEmpty }

    /// Whether an observer is notified before a change.
    var hasEarlyObserver: Bool { subscriptions.all.contains { $0?.timing == .willSet } }

    /// Whether a declaration of the name exists.
    var isDeclared: Bool {
        var next = cell
        while let known = next {
            if known.users > 0 { return true }
            next = known.next
        }
        return false
    }

    // MARK: Entries

    /// Shows the name, and former ones from now on, in the tables of the layers.
    func attach(to list: LayerList, _ names: [String] = []) {
        formerNames = names
        // As most names; the loop copies each layer, which takes 400 instructions.
        if list.isPlain, names.isEmpty {
            entries = [list.layers[0].source.table.attach(self, as: name, 0)]
            return
        }
        entries.reserveCapacity(list.layers.count * nameCount)
        for layer in list.layers {
            entries.append(layer.source.table.attach(self, as: layer.key(name), entries.count))
            for name in formerNames {
                entries.append(layer.source.table.attach(self, as: layer.key(name), entries.count))
            }
        }
    }

    fileprivate func detach() {
        for index in entries.indices {
            core.layers[index / nameCount].source.table.detach(entries[index].place, from: entries[index].entry)
        }
        entries = []
    }

    /// Notes the new index among the nodes of one of its entries.
    func move(_ index: Int, to place: Int) { entries[index].place = place }

    /// The first of the candidates.
    var first: PropertyListValue? {
        for (entry, _) in entries { if let value = entry.value { return value } }
        return nil
    }

    /// Returns the stored values of the name, the strongest first.
    ///
    /// - Parameters:
    ///   - base: The index of the strongest layer that is read.
    ///   - changes: The values that a source is going to have instead, by the source's names.
    func candidates(from base: Int = 0, with changes: StoreCore.SourceChanges? = nil) -> [Candidate] {
        var found: [Candidate] = []
        for index in base * nameCount..<entries.count {
            let entry = entries[index].entry
            let (layer, name) = (index / nameCount, index % nameCount)
            // A layer may spell two names alike.
            if name > 0, entries[layer * nameCount..<index].contains(where: { $0.entry === entry }) { continue }
            let changed = changes.flatMap { $0.source === core.layers[layer].source ? $0.values[entry.name] : nil }
            if let value = changed ?? entry.value { found.append(Candidate(value: value, layer: layer, name: name)) }
        }
        return found
    }

    /// Returns the name that a candidate is stored under, without the layer's prefix and spelling.
    func name(of candidate: Candidate) -> String {
        candidate.name == 0 || candidate.name > formerNames.count ? name : formerNames[candidate.name - 1]
    }

    /// Returns whether a problem of a candidate wasn't reported to a handler yet, and notes that it is.
    func isNew(_ problem: UnreadableValue.Key, of candidate: Candidate, to reporter: UInt64) -> Bool {
        let index = candidate.layer * nameCount + candidate.name
        guard index < entries.count, case let entry = entries[index].entry, entry.value == candidate.value else {
            return true
        }
        if entry.reported.contains(where: { $0 == (problem, reporter) }) { return false }
        entry.reported.append((problem, reporter))
        return true
    }

    /// Whether all keyed sources were asked for the name, and it hasn't changed since.
    var isKnown: Bool {
        entries.enumerated().allSatisfy { index, place in
            place.entry.isKnown || !core.layers[index / nameCount].source.isKeyed
        }
    }

    /// The names in a layer that is asked for single names.
    ///
    /// - Parameter again: Whether those are included that it was asked for already.
    func names(in layer: Int, again: Bool) -> [String] {
        let own = entries[layer * nameCount..<(layer + 1) * nameCount]
        return own.filter { again || !$0.entry.isKnown }.map(\.entry.name)
    }

    // MARK: Cells

    /// Returns the cell of a type, coding and rules, with the caller as a user.
    ///
    /// - Parameter removed: Gets unused cells, whose values the caller releases without the lock.
    fileprivate func cell(
        for key: CellKey,
        _ removed: inout PreferenceCell?,
        create: () -> PreferenceCell
    ) -> PreferenceCell {
        var (count, last): (Int, PreferenceCell?) = (0, nil)
        var next = cell
        while let known = next {
            if known.key == key {
                // The rules of the declarations that are gone might have been others, at the same address.
                if known.users == 0, key.rules != nil { known.invalidate() }
                known.users += 1
                return known
            }
            (count, last, next) = (count + 1, known, known.next)
        }
        let created = create()
        created.key = key
        if count >= 8 {
            var used: PreferenceCell?
            var unused: PreferenceCell?
            var rest = cell
            // Those in use move to the new list.
            while let known = rest {
                rest = known.next
                if known.users > 0 {
                    (known.next, used) = (used, known)
                } else {
                    (known.next, unused) = (unused, known)
                }
            }
            (removed, cell, created.next) = (unused, created, used)
        } else if let last {
            last.next = created
        } else {
            cell = created
        }
        return created
    }

    /// Makes each later read go to the store.
    func invalidate() {
        var next = cell
        while let known = next {
            known.invalidate()
            next = known.next
        }
    }
}

/// A former name of a preference.
final class Claim: Named {
    unowned(unsafe) let node: Node
    /// Whether the name is declared as a preference only to be migrated from.
    var isMigrated = false

    init(_ name: String, _ node: Node) {
        self.node = node
        super.init(name)
    }
}

extension StoreCore {
    /// Returns the node of a name.
    func node(_ name: String) -> Node { publishing.withLock { findNode(name) } }

    /// Returns the node of a declaration and its cell; `leave` must follow.
    // Not generic: as a generic result, the tuple's type would be looked up at each call.
    func declare(
        _ name: String,
        formerly formerNames: [String],
        _ key: CellKey,
        create: () -> PreferenceCell
    ) -> (Node, PreferenceCell) {
        var removed: PreferenceCell?
        var effects = Effects()
        // One that another preference of the replaced store has isn't a former name here, either.
        let used = original.map { $0.formerNames(of: $0.node(name)) }
        let formerNames = used.map { used in formerNames.filter(used.contains) } ?? formerNames
        let (node, cell) = publishing.withLock {
            let node = findNode(name)
            // A former name of another preference isn't one any more.
            if claims.count > 0, !node.isDeclared, let claim = claims[name], claim.node !== node, !claim.isMigrated {
                claims.remove(name)
                addMisuse(ofFormerName: name, of: claim.node.name, name)
                show(claim.node, under: claim.node.formerNames.filter { $0 != name }, &effects)
            }
            if !formerNames.isEmpty { claim(formerNames, for: node, &effects) }
            return (node, node.cell(for: key, &removed, create: create))
        }
        withExtendedLifetime(removed) {}
        runLater(effects)
        return (node, cell)
    }

    /// Returns the former names that a preference is read under.
    package func declaredFormerNames(of name: String) -> [String] {
        publishing.withLock { nodes[name]?.formerNames ?? [] }
    }

    func leave(_ cell: PreferenceCell) { publishing.withLock { cell.users -= 1 } }

    private func findNode(_ name: String) -> Node {
        if let node = nodes[name] { return node }
        let node = nodes.find(name) { Node($0, self) }
        node.attach(to: list)
        return node
    }

    /// Has a preference read former names, too, of which no other preference has one.
    private func claim(_ formerNames: [String], for node: Node, _ effects: inout Effects) {
        var names = node.formerNames
        for name in formerNames where name != node.name && !names.contains(name) {
            let claim = claims[name]
            if claim.map({ $0.node !== node && $0.node.isDeclared }) ?? false
                || !(claim?.isMigrated ?? false) && nodes[name]?.isDeclared ?? false
            {
                addMisuse(ofFormerName: name, of: node.name, claim?.node.name ?? name)
                continue
            }
            if let claim, claim.node !== node {
                // The declaration of the other preference was released.
                show(claim.node, under: claim.node.formerNames.filter { $0 != name }, &effects)
                claims.remove(name)
            }
            _ = claims.find(name) { Claim($0, node) }
            names.append(name)
        }
        guard names.count > node.formerNames.count else { return }
        // In the order of the declaration.
        let declared = formerNames.filter(names.contains)
        show(node, under: declared + names.filter { !declared.contains($0) }, &effects)
    }

    /// Shows a preference under other former names.
    private func show(_ node: Node, under names: [String], _ effects: inout Effects) {
        let before = node.candidates()
        node.detach()
        node.attach(to: list, names)
        effects.noteShown(node, before)
    }

    private func addMisuse(ofFormerName former: String, of name: String, _ other: String) {
        misuses.append(Self.misuse(ofFormerName: former, of: name, other))
        isPrepared.store(false, ordering: .releasing)
    }

    private static func misuse(ofFormerName former: String, of name: String, _ other: String) -> PreferenceError {
        PreferenceError(
            .misuse,
            name: name,
            "the former name \"\(former)\" belongs to the preference \"\(other)\" of the store and is ignored; remove it from .formerly"
        )
    }

    /// Records that a preference is migrated from one whose name is a former name of it, and therefore stays one.
    ///
    /// - Parameter declared: The former names of its declaration.
    func noteMigration(from former: String, of node: Node, _ declared: [String]) {
        var effects = Effects()
        publishing.withLock {
            let claim = claims.find(former) { Claim($0, node) }
            guard claim.node === node, !claim.isMigrated else { return }
            claim.isMigrated = true
            let misuse = Self.misuse(ofFormerName: former, of: node.name, former).message
            misuses.removeAll { $0.name == node.name && $0.message == misuse }
            guard !node.formerNames.contains(former) else { return }
            show(node, under: declared.filter { $0 == former || node.formerNames.contains($0) }, &effects)
        }
        runLater(effects)
    }

    /// Notifies on another thread: this one may be reading, and hold a lock that observers wait for.
    private func runLater(_ effects: Effects) {
        if !effects.isEmpty, let source = layers.first?.source { effects.runLater(source) }
    }

    /// Removes all names from the sources, some at a time; called when the store is released.
    func detach() {
        var all: [Node] = []
        publishing.withLock {
            nodes.forEach { all.append($0) }
            removeViews()
        }
        for start in stride(from: 0, to: all.count, by: 256) {
            publishing.withLock { for node in all[start..<min(start + 256, all.count)] { node.detach() } }
        }
    }
}
