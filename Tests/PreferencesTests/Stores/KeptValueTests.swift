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
