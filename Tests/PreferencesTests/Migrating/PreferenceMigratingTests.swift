import TestSupport
import Testing

@testable import Preferences

struct PreferenceMigratingTests {
    private let store = PreferenceStore.inMemory(["old": 7, "text": "5", "bad": "loud"])
    private let other = PreferenceStore.inMemory(["elsewhere": 3])

    private func preference(_ name: String, in store: PreferenceStore? = nil) -> Preference<Int> {
        Preference(name, default: 0, in: store ?? self.store)
    }

    @Test
    func firstFormerNameThatIsSetMoves() {
        preference("new").migrate(from: "absent", "old", "text")
        same(store["new"], 7)
        same(store["old"], nil)
        same(store["text"], "5", "nothing is lost")
    }

    @Test
    func formerNameIsReadInThePreferencesForm() {
        let coding = PreferenceCoding<Int>(
            "text",
            encode: { .string("\($0)") },
            decode: { try Int(String(storedValue: $0)) }
        )
        let preference = Preference("new", default: 0, coding: coding, .range(0...9), in: store)
        preference.migrate(from: "text")
        #expect(store["new"] == "5" && store["text"] == nil)
        let issues = store.recordIssues()
        preference.reset()
        store["text"] = "10"
        preference.migrate(from: "text")
        #expect(store["text"] == "10" && issues.elements.map(\.code) == [.invalid])
    }

    @Test
    func memberOfAValueHasNoFormerName() {
        struct Frame: Codable { var x = 0, y = 0 }
        let stored: [String: PropertyListValue] = ["oldFrame": ["x": 1, "y": 2]]
        let store = PreferenceStore.inMemory(stored)
        let issues = store.recordIssues()
        Preference("frame", default: Frame(), in: store)[\.x].migrate(from: "oldFrame")
        same(store.contents, stored)
        same(issues.elements.map(\.code), [.misuse])
    }

    @Test
    func moveToANewNameIsOneChange() {
        let changes = Recorder<Set<String>>()
        let observation = store.subscribe { changes.record(Set($0.entries.map(\.name))) }
        preference("new").migrate(from: preference("old"))
        same(changes.elements, [["old", "new"]])
        #expect(store["new"] == 7 && store["old"] == nil)
        withExtendedLifetime(observation) {}
    }

    @Test
    func nothingIsDoneIfTheSourceIsUnset() {
        let before = store.contents
        preference("new").migrate(from: preference("absent"))
        same(store.contents, before)
    }

    @Test
    func secondRunChangesNothing() {
        for _ in 0..<2 { preference("new").migrate(from: preference("old")) { $0 * 10 } }
        same(store["new"], 70)
    }

    @Test
    func moveThatWasCutShortIsFinished() {
        let target = preference("new", in: other)
        target.value = 7
        target.migrate(from: preference("old"))
        same(other["new"], 7)
        same(store["old"], nil)
    }

    @Test
    func valueMovesBetweenStoresAndTypes() {
        let target = Preference("there", default: "", in: store)
        target.migrate(from: preference("elsewhere", in: other)) { "number \($0)" }
        same(store["there"], "number 3")
        #expect(other.contents.isEmpty)
    }

    @Test
    func typeChangesInPlaceOnce() {
        let target = Preference("old", default: [Int](), in: store)
        for _ in 0..<2 { target.migrate(from: preference("old")) { [$0, $0] } }
        same(store["old"], [7, 7])
    }

    @Test
    func unreadableSourceIsReportedAndStays() {
        let issues = store.recordIssues()
        preference("new").migrate(from: preference("bad"))
        same(issues.elements.map(\.code), [.unreadable])
        same(store["bad"], "loud")
        same(store["new"], nil)
    }

    @Test
    func failedMappingAndRefusedValueChangeNothing() {
        struct NotToday: Error {}
        let issues = store.recordIssues()
        let before = store.contents
        preference("new").migrate(from: preference("old")) { _ in throw NotToday() }
        Preference("new", default: 0, .range(0...5), in: store).migrate(from: preference("old"))
        same(store.contents, before)
        same(issues.elements.map(\.code), [.unencodable, .invalid])
    }

    @Test
    func sourceStaysIfTheTargetCannotBeStored() throws {
        let target = preference("new", in: .arguments([]))
        let issues = target.store.recordIssues()
        target.migrate(from: preference("old"))
        same(store["old"], 7)
        same(issues.elements.map(\.code), [.readOnly])
    }
}
