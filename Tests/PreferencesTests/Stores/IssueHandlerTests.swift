import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// Issue handlers that raise issues themselves.
struct IssueHandlerTests {
    private let backend = FaultInjectingBackend()
    private let store: PreferenceStore
    /// That of a value, which isn't kept.
    private static let rejection = PreferenceError(.tooLarge, "the value is too large; nothing was changed")

    init() { store = PreferenceStore(backend: backend) }

    @Test
    func issueOfAHandlerIsHandledOnceTheHandlerHasReturned() {
        backend.failNext(.apply, count: 2, with: Self.rejection)
        let events = Recorder<String>()
        store.issueHandler = { [store] error in
            events.record("begin \(error.name ?? "")")
            if error.name == "first" { Preference("second", default: 0, in: store).value = 1 }
            events.record("end \(error.name ?? "")")
        }
        Preference("first", default: 0, in: store).value = 1
        same(events.elements, ["begin first", "end first", "begin second", "end second"])
    }

    @Test
    func issuesOfTwoStoresDoNotNestEither() {
        let other = PreferenceStore(backend: FaultInjectingBackend(over: backend))
        backend.failNext(.apply, count: 5, with: Self.rejection)
        let depth = Recorder<Int>()
        let current = Lock(0)
        for (store, next) in [(store, other), (other, store)] {
            store.issueHandler = { _ in
                depth.record(
                    current.withLock { depth in
                        depth += 1
                        return depth
                    }
                )
                Preference("name", default: 0, in: next).value = 1
                current.withLock { $0 -= 1 }
            }
        }
        Preference("name", default: 0, in: store).value = 1
        same(depth.elements, [1, 1, 1, 1, 1])
        store.issueHandler = nil
        other.issueHandler = nil
    }

    @Test
    func handlerThatAnswersEachIssueWithAnotherIsStopped() {
        backend.failNext(.apply, count: .max, with: Self.rejection)
        let calls = Recorder<PreferenceError.Code>()
        store.issueHandler = { [store] error in
            calls.record(error.code)
            Preference("name", default: 0, in: store).value += 1
        }
        Preference("name", default: 0, in: store).value = 1
        same(calls.elements.count, 1_001)
        let count = calls.elements.count
        backend.failNext(.apply, count: 0)
        Preference("name", default: 0, in: store).value = 1
        same(calls.elements.count, count, "the store goes on")
        store.issueHandler = nil
    }

    @Test
    func replacedHandlerIsReleasedWithoutALock() {
        final class Guest: Sendable {
            let store: PreferenceStore
            init(_ store: PreferenceStore) { self.store = store }
            deinit { store.issueHandler = { _ in } }
        }
        store.issueHandler = { [guest = Guest(store)] _ in withExtendedLifetime(guest) {} }
        store.issueHandler = nil
    }

    /// In a process of its own, so that the memory is that of this test, and on a small stack.
    @Test
    func hundredsOfThousandsOfIssuesLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            PreferenceStore.defaultIssueHandler = { _ in }
            await onThread(stackSize: 512 << 10) {
                let store = PreferenceStore.inMemory()
                let volume = Preference("volume", default: 5, .range(0...10), in: store)
                func raiseIssues(_ count: Int) -> Duration {
                    let start = ThreadUsage.time
                    for _ in 1...count { volume.value = 11 }
                    return ThreadUsage.time - start
                }
                // The first of them load and allocate all that is needed once.
                _ = raiseIssues(40_000)
                let memory = ThreadUsage.peakMemory
                let early = raiseIssues(60_000)
                store.issueHandler = { _ in }
                _ = raiseIssues(240_000)
                let late = raiseIssues(60_000)
                #expect(ThreadUsage.peakMemory - memory < 8 << 20, "310 bytes an issue would be 107 MiB")
                #expect(late < early * 4, "an issue takes longer the more were reported before it")
            }
        }
    }
}
