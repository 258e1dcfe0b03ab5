import DurableFile
import FileTestSupport
import Foundation
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

    /// A backend whose next loads and changes fail.
    private final class ClosedBackend: PreferenceBackend {
        struct State {
            var contents: [String: PropertyListValue]
            var failingLoads = Int.max
            var failingChanges = 0
            /// A name that can't be changed.
            var refused: String?
        }

        let listsAllNames: Bool
        let timeout: Duration?
        private let isSlow: Bool
        let state: Lock<State>

        /// Creates a backend that can't be opened; with a timeout, each load takes all of it.
        init(_ contents: [String: PropertyListValue], listsAllNames: Bool = true, timeout: Duration? = nil) {
            self.listsAllNames = listsAllNames
            self.timeout = timeout
            isSlow = timeout != nil
            state = Lock(State(contents: contents))
        }

        subscript(name: String) -> PropertyListValue? { state.withLock { $0.contents[name] } }

        func open(_ change: (inout State) -> Void = { _ in }) {
            state.withLock { state in
                state.failingLoads = 0
                change(&state)
            }
        }

        func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
            if isSlow, let deadline = host.deadline() {
                while ContinuousClock.now < deadline { Pause.sleep(microseconds: 100) }
            }
            return try state.withLock { state throws(PreferenceError) in
                guard state.failingLoads == 0 else {
                    state.failingLoads -= 1
                    throw PreferenceError(.unavailable, "not yet")
                }
                return listsAllNames ? state.contents : [:]
            }
        }

        func values(for names: Set<String>) -> [String: PropertyListValue] {
            listsAllNames ? [:] : state.withLock { $0.contents.filter { names.contains($0.key) } }
        }

        func apply(
            _ changes: [String: PropertyListValue?],
            if condition: PreferenceCondition
        ) throws(PreferenceError) -> PreferenceBackendCommit {
            try state.withLock { state throws(PreferenceError) in
                if state.failingChanges > 0 {
                    state.failingChanges -= 1
                    throw PreferenceError(.unavailable, "not yet")
                }
                if let refused = state.refused, changes.keys.contains(refused) {
                    throw PreferenceError(.managed, "it is managed")
                }
                guard condition.holds(for: state.contents) else { return PreferenceBackendCommit(isStored: false) }
                for (name, value) in changes { state.contents[name] = value }
                return PreferenceBackendCommit()
            }
        }
    }

    private func store(over backend: any PreferenceBackend) -> (PreferenceStore, Recorder<PreferenceError>) {
        let store = PreferenceStore(backend: backend)
        let issues = store.recordIssues()
        return (store, issues)
    }

    @Test
    func keptValueIsNewerThanExternalChangesBeforeIt() throws {
        let backend = FaultInjectingBackend(["volume": 3])
        backend.failNext(.load, count: .max)
        let (store, _) = store(over: backend)
        let volume = Preference("volume", default: 5, in: store)
        volume.value = 7
        backend.changeOutside(["volume": 9, "other": 1])
        backend.failNext(.load, count: 0)
        try store.load()
        #expect(volume.value == 7 && store["other"] == 1)
    }

    @Test
    func valueThatTheBackendRefusesIsDroppedAndReported() throws {
        let backend = ClosedBackend(["volume": 3, "theme": "dark"])
        let (store, issues) = store(over: backend)
        let volume = Preference("volume", default: 5, in: store)
        let theme = Preference("theme", default: "light", in: store)
        let level = Preference("level", default: 1, in: store)
        (volume.value, level.value) = (7, 2)
        backend.open { $0.refused = "volume" }
        try store.load()
        #expect(theme.value == "dark" && volume.value == 3 && level.value == 2)
        same(backend["level"], 2)
        same(issues.elements.last.map { [$0.code, $0.name as Any].description }, "[managed, Optional(\"volume\")]")
    }

    @Test
    func namesOfABackendThatIsQueriedAreReadAfterAFailedAttempt() throws {
        let backend = ClosedBackend(["volume": 3, "theme": "dark"], listsAllNames: false)
        let (store, _) = store(over: backend)
        let volume = Preference("volume", default: 5, in: store)
        let theme = Preference("theme", default: "light", in: store)
        same(theme.value, "light")
        volume.value = 7
        backend.open { $0.failingChanges = 1 }
        #expect(throws: PreferenceError.self) { try store.load() }
        try store.load()
        #expect(backend["volume"] == 7 && theme.value == "dark")
    }

    @Test
    func setWhoseTimeIsOverWhenOpeningFailsIsKept() {
        let backend = ClosedBackend([:], timeout: .milliseconds(500))
        let (store, _) = store(over: backend)
        let volume = Preference("volume", default: 5, in: store)
        volume.value = 7
        same(volume.value, 7)
        #expect(throws: PreferenceError.self) { try store.flush() }
    }

    /// Another member of the value is set in between, and must not be lost.
    @Test
    func membersOfTwoThreadsAreKept() async {
        for _ in 0..<rounds(200) {
            let (store, _) = store(over: ClosedBackend([:]))
            let frame = Preference("frame", default: Frame(), in: store)
            await onThreads(2) { thread in
                for number in 1...5 {
                    if thread == 0 { frame[\.x].value = number } else { frame[\.width].value = number }
                }
            }
            same(frame.value, Frame(x: 5, width: 5))
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

    // A layer is asked how it spells a name while the candidates are read, with the store's lock, and again after that, without it, because
    // another layer is queried by name. There the other layer is opened; then the candidates must be read again.
    @Test
    func readThatMeetsTheOpeningFindsTheValue() throws {
        let backend = ClosedBackend(["x": 3])
        let writable = PreferenceStore(backend: backend)
        let queried = ClosedBackend([:], listsAllNames: false)
        queried.open()
        let core = Lock<StoreCore?>(nil)
        let steps = Recorder<String>()
        let spelled = PreferenceStore(options: [:]) { name in
            guard let core = core.withLock({ $0 }) else { return name }
            let isOpen = writable.resolved.core.layers.writable?.isOpen == true
            guard core.state.withLockIfAvailable({ _ in true }) == true else {
                steps.record(isOpen ? "reads while open" : "reads while closed")
                return name
            }
            guard steps.elements == ["reads while closed"] else { return name }
            steps.record("opens")
            backend.open()
            do { try writable.load() } catch { Issue.record(error) }
            steps.record("has opened")
            return name
        }
        let store = PreferenceStore.layered([writable, PreferenceStore(backend: queried, isReadOnly: true), spelled])
        store.issueHandler = { _ in }
        writable.issueHandler = { _ in }
        core.withLock { $0 = store.resolved.core }
        let found: Int? = try Preference("x", default: 0, in: store).read()
        same(found, 3)
        // The opening reads the candidates, too, for the notification of the change.
        same(steps.elements.prefix(2), ["reads while closed", "opens"])
        same(steps.elements.suffix(2), ["has opened", "reads while open"])
    }
}
