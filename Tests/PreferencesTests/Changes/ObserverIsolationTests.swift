import TestSupport
import Testing

@testable import Preferences

/// A class as in apps: an observer accesses state of the main actor.
@MainActor
private final class Label {
    var texts: [String] = []
    var wasOnTheMainActor = true
    private var observation: PreferenceObservation?

    func follow(_ volume: Preference<Int>, at timing: PreferenceTiming = .didSet, includingCurrent: Bool = false) {
        observation = volume.observe(at: timing, includingCurrent: includingCurrent) { [weak self] change in
            MainActor.preconditionIsolated()
            self?.texts.append("\(change.old) \(change.new)")
        }
    }

    func stop() { observation?.cancel() }
}

private actor Log {
    var texts: [String] = []
    private var observation: PreferenceObservation?

    func follow(_ volume: Preference<Int>, includingCurrent: Bool = false) {
        observation = volume.observe(includingCurrent: includingCurrent) { change in
            self.preconditionIsolated()
            self.texts.append("\(change.old) \(change.new)")
        }
    }

    func stop() { observation = nil }
}

/// Sets a value on another thread while this thread, and so its actor, waits.
private func setElsewhere(_ volume: Preference<Int>, to value: Int) {
    let isSet = Condition(false)
    _ = Pool.startThread {
        volume.value = value
        isSet.signal { $0 = true }
    }
    isSet.wait { $0 ? .done(()) : .until(nil) }
}

struct ObserverIsolationTests {
    private let volume = Preference("volume", default: 5, in: .inMemory())

    @Test @MainActor
    func changeOnTheMainActorCallsItBeforeTheSetReturns() {
        let label = Label()
        label.follow(volume)
        volume.value = 1
        same(label.texts, ["5 1"])
        label.stop()
        volume.value = 2
        same(label.texts, ["5 1"])
    }

