internal import CPreferences
internal import Synchronization

/// The origin of a change.
public enum PreferenceChangeOrigin: Sendable, Hashable {
    /// This process, through this library.
    case local
    /// Another process, a text editor, or a framework below the store.
    case external
}

/// The time at which an observer is notified of a change.
public enum PreferenceTiming: Sendable, Hashable {
    /// After the new value can be read.
    case didSet
    /// Just before the change, while the old value can still be read.
    case willSet
}

/// The change of a name's stored values by a transaction.
package struct ChangeEntry: Sendable {
    /// The node; nil for a stored name that observers of the whole store see.
    // It lives as long as its store, which each subscription keeps.
    unowned(unsafe) let node: Node?
    package let name: String
    /// The stored values before the change, the strongest layer's first.
    let old: [Candidate]
    /// The stored values after it.
    let new: [Candidate]
}

/// The changes of one set, of one transaction or of one external change, delivered together.
package struct ChangeBatch: Sendable {
    let entries: [ChangeEntry]
    let origin: PreferenceChangeOrigin
    /// The number of the store's transaction.
    let sequence: UInt64
    /// The last subscription that was notified before the change.
    let announced: UInt64
    /// How many answers of observers to answers led to it.
    let depth: Int64
    /// The thread that has made it.
    let thread: UInt
    /// The changes that the observers have decoded, if there are several.
    fileprivate(set) var decoded: DecodedChanges?

    /// Returns the change of a preference.
    func entry(for node: Node) -> ChangeEntry? { entries.first { $0.node === node } }

    /// The changes of stored names, for observers of the whole store.
    package var stored: [ChangeEntry] { entries.filter { $0.node == nil } }
}

/// The changes of a batch as its observers have decoded them, so that those of one type decode a change once.
final class DecodedChanges: @unchecked Sendable {  // used by the thread that delivers only
    private var changes: [AnyDecodedChange] = []

    func change(for cell: ObjectIdentifier) -> AnyDecodedChange? { changes.first { $0.cell == cell } }

    func append(_ change: AnyDecodedChange) { changes.append(change) }
}

/// A decoded change; its only subclass has the values.
class AnyDecodedChange: @unchecked Sendable {  // constants of types that are `Sendable`
    /// The cell that is shared by all declarations that decode the change to the same values.
    let cell: ObjectIdentifier

    init(cell: ObjectIdentifier) { self.cell = cell }
}

/// An observer of some names or of a store.
final class Subscription: @unchecked Sendable {  // atomics, constants, and what is guarded as said
    let timing: PreferenceTiming
    /// The order of all subscriptions of the process; an announcement reaches those up to a number.
    let number: UInt64
    /// The number of the store's last transaction before it.
    let start: UInt64
    let isCancelled = Atomic<Bool>(false)
    /// Its nodes; none for all names.
    let nodes: [Node]
    private let call: @Sendable (ChangeBatch) -> Void

    init(
        _ timing: PreferenceTiming,
        _ number: UInt64,
        after start: UInt64,
        _ nodes: [Node],
        _ call: @escaping @Sendable (ChangeBatch) -> Void
    ) {
        (self.timing, self.number, self.start, self.nodes, self.call) = (timing, number, start, nodes, call)
    }

    /// Calls the observer, unless it is cancelled; call without a lock.
    fileprivate func receive(_ batch: ChangeBatch) {
        if !isCancelled.load(ordering: .acquiring) { call(batch) }
    }
}

extension [Subscription] {
    /// Calls the observers, whose own changes are answers to this one; call without a lock.
    func receive(_ batch: ChangeBatch) {
        if isEmpty { return }
        let thread = preferences_state()
        let before = thread.pointee.depth
        thread.pointee.depth = batch.depth
        var batch = batch
        if count > 1 { batch.decoded = DecodedChanges() }
        for subscription in self { subscription.receive(batch) }
        thread.pointee.depth = before
    }
}

/// The observers of a name or a store, in the order in which they subscribed. Guarded by the publish lock.
struct Subscriptions {
    /// With holes, so that one is removed without moving the others; in the order of their numbers.
    private(set) var all: [Subscription?] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func add(_ subscription: Subscription) {
        all.append(subscription)
        count += 1
    }

    mutating func remove(_ subscription: Subscription) {
        guard let place = place(of: subscription) else { return }
        all[place] = nil
        count -= 1
        if all.count > 2 * count + 8 { all.removeAll { $0 == nil } }
    }

    /// Returns the index of a subscription, found by its number.
    private func place(of subscription: Subscription) -> Int? {
        var range = 0..<all.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            // A hole has no number: the next subscription decides, if there is one in the range.
            guard let known = all[middle..<range.upperBound].firstIndex(where: { $0 != nil }), let other = all[known]
            else {
                range = range.lowerBound..<middle
                continue
            }
            if other === subscription { return known }
            range = other.number < subscription.number ? known + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}
