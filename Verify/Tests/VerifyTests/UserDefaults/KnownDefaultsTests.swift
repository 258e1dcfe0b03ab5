import DurableFile
import Foundation
import Testing

@testable import Preferences

/// What a store knows of user defaults, and what it still has to write.
struct KnownDefaultsTests {
    private var known = KnownDefaults()

    /// Reads a name, with what happens meanwhile, as often as it takes.
    private mutating func read(_ value: PropertyListValue?, meanwhile: (inout KnownDefaults) -> Void = { _ in }) -> Bool
    {
        let ticket = known.startReading("n")
        meanwhile(&known)
        guard known.isCurrent(ticket, of: "n") else { return false }
        known.take(value, isForced: false, under: "n", readAt: ticket)
        return true
    }

    @Test
    mutating func readCountsIfNothingHappenedMeanwhile() {
        #expect(read(1))
        #expect(known["n"] == 1 && known.isCurrent("n") && !known.hasUntold)
        #expect(read(2))
        #expect(known.takeUntold() == ["n": 2])
        #expect(read(2))
        #expect(!known.hasUntold)
    }

    @Test
    mutating func readIsOvertakenByWhateverHappens() {
        let events: [(inout KnownDefaults) -> Void] = [
            { _ = $0.doubt("n") }, { _ = $0.doubtAll() }, { $0.set("n", to: 5) },
        ]
        for event in events { #expect(!read(1, meanwhile: event)) }
        #expect(read(5))
        for event in events { #expect(!read(1, meanwhile: event)) }
    }

    /// Nobody was told in between, so that only the order of the reads says which is newer.
    @Test(arguments: [true, false])
    func olderReadDoesNotReplaceANewerOne(isFirst: Bool) {
        var known = KnownDefaults()
        if !isFirst { known.take(0, isForced: false, under: "n", readAt: known.startReading("n")) }
        let older = known.startReading("n")
        let newer = known.startReading("n")
        known.take(2, isForced: false, under: "n", readAt: newer)
        #expect(!known.isCurrent(older, of: "n"))
        #expect(!known.isNewest(older, of: "n"))
        #expect(known.isCurrent("n"))
    }

    @Test
    mutating func whatOvertakenReadFoundIsNotCurrent() {
        #expect(read(1))
        let ticket = known.startReading("n")
        _ = known.doubt("n")
        #expect(known.isNewest(ticket, of: "n"))
        known.take(2, isForced: false, under: "n", readAt: ticket)
        #expect(known["n"] == 2 && !known.isCurrent("n"))
        #expect(read(2))
        #expect(known.isCurrent("n"))
    }

    @Test
    mutating func valueIsOwnUntilAnotherIsRead() {
        #expect(!known.hasSet("n", to: 1))
        #expect(read(1))
        #expect(!known.hasSet("n", to: 1))
        known.set("n", to: 1)
        #expect(known.hasSet("n", to: 1) && !known.hasSet("n", to: 2) && !known.hasSet("n", to: nil))
        #expect(read(2) && read(1))
        #expect(!known.hasSet("n", to: 1))
        known.set("n", to: nil)
        #expect(known.hasSet("n", to: nil))
    }

    @Test
    mutating func sizeFollowsTheValues() {
        #expect(read(.data(Data(count: 100))))
        let size = known.size
        #expect(size > 100)
        known.set("n", to: nil)
        #expect(known.size == 0)
        #expect(known.size(with: ["n": .data(Data(count: 100))]) == size)
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
