import Preferences
import TestSupport
import Testing

private struct PaneSize: Codable, Equatable { var width = 800, height = 600 }
private struct Pane: Codable, Equatable {
    var x = 0
    var size = PaneSize()
    var title: String?
}

/// A type whose values can't be compared.
private struct Blob: Codable { var bytes: [UInt8] = [] }
private struct Holder: Codable { var blob = Blob(), count = 0 }

@Suite
struct MemberTests {
    private let store = PreferenceStore.inMemory()
    private var pane: Preference<Pane> { Preference("pane", default: Pane(), .check { $0.x >= 0 }, in: store) }

    @Test
    func memberIsReadAndSetInItsValue() throws {
        let width = pane[\.size.width]
        same(width.value, 800)
        width.value = 900
        #expect(width.value == 900 && pane.value.size == PaneSize(width: 900, height: 600))
        same(store["pane"], ["x": 0, "size": ["width": 900, "height": 600]])
        try width.write(1000)
        try width.update { $0 += 1 }
        same(pane.value.size.width, 1001)
        pane.value.x = 5
        pane[\.title].value = "Pitt"
        same(pane.value, Pane(x: 5, size: PaneSize(width: 1001), title: "Pitt"))
    }

    @Test
    func memberOfAMemberIsAMember() {
        let height = pane[\.size][\.height]
        height.value = 1
        same(pane.value.size.height, 1)
        #expect(height == pane[\.size][\.height] && height == pane[\.size.height])
        #expect(height != pane[\.size][\.width])
    }

    @Test
    func resetSetsTheDefaultsMember() {
        pane.value = Pane(x: 1, size: PaneSize(width: 1, height: 2))
        pane[\.size.width].reset()
        same(pane.value, Pane(x: 1, size: PaneSize(width: 800, height: 2)))
    }

    @Test
    func observersAreNotifiedIfTheMemberDiffers() {
        let seen = Recorder<[Int]>()
        let observation = pane[\.size.width].observe { seen.record([$0.old, $0.new]) }
        pane.value.x = 7
        pane.value.size.height = 7
        pane.value.size.width = 7
        pane.reset()
        pane.reset()
        same(seen.elements, [[800, 7], [7, 800]])
        withExtendedLifetime(observation) {}
    }

    @Test
    func observersOfAMemberThatIsNotEquatableAreNotifiedIfItsFormDiffers() {
        let holder = Preference("holder", default: Holder(), in: store)
        let seen = Recorder<Int>()
        let observation = holder[\.blob].observe { seen.record($0.new.bytes.count) }
        holder.value.count = 1
        holder.value.blob.bytes = [1]
        same(seen.elements, [1])
        withExtendedLifetime(observation) {}
    }

    /// No set is lost if two tasks set two members of the same value.
    @Test
    func setsOfTwoMembersAreBothKept() async throws {
        let (width, height) = (pane[\.size.width], pane[\.size.height])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for member in [width, height] {
                group.addTask { for _ in 0..<500 { try member.update { $0 += 1 } } }
            }
            try await group.waitForAll()
        }
        same(pane.value.size, PaneSize(width: 1300, height: 1100))
    }

    @Test
    func ruleOfTheWholeValueApplies() {
        let issues = store.recordIssues()
        let error = #expect(throws: PreferenceError.self) { try pane[\.x].write(-1) }
        same(error?.code, .invalid)
        pane[\.x].value = -1
        same(issues.elements.map(\.code), [.invalid])
        #expect(store.contents.isEmpty)
    }

    @Test
    func unreadableWholeValueIsNotOverwritten() {
        store["pane"] = "damaged"
        store.issueHandler = { _ in }
        let width = pane[\.size.width]
        same(width.value, 800)
        #expect(throws: PreferenceError.self) { try width.write(1) }
        same(store["pane"], "damaged")
    }

    @Test
    func transactionsReadAndSetMembers() throws {
        try store.transaction { transaction in
            transaction[pane[\.size.width]] += 1
            transaction[pane[\.x]] = 3
            same(transaction[pane].size.width, 801)
            transaction.reset(pane[\.x])
            transaction[pane[\.size.height]] = transaction[pane[\.size.width]]
        }
        same(pane.value, Pane(size: PaneSize(width: 801, height: 801)))
    }

    @Test
    func updatesAreSentIfTheMemberDiffers() async {
        var updates = pane[\.size.width].updates.makeAsyncIterator()
        await same(updates.next(), 800)
        pane.value.x = 1
        pane.value.size.width = 5
        await same(updates.next(), 5)
    }

    @Test
    func memberCanBeATargetButNotASourceOfAMigration() {
        let issues = store.recordIssues()
        pane.value.x = 1
        let x = Preference("x", default: 0, in: store)
        x.migrate(from: pane[\.x])
        same(issues.elements.map(\.code), [.misuse])
        #expect(pane.value.x == 1 && !x.isSet)
        pane.reset()
        x.value = 7
        pane[\.x].migrate(from: x)
        #expect(pane.value == Pane(x: 7) && !x.isSet)
    }

    @Test
    func erasedMemberLeavesTheOtherMembers() throws {
        pane.value = Pane(x: 1, title: "Pitt")
        let x = AnyPreference(pane[\.x])
        try x.write(["x": 5, "size": ["width": 1, "height": 1]])
        same(pane.value, Pane(x: 5, title: "Pitt"))
        try x.write(nil)
        same(pane.value, Pane(title: "Pitt"))
    }

    @Test
    func resetOfAGroupLeavesTheOtherMembers() {
        struct Group: PreferenceGroup {
            @Preference(Group.pane[\.x]) var x
            static let pane = Preference("pane", default: Pane(), in: .inMemory())
        }
        Group.pane.value = Pane(x: 1, title: "Pitt")
        Group().reset()
        same(Group.pane.value, Pane(title: "Pitt"))
    }

    @Test
    func memberHasABindingToAnotherStoreAndADescription() {
        let other = PreferenceStore.inMemory(["pane": ["x": 4, "size": ["width": 1, "height": 2]]])
        same(pane[\.x].bound(to: other).value, 4)
        PreferenceStore.withIsolatedStores(["pane": ["x": 9, "size": ["width": 1, "height": 2]]]) {
            same(Preference("pane", default: Pane())[\.x].value, 9)
        }
        #expect("\(pane[\.x])".hasPrefix("pane["))
        #expect("\(pane[\.x])".hasSuffix("] = 0 (default)"))
    }
}
