import FileTestSupport
import Observation
import TestSupport
import Testing

@testable import Preferences

/// Reads that Observation tracks, while other threads set values; one after another, since each keeps the main actor busy.
@Suite(.serialized)
struct TrackedReadTests {
    /// A tracking closure installs its tracking only when it ends; if it misses a change before that, the next change notifies it.
    /// On the main actor, which sends no signal a second time before the test has ended.
    @Test(arguments: 1...9)
    @MainActor
    func trackingInstalledLateHearsOfTheNextChange(lag: Int) {
        let count = Preference("count", default: 0, in: .inMemory())
        let seen = Recorder<Int>()
        withObservationTracking {
            same(count.value, 0)
            for value in 1...lag { count.value = value }
        } onChange: {
            seen.record(count.value)
        }
        #expect(seen.elements.isEmpty)
        count.value = 100
        same(seen.elements, [100])
    }

    @Test
    @MainActor
    func closureThatSetsWhatItHasReadIsNotifiedOfIt() async {
        let volume = Preference("volume", default: 0, in: .inMemory())
        let notified = Counter()
        let shown = withObservationTracking {
            let shown = volume.value
            volume.value = 5
            return shown
        } onChange: {
            notified.next()
        }
        same(shown, 0)
        await eventually { notified.value == 1 }
        same(volume.value, 5)
    }

    /// A change that alters nothing that is shown isn't signalled; the closure still waits for the next.
    @Test
    @MainActor
    func closureIsNotifiedOfAChangeAfterOneThatAltersNothing() async {
        let volume = Preference("volume", default: 0, in: .inMemory())
        let notified = countSignals {
            same(volume.value, 0)
            volume.value = 0
            volume.value = 5
        }
        await eventually { notified.value == 1 }
    }

    /// A preference that no longer exists can't be compared with, so its readers are notified of each change of the name.
    @Test
    @MainActor
    func readersOfAPreferenceThatIsGoneAreNotified() {
        let number = Preference("name", default: 0, in: .inMemory())
        let notified = countSignals {
            same(number.value, 0)
            same(Preference("name", default: "", in: number.store).value, "")
        }
        number.store["name"] = "text"
        same(number.value, 0)
        same(notified.value, 1)
    }

    /// Another instance fills a member that isn't stored with another default.
    @Test
    @MainActor
    func readersOfAnotherDefaultsMemberAreNotified() {
        struct Frame: Codable, Equatable { var width = 0, height = 0 }
        let store = PreferenceStore.inMemory(["frame": ["height": 3]])
        let narrow = Preference("frame", default: Frame(width: 100), in: store)[\.width]
        let wide = Preference("frame", default: Frame(width: 200), in: store)[\.width]
        same(narrow.value, 100)
        store["frame"] = ["height": 4]
        let notified = countSignals { same(wide.value, 200) }
        store["frame"] = ["height": 4, "width": 100]
        same(notified.value, 1)
        withExtendedLifetime(narrow) {}
    }

    /// A cell keeps a default only until its declaration is released.
    @Test
    func defaultOfAPreferenceThatIsGoneIsReleased() {
        final class Document: Sendable { let number = 5 }
        let kept = Preference("number", default: 0, in: .inMemory())
        weak var document: Document?
        do {
            let new = Document()
            document = new
            same(Preference("number", default: new.number, in: kept.store).value, 5)
        }
        #expect(document == nil)
        kept.value = 7
        same(kept.value, 7)
    }

    @Test
    func readOfTheNewValueIsNotNotifiedOfItAgain() async {
        let count = Preference("count", default: 0, in: .inMemory())
        let seen = Recorder<Int>()
        for value in 1...100 {
            await Task.detached { count.value = value }.value
            withObservationTracking {
                same(count.value, value)
            } onChange: {
                seen.record(count.value)
            }
            await MainActor.run {}
        }
        // Each is notified of the change after its own value; being notified of its own again is no error, but must not be the rule.
        #expect((99..<110).contains(seen.elements.count), "the main actor notifies only readers of the old value")
    }

    @Test(.timeLimit(.minutes(60)), arguments: StoreKind.allCases)
    @MainActor
    func viewOnTheMainActorIsNeverLeftStale(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let view = Reader(of: Preference("count", default: 0, in: store), isOnTheMainActor: true)
            let goal = rounds(kind == .memory ? 50_000 : 5_000)
            view.track()
            let writer = Task.detached {
                // Whether the view keeps up isn't tested, so the threads race freely.
                await onThreads(2) { thread in
                    for value in 1...goal { view.count.value = 2 * value + thread }
                }
                // A separate last value, so that the last values of both threads aren't the end.
                view.count.value = -1
            }
            await writer.value
            await waitUntil { view.shown == view.count.value }
            same(view.shown, -1)
        }
    }

    /// Each of many tracked reads is notified of a value after its own.
    @Test(.timeLimit(.minutes(60)))
    @MainActor
    func everyTrackedReadIsNotified() async {
        let count = Preference("count", default: 0, in: .inMemory())
        let isDone = Counter()
        let writer = Task.detached {
            var number = 0
            while isDone.value == 0 {
                number += 1
                count.value = number
            }
        }
        var reads: [Counter] = []
        for number in 0..<rounds(100_000) {
            reads.append(countSignals { _ = count.value })
            if number.isMultiple(of: 1_000) { await Task.yield() }
        }
        isDone.next()
        await writer.value
        // Ensures that none of them has read the last value.
        await Task.detached { count.value = -1 }.value
        await waitUntil {
            reads.removeAll { $0.value > 0 }
            return reads.isEmpty
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func closuresOffTheMainActorSeeTheNextChangeAtTheLatest() async {
        let reader = Reader(of: Preference("count", default: 0, in: .inMemory()), isOnTheMainActor: false)
        let count = reader.count
        reader.track()
        await onThreads(2) { thread in
            for value in 1...rounds(50_000) { count.value = 2 * value + thread }
        }
        while reader.shown != count.value {
            // A closure that was running when the last value came may have missed that one, but not the next, too.
            count.value += 1
            for _ in 0..<1_000 where reader.shown != count.value { await Task.yield() }
        }
    }

    /// Shows a value as a view does, and reads it again after each signal.
    private final class Reader: Sendable {
        let count: Preference<Int>
        private let isOnTheMainActor: Bool
        private let last = Lock(0)

        init(of count: Preference<Int>, isOnTheMainActor: Bool) {
            self.count = count
            self.isOnTheMainActor = isOnTheMainActor
        }

        var shown: Int { last.withLock { $0 } }

        // Arms once for each tracking: one whose signal comes while it is being installed is never removed by Observation, and is
        // notified of each later change, too. Arming for those calls as well would add a tracking each time.
        func track() {
            let signals = Counter()
            withObservationTracking {
                let value = count.value
                last.withLock { $0 = value }
            } onChange: {
                guard signals.next() == 1 else { return }
                if self.isOnTheMainActor {
                    Task { @MainActor in self.track() }
                } else {
                    Task.detached { self.track() }
                }
            }
        }
    }
}
