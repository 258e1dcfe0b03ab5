import Observation
import Synchronization
import TestSupport
import Testing

@testable import Preferences

private let count = Preference("isolation.carried", default: 0)

/// The contexts that don't inherit a scope.
enum Elsewhere: CaseIterable {
    case detachedTask, thread

    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        switch self {
        case .detachedTask:
            await Task.detached { body() }.value
        case .thread:
            await withCheckedContinuation { continuation in
                #expect(Pool.startThread { continuation.resume(returning: body()) })
            }
        }
    }
}

struct IsolationCarryingTests {
    @Test(arguments: Elsewhere.allCases)
    func scopeIsNotInheritedButCanBeCarried(to elsewhere: Elsewhere) async {
        await PreferenceStore.withIsolatedStores(["isolation.carried": 1]) {
            let isolation = PreferenceStore.isolation
            #expect(await elsewhere.run { PreferenceStore.standard.isolated == nil })
            let carried = await elsewhere.run {
                isolation.run {
                    count.value += 1
                    return count.value
                }
            }
            same(carried, 2)
            same(count.value, 2)
        }
    }

    @Test
    func asynchronousWorkIsCarried() async {
        await PreferenceStore.withIsolatedStores(["isolation.carried": 1]) {
            let isolation = PreferenceStore.isolation
            await Task.detached {
                await isolation.run {
                    await Task.yield()
                    count.value += 1
                }
            }.value
            same(count.value, 2)
        }
    }

    @Test
    func carriedScopeOutlivesItsBody() async {
        let isolation = PreferenceStore.withIsolatedStores(["isolation.carried": 1]) { PreferenceStore.isolation }
        await same(Elsewhere.thread.run { isolation.run { count.value } }, 1)
    }

    @Test
    func outsideOfScopesTheSharedStoresAreCarried() {
        let isolation = PreferenceStore.isolation
        PreferenceStore.withIsolatedStores {
            isolation.run { #expect(PreferenceStore.standard.isolated == nil) }
            #expect(PreferenceStore.standard.isolated != nil)
        }
    }

    @Test
    func carriedErrorKeepsItsType() async {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try PreferenceStore.isolation.run { () throws(Refusal) in throw Refusal() } }
        await #expect(throws: Refusal.self) {
            try await PreferenceStore.isolation.run { () async throws(Refusal) in throw Refusal() }
        }
    }

    /// If one thread would deliver too many changes of other threads, a thread of the library continues.
    @Test
    func observersOnTheLibrarysThreadStayInTheScope() async {
        let seen = Recorder<Bool>()
        let total = 400
        await PreferenceStore.withIsolatedStores {
            let isDelivering = Atomic<Bool>(false)
            let isEnough = Atomic<Bool>(false)
            let (done, finish) = AsyncStream.makeStream(of: Void.self)
            let observation = count.observe { change in
                seen.record(PreferenceStore.standard.isolated != nil)
                isDelivering.store(true, ordering: .releasing)
                while !isEnough.load(ordering: .acquiring) { pauseThread(for: .microseconds(50)) }
                if change.new == total { finish.finish() }
            }
            let isolation = PreferenceStore.isolation
            #expect(Pool.startThread { isolation.run { count.value = 1 } })
            while !isDelivering.load(ordering: .acquiring) { await Task.yield() }
            for value in 2...total { count.value = value }
            isEnough.store(true, ordering: .releasing)
            for await _ in done {}
            observation.cancel()
        }
        same(seen.elements, Array(repeating: true, count: total))
    }

    /// The second signal of a change made off the main thread; one task sends those of all stores of the process.
    @Test @MainActor
    func signalsOnTheMainActorComeInTheirOwnScope() async {
        let seen = Recorder<[Int]>()
        let scopes = (1...3).map { number in
            PreferenceStore.withIsolatedStores(["isolation.number": .integer(Int64(number))]) {
                PreferenceStore.isolation
            }
        }
        let number = Preference("isolation.number", default: 0)
        let isSet = Atomic<Int>(0)
        for (index, isolation) in scopes.enumerated() {
            isolation.run {
                // This closure occupies the main actor while the value changes, so only the later signal reaches it.
                withObservationTracking {
                    _ = count.value
                    let isStarted = Pool.startThread {
                        isolation.run { count.value = 1 }
                        isSet.wrappingAdd(1, ordering: .releasing)
                    }
                    #expect(isStarted)
                    while isSet.load(ordering: .acquiring) <= index { pauseThread(for: .microseconds(50)) }
                } onChange: {
                    seen.record([index + 1, number.value])
                }
            }
        }
        await waitUntil { seen.elements.count >= scopes.count }
        same(seen.elements.sorted { $0[0] < $1[0] }, [[1, 1], [2, 2], [3, 3]])
    }
}
