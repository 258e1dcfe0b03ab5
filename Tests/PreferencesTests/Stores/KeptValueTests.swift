import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// Values that are set while a store can't be opened, and external changes in between.
struct KeptValueTests {
    private struct Frame: Codable, Equatable {
        var x = 0
        var width = 100
    }

    private let backend = FaultInjectingBackend(["volume": 3, "theme": "dark"])
    private let store: PreferenceStore
    private let issues: Recorder<PreferenceError>

    init() {
        backend.failNext(.load, count: .max)
        store = PreferenceStore(backend: backend)
        issues = store.recordIssues()
    }

    @Test
    func keptValueIsNewerThanExternalChangesBeforeIt() throws {
        let volume = Preference("volume", default: 5, in: store)
        volume.value = 7
        backend.changeOutside(["volume": 9, "other": 1])
        backend.failNext(.load, count: 0)
        try store.load()
        #expect(volume.value == 7 && store["other"] == 1)
        same(issues.elements.map(\.code), [.unavailable])
    }

    /// One value of several: the others are stored.
    @Test
    func valueThatThePlaceRejectsIsDroppedAndReported() async throws {
        let database = Database()
        let store = PreferenceStore(backend: PickyBackend(over: LockedBackend(database)))
        let issues = store.recordIssues()
        let (volume, level) = (Preference("volume", default: 5, in: store), Preference("level", default: 1, in: store))
        try await volume.write(3)
        func setBoth() throws { try store.transaction { _ in (volume.value, level.value) = (13, 2) } }
        try setBoth()
        await eventually { database["level"] == 2 }
        await eventually { volume.value == 3 }
        #expect(level.value == 2 && database["volume"] == 3)
        #expect(issues.elements.map(\.code) == [.tooLarge] && issues.elements.first?.name == "volume")
    }

    /// Rejects the value 13.
    private final class PickyBackend: PreferenceBackend {
        private let base: LockedBackend
        let place = "a picky place"
        let saysWhenItWaits = true

        init(over base: LockedBackend) { self.base = base }

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
            base.load(host: host, until: deadline)
        }

        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { base.catchUp(until: deadline) }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            try base.change(until: deadline) { update in
                let changes = try body(update)
                if changes.contains(where: { $0.value == 13 }) { throw PreferenceError(.tooLarge, "13 is too much") }
                return changes
            }
        }
    }

    /// Another member of the value is set in between, and must not be lost.
    @Test
    func membersOfTwoThreadsAreKept() async {
        for _ in 0..<rounds(200) {
            let backend = FaultInjectingBackend()
            backend.failNext(.load, count: .max)
            let store = PreferenceStore(backend: backend)
            store.issueHandler = { _ in }
            let frame = Preference("frame", default: Frame(), in: store)
            await onThreads(2) { thread in
                for number in 1...5 {
                    if thread == 0 { frame[\.x].value = number } else { frame[\.width].value = number }
                }
            }
            same(frame.value, Frame(x: 5, width: 5))
            backend.failNext(.load, count: 0)
        }
    }

    /// The order of an encoding's forms says nothing about the values.
    @Test
    func equalValuesOfACodingWithManyFormsAreNoChange() {
        let salt = Counter()
        let coding = PreferenceCoding<String>("salted") { value in
            .string("\(salt.next()):\(value)")
        } decode: { stored in
            guard case .string(let text) = stored else { return nil }
            return String(text.drop { $0 != ":" }.dropFirst())
        }
        let token = Preference("token", default: "none", coding: coding, in: .inMemory())
        let seen = Recorder<String>()
        let observation = token.observe { seen.record("\($0.old) → \($0.new)") }
        for _ in 1...3 { token.value = "a" }
        same(seen.elements, ["none → a"])
        withExtendedLifetime(observation) {}
    }
}
