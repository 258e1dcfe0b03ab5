import FileTestSupport
import Foundation
import PreferencesEditing
import TestSupport
import Testing

@testable import Preferences

/// Drafts that others change the store below at the same time.
struct DraftRaceTests {
    private typealias Player = DraftTests.Player

    @Test
    func draftsAppliedAtOnceLoseNothing() async throws {
        let folder = try TemporaryFolder()
        let store = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        store["frame"] = ["x": 0, "y": 0]
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let draft = store.draft()
                    let player = Player(in: draft.store)
                    for round in 0..<10 {
                        do {
                            // A set would remove what is added by others after the value was read.
                            try await player.$names.update { $0.append("\(index).\(round)") }
                            try await draft.apply()
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        #expect(Set(Player(in: store).names).count == 80 && Player(in: store).names.count == 80)
    }

    /// Another thread sets a list after a draft has looked whether it is still what an edit read, and before the edit is recorded.
    @Test
    func listThatIsSetWhileAnEditIsRecordedLosesNothing() async throws {
        let store = PreferenceStore.inMemory(["first": 1])
        let names = (0..<8).map { "list\($0)" }
        for name in names { store[name] = ["old"] }
        let isDue = Lock(false)
        let isReading = Lock(false)
        let coding = PreferenceCoding<Int>("interrupted") {
            .integer(Int64($0))
        } decode: { stored in
            if isDue.withLock({ exchange(&$0, with: false) }) {
                isReading.withLock { $0 = true }
                while names.contains(where: { store[$0] == ["old"] }) { sched_yield() }
            }
            guard case .integer(let number) = stored else { throw PreferenceError(.unreadable, "no number") }
            return Int(number)
        }
        let draft = store.draft()
        let first = Preference("first", default: 0, coding: coding, in: draft.store)
        let lists = names.map { Preference($0, default: [String](), in: draft.store) }
        await onThreads(2) { thread in
            do {
                if thread == 0 {
                    try draft.store.transaction { transaction in
                        let number = transaction[first]
                        for list in lists { transaction[list].append("own") }
                        transaction[first] = number + 1
                        isDue.withLock { $0 = true }
                    }
                    isReading.withLock { $0 = true }
                } else {
                    while !isReading.withLock({ $0 }) { sched_yield() }
                    // At once: the draft is told of it, and waits.
                    try store.transaction { for name in names { $0[name] = ["old", "other"] } }
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(!isDue.withLock { $0 }, "nothing came in between")
        try await draft.apply()
        for name in names {
            guard case .array(let elements)? = store[name] else {
                Issue.record("\(name) isn't stored")
                continue
            }
            #expect(elements.count == 3 && Set(elements) == ["old", "other", "own"])
        }
    }
}
