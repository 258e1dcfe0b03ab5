import Foundation
import Observation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

extension FormerNameTests {
    @Test
    func valueInAFileIsReportedOnceAndThatInMemoryNever() throws {
        try withTemporaryFolder { folder in
            let store = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            store["vol"] = 3
            let issues = store.recordIssues()
            for _ in 0..<3 {
                same(Player(in: store).volume, 3)
                store.core.dropCachedValues()
            }
            #expect(issues.elements.map(\.code) == [.deprecated] && issues.elements.map(\.name) == ["volume"])
            #expect(
                issues.elements.allSatisfy {
                    $0.message.contains("former name \"vol\"") && $0.message.contains("preferences.jsonl")
                }
            )
        }
        let store = PreferenceStore.inMemory(["vol": 3])
        store.issueHandler = { Issue.record($0) }
        same(Player(in: store).volume, 3)
    }

    @Test
    func unreadableValueIsReportedWithItsName() throws {
        try withTemporaryFolder { folder in
            let store = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            store["vol"] = "loud"
            let issues = store.recordIssues()
            let player = Player(in: store)
            same(player.volume, 5)
            let unreadable = issues.elements.filter { $0.code == .unreadable }
            #expect(unreadable.count == 1 && unreadable[0].name == "volume")
            #expect(unreadable[0].message.contains("as \"vol\""))
            #expect(throws: PreferenceError.self) { try player.$volume.read() }
            #expect(throws: PreferenceError.self) { try player.$volume.update { $0 += 1 } }
            same(store["vol"], "loud")
            store["vol"] = 3
            same(player.volume, 3)
            store["vol"] = "loud"
            same(player.volume, 5)
            same(issues.elements.filter { $0.code == .unreadable }.count, 2)
        }
    }

    @Test
    func messageOfAScopeHasWholeNamesAndIsReportedOnce() throws {
        try withTemporaryFolder { folder in
            let store = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            store["a.vol"] = 3
            let issues = store.recordIssues()
            for _ in 0..<3 { same(Player(in: store.scoped(prefix: "a.")).volume, 3) }
            #expect(issues.elements.count == 1 && issues.elements[0].name == "a.volume")
            #expect(issues.elements.allSatisfy { $0.message.contains("former name \"a.vol\"") })
            #expect(issues.elements.allSatisfy { $0.message.hasSuffix("rename it to \"a.volume\"") })
            store["a.vol"] = "loud"
            same(Player(in: store.scoped(prefix: "a.")).volume, 5)
            #expect(issues.elements.count == 2 && issues.elements[1].message.contains("as \"a.vol\""))
        }
    }

    @Test(arguments: [true, false])
    func migrationFromAFormerNameLeavesItOne(hasMapping: Bool) {
        let managed = FaultInjectingBackend()
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([PreferenceStore(backend: managed, isManaged: true), user])
        store.issueHandler = { Issue.record($0) }
        let player = Player(in: store)
        // The old preference may be declared as long as the program runs, and in a layer's store.
        let old = Preference("vol", default: "", in: hasMapping ? user : .inMemory())
        for _ in 0..<2 {
            if hasMapping {
                player.$volume.migrate(from: old) { Int($0) ?? 0 }
            } else {
                player.$volume.migrate(from: "vol")
            }
            user["vol"] = 7
            same(player.volume, 7)
            player.volume = 5
            same(user.contents, ["volume": 5])
            player.reset()
        }
        managed.changeOutside(["vol": 0])
        #expect(player.volume == 0 && player.$volume.isManaged)
    }
}