    /// On Linux, the main actor of a test process doesn't run on the main thread.
    @Test @MainActor
    func mainActorIsRecognisedAfterASuspension() async {
        await Task.yield()
        #expect(ThreadIdentity.isOnMainActor)
        await onThreads(1) { _ in #expect(!ThreadIdentity.isOnMainActor) }
        await Task.detached { #expect(!ThreadIdentity.isOnMainActor) }.value
        let log = Log()
        await log.follow(volume)
        #expect(ThreadIdentity.isOnMainActor)
        await log.stop()
    }

    @Test @MainActor
    func changeElsewhereComesToTheMainActorInOrder() async {
        let label = Label()
        label.follow(volume)
        await onThreads(1) { [volume] _ in for number in 1...100 { volume.value = number } }
        await waitUntilOnMain { label.texts.count == 100 }
        same(label.texts, (1...100).map { "\($0 == 1 ? 5 : $0 - 1) \($0)" })
    }

    /// Changes that wait for the main actor are delivered before one that is set there.
    @Test @MainActor
    func setOnTheMainActorOvertakesNothing() async {
        let label = Label()
        label.follow(volume)
        setElsewhere(volume, to: 1)
        #expect(label.texts.isEmpty)
        volume.value = 2
        same(label.texts, ["5 1", "1 2"])
        await Task.yield()
        same(label.texts, ["5 1", "1 2"])
    }

    @Test @MainActor
    func nothingThatWaitsIsCalledAfterCancelling() async {
        let label = Label()
        label.follow(volume)
        setElsewhere(volume, to: 1)
        label.stop()
        // Runs after the job that the change enqueued.
        await Task { @MainActor in }.value
        await Task { @MainActor in }.value
        #expect(label.texts.isEmpty)
    }

    @Test @MainActor
    func currentValueComesFirstAndAtOnce() {
        let label = Label()
        label.follow(volume, includingCurrent: true)
        same(label.texts, ["5 5"])
        volume.value = 6
        same(label.texts, ["5 5", "5 6"])
    }

    @Test @MainActor
    func willSetOnTheMainActorStillFindsTheOldValue() {
        let seen = Recorder<[Int]>()
        let observation = volume.observe(at: .willSet) { [volume] in seen.record([volume.value, $0.new]) }
        volume.value = 6
        volume.value = 7
        same(seen.elements, [[5, 6], [6, 7]])
        observation.cancel()
    }

    @Test
    func anotherActorIsHoppedToInOrder() async {
        let log = Log()
        await log.follow(volume, includingCurrent: true)
        for number in 1...50 { volume.value = number }
        await waitUntilAsync { await log.texts.count == 51 }
        await same(log.texts, ["5 5", "5 1"] + (2...50).map { "\($0 - 1) \($0)" })
        await log.stop()
        volume.value = 0
        volume.value = 1
        await same(log.texts.count, 51)
    }

    @Test
    func withoutIsolationItIsCalledOnTheSettingThreadAtOnce() {
        let seen = Recorder<[Int]>()
        let thread = ThreadIdentity.current
        let observation = volume.observe { change in
            same(ThreadIdentity.current, thread)
            seen.record([change.old, change.new])
        }
        volume.value = 1
        same(seen.elements, [[5, 1]])
        observation.cancel()
    }

    @Test
    func currentValueWithoutIsolationComesBeforeAnyChange() {
        for _ in 0..<200 {
            let volume = Preference("volume", default: 0, in: .inMemory())
            let seen = Recorder<[Int]>()
            let isDone = Condition(false)
            _ = Pool.startThread {
                for number in 1...20 { volume.value = number }
                isDone.signal { $0 = true }
            }
            let observation = volume.observe(includingCurrent: true) { seen.record([$0.old, $0.new]) }
            isDone.wait { $0 ? .done(()) : .until(nil) }
            // The last one may still be delivered by this thread's own delivery, or by the other thread's.
            let elements = seen.elements
            same(elements.first.map { $0[0] == $0[1] }, true)
            #expect(zip(elements, elements.dropFirst()).allSatisfy { $0[1] == $1[0] })
            observation.cancel()
        }
    }

    /// A set made in reaction to a change is delivered last; endless reactions end as a feedback loop.
    @Test @MainActor
    func answersOnTheMainActorEnd() {
        let issues = volume.store.recordIssues()
        let observation = volume.observe { [volume] in volume.value = $0.new + 1 }
        volume.value = 6
        same(issues.elements.map(\.code), [.feedbackLoop])
        observation.cancel()
    }

    @Test(arguments: [true, false]) @MainActor
    func answersBeforeASetEnd(includingCurrent: Bool) {
        let issues = volume.store.recordIssues()
        let observation = volume.observe(at: .willSet, includingCurrent: includingCurrent) { [volume] in
            volume.value = $0.new + 1
        }
        volume.value = 6
        same(issues.elements.map(\.code), [.feedbackLoop])
        observation.cancel()
    }

    @Test @MainActor
    func setInsideAWillSetObserverIsAnnouncedBeforeItIsMade() {
        let seen = Recorder<[Int]>()
        let observation = volume.observe(at: .willSet) { [volume] change in
            seen.record([volume.value, change.new])
            if change.new == 1 { volume.value = 2 }
        }
        volume.value = 1
        same(seen.elements, [[5, 1], [5, 2]])
        same(volume.value, 1)
        observation.cancel()
    }

    /// Each call waits for the next change, so that there is always another one.
    @Test @MainActor
    func mainActorIsNotKeptByAThreadThatSetsWithoutEnd() async {
        let steps = Steps()
        let observation = volume.observe { _ in steps.next() }
        _ = Pool.startThread { [volume] in steps.make { volume.value += 1 } }
        steps.next()
        while steps.count < 10 { await Task.yield() }
        // Jobs of the main actor come in between.
        #expect(steps.count < Steps.limit)
        observation.cancel()
        steps.stop()
    }

    @Test
    func answersOfAnActorBeforeASetEnd() async {
        let issues = volume.store.recordIssues()
        let answerer = Answerer()
        await answerer.follow(volume)
        volume.value = 6
        await waitUntil { !issues.elements.isEmpty }
        same(issues.elements.map(\.code), [.feedbackLoop])
        await answerer.stop()
    }

    /// Each scope's observer sees the stores of its scope, even on its actor.
    @Test
    func observerOnAnActorSeesItsScope() async {
        let shared = Preference("observer-isolation.count", default: 0)
        await PreferenceStore.withIsolatedStores(["observer-isolation.count": 4]) {
            let reader = ScopeReader()
            await reader.follow(shared)
            shared.value = 5
            await waitUntilAsync { await !reader.values.isEmpty }
            await same(reader.values, [5])
        }
    }
}

private actor Answerer {
    private var observation: PreferenceObservation?

    func follow(_ volume: Preference<Int>) {
        observation = volume.observe(at: .willSet) { change in
            self.preconditionIsolated()
            volume.value = change.new + 1
        }
    }

    func stop() { observation?.cancel() }
}

/// Lets another thread take one step, and waits for it; takes none beyond the limit.
private final class Steps: Sendable {
    static let limit = 2_000

    private struct State {
        var requested = 0
        var made = 0
        var isStopped = false
    }

    private let state = Condition(State())

    var count: Int { state.withLock { $0.made } }

    func next() {
        let wanted = state.signal { state in
            if state.made < Self.limit { state.requested = state.made + 1 }
            return state.requested
        }
        state.wait { $0.made >= wanted || $0.isStopped ? .done(()) : .until(nil) }
    }

    /// Takes the steps, until stopped.
    func make(_ step: () -> Void) {
        while state.wait({ $0.isStopped || $0.requested > $0.made ? .done(!$0.isStopped) : .until(nil) }) {
            step()
            state.signal { $0.made += 1 }
        }
    }

    func stop() { state.signal { $0.isStopped = true } }
}

private actor ScopeReader {
    var values: [Int] = []
    private var observation: PreferenceObservation?

    func follow(_ count: Preference<Int>) {
        observation = count.observe { _ in self.values.append(count.value) }
    }
}

@MainActor
private func waitUntilOnMain(_ condition: @MainActor () -> Bool) async {
    while !condition() { await Task.yield() }
}

private func waitUntilAsync(_ condition: () async -> Bool) async {
    while await !condition() { await Task.yield() }
}
