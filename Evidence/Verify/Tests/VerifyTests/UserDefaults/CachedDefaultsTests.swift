import DurableFile
import Foundation
import Testing

@testable import Preferences

/// The cached values of user defaults, and the queue of values to write.
struct CachedDefaultsTests {
    private var cached = CachedDefaults()
    /// Whether the last read that was accepted found a change.
    private var isChanged = false

    /// Reads a name while `meanwhile` runs; returns whether the value was accepted.
    private mutating func read(
        _ value: PropertyListValue?,
        meanwhile: (inout CachedDefaults) -> Void = { _ in }
    ) -> Bool {
        let ticket = cached.startReading("n")
        meanwhile(&cached)
        guard cached.isCurrent(ticket, of: "n") else { return false }
        isChanged = cached.record(FoundDefaults(own: .known(value)), under: "n", readAt: ticket)
        return true
    }

    @Test
    mutating func readIsAcceptedIfNothingHappenedInBetween() {
        #expect(read(1))
        #expect(cached["n"] == 1 && cached.isCurrent("n") && !isChanged, "the name was not read before")
        #expect(read(2) && isChanged)
        #expect(read(2) && !isChanged)
    }

    @Test
    mutating func readIsRejectedAfterAnyEvent() {
        let events: [(inout CachedDefaults) -> Void] = [
            { _ = $0.invalidate("n") }, { _ = $0.invalidateAll() }, { $0.set("n", to: 5) },
        ]
        for event in events { #expect(!read(1, meanwhile: event)) }
        #expect(read(5))
        for event in events { #expect(!read(1, meanwhile: event)) }
    }

    /// The store wasn't notified in between, so only the order of the reads determines which is newer.
    @Test(arguments: [true, false])
    func olderReadDoesNotReplaceANewerOne(isFirst: Bool) {
        var cached = CachedDefaults()
        if !isFirst { _ = cached.record(FoundDefaults(own: .known(0)), under: "n", readAt: cached.startReading("n")) }
        let older = cached.startReading("n")
        let newer = cached.startReading("n")
        let isChanged = cached.record(FoundDefaults(own: .known(2)), under: "n", readAt: newer)
        #expect(isChanged == !isFirst)
        #expect(!cached.isCurrent(older, of: "n"))
        #expect(!cached.isNewest(older, of: "n"))
        #expect(cached.isCurrent("n"))
    }

    @Test
    mutating func valueOfAnOvertakenReadIsNotCurrent() {
        #expect(read(1))
        let ticket = cached.startReading("n")
        _ = cached.invalidate("n")
        #expect(cached.isNewest(ticket, of: "n"))
        isChanged = cached.record(FoundDefaults(own: .known(2)), under: "n", readAt: ticket)
        #expect(isChanged)
        #expect(cached["n"] == 2 && !cached.isCurrent("n"))
        #expect(read(2))
        #expect(cached.isCurrent("n"))
    }

    @Test
    mutating func valueIsOwnUntilAnotherIsRead() {
        #expect(!cached.hasSet("n", to: 1))
        #expect(read(1))
        #expect(!cached.hasSet("n", to: 1))
        cached.set("n", to: 1)
        #expect(cached.hasSet("n", to: 1) && !cached.hasSet("n", to: 2) && !cached.hasSet("n", to: nil))
        #expect(read(2) && read(1))
        #expect(!cached.hasSet("n", to: 1))
        cached.set("n", to: nil)
        #expect(cached.hasSet("n", to: nil))
    }

    @Test
    mutating func sizeFollowsTheValues() {
        #expect(read(.data(Data(count: 100))))
        let size = cached.size
        #expect(size > 100)
        cached.set("n", to: nil)
        #expect(cached.size == 0)
        #expect(cached.size(with: ["n": .data(Data(count: 100))]) == size)
    }

    @Test
    func queueGivesTheLastValueOfEachNameInOrder() {
        var queue = UserDefaultsQueue()
        for value in 1...3 { queue.append(["a": .integer(Int64(value))]) }
        queue.append(["b": nil])
        queue.append(["a": 4])
        var written: [String] = []
        while let (name, value) = queue.next(for: .current) {
            #expect(queue.next(for: .current) == nil)
            written.append("\(name) \(value.map { "\($0)" } ?? "-")")
            queue.finish(name)
        }
        #expect(written == ["b -", "a 4"])
        #expect(queue.isWritten(queue.last) && !queue.holds("a") && !queue.isWriting)
    }

    @Test
    func queueKeepsWhatIsSetWhileItIsWritten() {
        var queue = UserDefaultsQueue()
        queue.append(["a": 1])
        #expect(queue.next(for: .current)?.value == 1)
        queue.append(["a": 2])
        queue.finish("a")
        #expect(queue.holds("a") && !queue.isWritten(queue.last))
        #expect(queue.next(for: .current)?.value == 2)
        queue.finish("a")
        #expect(!queue.holds("a"))
    }
}
