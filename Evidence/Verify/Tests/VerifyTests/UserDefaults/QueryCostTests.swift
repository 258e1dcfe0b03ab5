import Testing

@testable import Preferences

/// The work for a name doesn't depend on the number of names in use.
struct QueryCostTests {
    /// The number of times that names were hashed.
    private final class Hashes: Sendable {
        private let state = Lock(0)

        var count: Int { state.withLock { $0 } }

        func add() { state.withLock { $0 += 1 } }
    }

    private struct CountedName: Hashable {
        let number: Int
        let hashes: Hashes

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }

        func hash(into hasher: inout Hasher) {
            hashes.add()
            hasher.combine(number)
        }
    }

    private let hashes = Hashes()
    private let nameCount = 4_000

    private func name(_ number: Int) -> CountedName { CountedName(number: number, hashes: hashes) }

    /// Does what a read of a name does.
    private func read(_ number: Int, of queried: inout QueriedNames<CountedName>) {
        guard queried.isUnqueried(anyOf: CollectionOfOne(name(number))) else { return }
        let unqueried = queried.unqueried(among: CollectionOfOne(name(number)))
        #expect(queried.staleNames(among: unqueried).count <= 1)
        queried.noteQueried(unqueried)
    }

    @Test
    func firstReadsAreLinear() {
        var queried = QueriedNames<CountedName>()
        for number in 0..<nameCount { read(number, of: &queried) }
        #expect(queried.all.count == nameCount)
        #expect(hashes.count <= 32 * nameCount)
    }

    @Test
    func readAfterANotificationLooksAtItsNameAlone() {
        var queried = QueriedNames<CountedName>()
        for number in 0..<nameCount { read(number, of: &queried) }
        for number in 0..<60 {
            let before = hashes.count
            queried.invalidateAll()
            read(number, of: &queried)
            #expect(hashes.count <= before + 100)
        }
        #expect(queried.isUnqueried(anyOf: CollectionOfOne(name(0))))
        #expect(!queried.isUnqueried(anyOf: CollectionOfOne(name(59))))
        #expect(queried.stale.count == nameCount - 1)
    }

    @Test
    func notificationInvalidatesTheSlotsThatWereReadSinceTheLastOne() {
        var state = StoreState()
        let cells = (0..<1_000).map { _ in PreferenceCell() }
        func read(_ cell: PreferenceCell) {
            state.noteLoading(cell)
            cell.fillAbsent()
        }
        for cell in cells { read(cell) }
        state.dropLoadedValues()
        let stamps = cells.map(\.ticket)
        read(cells[3])
        state.dropLoadedValues()
        state.dropLoadedValues()
        #expect(cells.indices.filter { cells[$0].ticket != stamps[$0] } == [3])
        #expect(cells.allSatisfy { $0.ticket & PreferenceCell.kinds == PreferenceCell.stale })
    }

    @Test
    func readThatIsUnderWayIsNotKept() {
        var state = StoreState()
        let cell = PreferenceCell()
        state.noteLoading(cell)
        let ticket = cell.ticket
        state.dropLoadedValues()
        #expect(cell.ticket != ticket)
    }

    @Test
    func unusedSlotsAreForgotten() {
        struct Weak { weak var cell: PreferenceCell? }
        var state = StoreState()
        let cells = (0..<1_000).map { _ in
            let cell = PreferenceCell()
            state.noteLoading(cell)
            cell.leave(as: Int.self)
            return Weak(cell: cell)
        }
        #expect(cells.count { $0.cell != nil } <= 65)
    }
}
