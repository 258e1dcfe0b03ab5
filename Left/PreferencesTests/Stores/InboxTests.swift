import TestSupport
import Testing

@testable import Preferences

/// The order in which stored changes are published.
struct InboxTests {
    private typealias Changes = [String: PropertyListValue?]
    private var inbox = Inbox()

    /// Takes everything out; an own batch has its changes behind an "own" entry.
    private mutating func take() -> [Changes] {
        var batches: [Changes] = []
        while let batch = inbox.next() {
            batches.append(batch.isOwn ? batch.dictionary.merging(["own": true]) { $1 } : batch.dictionary)
        }
        return batches
    }

    @Test
    mutating func externalChangesAreMerged() {
        inbox.add(["a": 1, "b": 1])
        inbox.add(["a": nil])
        inbox.add([:])
        #expect(inbox["a"] == .some(nil) && inbox["b"] == .some(1) && inbox["c"] == nil)
        let batches = take()
        same(batches, [["a": nil, "b": 1]])
    }

    @Test
    mutating func ownChangesComeWhereTheyWereStored() {
        inbox.begin(["a": 2, "own": true])
        inbox.add(["a": 1])
        inbox.addOwn()
        inbox.addOwn()
        inbox.add(["a": 3])
        same(inbox["a"], .some(3))
        let batches = take()
        same(batches, [["a": 1], ["a": 2, "own": true], ["a": 3]])
    }

    @Test
    mutating func ownChangesThatAreNotStoredAreNone() {
        inbox.begin(["a": 1])
        inbox.begin(nil)
        inbox.addOwn()
        #expect(inbox.isEmpty)
    }

    /// An answer can come after the notifications of later revisions.
    @Test
    mutating func ownChangesTakeTheirPosition() {
        inbox.begin(["a": 2])
        inbox.add(["b": 1], at: 3)
        inbox.add(["b": 2], at: 7)
        inbox.addOwn(at: 5)
        let batches = take()
        same(batches, [["b": 1], ["a": 2, "own": true], ["b": 2]])
    }

    /// Those without a position are in the order in which they were added.
    @Test
    mutating func noChangePassesOneWithoutAPosition() {
        inbox.add(["a": 1], at: 9)
        inbox.add(["a": 2])
        inbox.add(["a": 3], at: 4)
        let batches = take()
        same(batches, [["a": 1], ["a": 2], ["a": 3]])
    }

    /// All values were read at the revision at which the own changes were stored.
    @Test
    mutating func ownChangesAreNotExternalOnesOfTheirPosition() {
        inbox.begin(["a": 2])
        inbox.add(["a": 2, "b": 1], at: 5)
        inbox.addOwn(at: 5)
        let batches = take()
        same(batches, [["b": 1], ["a": 2, "own": true]])
    }

    @Test
    mutating func changeIsThereUntilItIsPublished() {
        inbox.add(["a": 1])
        _ = inbox.next()
        #expect(inbox.isEmpty && !inbox.isDone && inbox["a"] == .some(1) && inbox.changes == ["a": 1])
        inbox.add(["a": 2])
        same(inbox["a"], .some(2))
        let batches = take()
        #expect(batches == [["a": 2]] && inbox.isDone && inbox["a"] == nil)
    }
}
