/// A name of a source: its value, and the names of stores that show it.
///
/// Guarded by the publish lock; changed within the turn, or kept.
final class Entry: Named, @unchecked Sendable {
    // Accesses are exclusive under the lock; checking that would take a tenth of a set.
    @exclusivity(unchecked) fileprivate(set) var value: PropertyListValue?
    /// Whether the transaction that is being published changes it.
    @exclusivity(unchecked) var isTouched = false
    /// The stored value, if the entry's isn't stored yet.
    @exclusivity(unchecked) var kept: Kept?
    /// Whether the backend was asked for the name, if it is asked for single names.
    @exclusivity(unchecked) var knowledge = Knowledge.none
    /// The nodes, each with the index of this among its entries.
    @exclusivity(unchecked) fileprivate(set) var nodes: [(node: Node, index: Int)] = []
    /// The problems of the value that were reported, each with the handler's number.
    @exclusivity(unchecked) var reported: [(problem: UnreadableValue.Key, reporter: UInt64)] = []

    /// Whether a keyed backend was asked for the name, and whether it might have changed since.
    enum Knowledge: UInt8 { case none, outdated, current }

    var isKnown: Bool { knowledge == .current }

    /// A value that a property has set and that isn't stored yet.
    final class Kept {
        var stored: PropertyListValue?
        /// Counts how often sets of the source were kept: a change supersedes those that its body could see.
        var number: Int

        init(_ stored: PropertyListValue?, _ number: Int) { (self.stored, self.number) = (stored, number) }
    }
}

/// The values of a source by name.
struct Table: ~Copyable {
    private var entries = NameTable<Entry>()
    /// The number of values.
    private(set) var count = 0
    /// Counts the changes of values.
    private(set) var changeCount = 0

    /// The entry of a name, if it has a value or is shown by a store.
    func entry(_ name: String) -> Entry? { entries[name] }

    subscript(name: String) -> PropertyListValue? { entries[name]?.value }

    borrowing func forEach(_ body: (Entry) -> Void) { entries.forEach(body) }

    /// The entry of a name, which is added if it has none; it must then get a value.
    mutating func entry(adding name: String) -> Entry { entries.find(name) { Entry($0) } }

    mutating func reserve(_ count: Int) { entries.reserve(count) }

    /// Returns the value before, which the caller releases without the lock.
    mutating func set(_ entry: Entry, to value: PropertyListValue?) -> PropertyListValue? {
        count += (value == nil ? 0 : 1) - (entry.value == nil ? 0 : 1)
        changeCount &+= 1
        let old = exchange(&entry.value, with: value)
        if !entry.reported.isEmpty { entry.reported = [] }
        if value == nil { dropUnused(entry) }
        return old
    }

    mutating func dropUnused(_ entry: Entry) {
        guard entry.value == nil, entry.nodes.isEmpty, entry.kept == nil, entry.knowledge == .none else { return }
        entries.remove(entry.name)
    }

    /// Adds a name of a store that shows this one, whose entry has an index there.
    mutating func attach(_ node: Node, as name: String, _ index: Int) -> (entry: Entry, place: Int) {
        let entry = entry(adding: name)
        entry.nodes.append((node, index))
        return (entry, entry.nodes.count - 1)
    }

    mutating func detach(_ place: Int, from entry: Entry) {
        entry.nodes.swapAt(place, entry.nodes.count - 1)
        entry.nodes.removeLast()
        if place < entry.nodes.count { entry.nodes[place].node.move(entry.nodes[place].index, to: place) }
        dropUnused(entry)
    }
}

/// The parts of a source that observers of whole stores see, by the prefix of their names. Guarded by the publish lock.
struct Views: ~Copyable {
    /// A store and its layer; its own object, so that it is removed without a search.
    final class View: Named {
        @exclusivity(unchecked) fileprivate var next: View?
        @exclusivity(unchecked) fileprivate unowned(unsafe) var previous: View?
        unowned(unsafe) let core: StoreCore
        let layer: Int

        init(_ prefix: String, _ core: StoreCore, _ layer: Int) {
            (self.core, self.layer) = (core, layer)
            super.init(prefix)
        }
    }

    /// The first view of each prefix, which isn't a view itself.
    // Not private, which breaks Swift 6.3.1 in a debug build.
    final class Head: Named { @exclusivity(unchecked) var first: View? }

    private var heads = NameTable<Head>()
    /// The lengths of the prefixes in UTF-8, and how many views have each.
    private var lengths: [(length: Int, count: Int)] = []

    var isEmpty: Bool { lengths.isEmpty }

    mutating func add(_ view: View) {
        let head = heads.find(view.name) { Head($0) }
        view.next = head.first
        head.first?.previous = view
        head.first = view
        let length = view.name.utf8.count
        if let index = lengths.firstIndex(where: { $0.length == length }) {
            lengths[index].count += 1
        } else {
            lengths.append((length, 1))
        }
    }

    mutating func remove(_ view: View) {
        view.next?.previous = view.previous
        if let previous = view.previous {
            previous.next = view.next
        } else if let head = heads[view.name] {
            head.first = view.next
            if head.first == nil { heads.remove(view.name) }
        }
        (view.next, view.previous) = (nil, nil)
        guard let index = lengths.firstIndex(where: { $0.length == view.name.utf8.count }) else { return }
        lengths[index].count -= 1
        if lengths[index].count == 0 { lengths.remove(at: index) }
    }

    /// Calls `body` with each view that shows a name.
    borrowing func forEach(of name: String, _ body: (View) -> Void) {
        for (length, _) in lengths where length <= name.utf8.count {
            var view = heads[String(decoding: name.utf8.prefix(length), as: UTF8.self)]?.first
            while let shown = view {
                body(shown)
                view = shown.next
            }
        }
    }
}
