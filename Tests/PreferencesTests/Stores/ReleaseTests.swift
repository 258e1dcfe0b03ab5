import Foundation
import Observation
import TestSupport
import Testing

@testable import Preferences

/// Objects are released after their last use.
struct ReleaseTests {
    fileprivate final class Token: Sendable {}

    private struct Held {
        weak var store: PreferenceStore?
        weak var source: AnyObject?
        weak var declaration: AnyObject?
        weak var token: Token?
        weak var observation: PreferenceObservation?

        var isFreed: Bool { store == nil && source == nil && declaration == nil && token == nil && observation == nil }
    }

    @Test(.timeLimit(.minutes(60)), arguments: StoreKind.allCases)
    func storeAndItsObserversAreFreed(kind: StoreKind) async throws {
        var held = Held()
        func use(_ store: PreferenceStore) async throws {
            let token = Token()
            let count = Preference("count", default: 0, in: store)
            let text = Preference("text", default: "", in: store)
            let observation = count.observe { [count] _ in withExtendedLifetime((token, count.value)) {} }
            let willSet = count.subscribe(timing: .willSet) { _, _, _ in withExtendedLifetime((token, count.value)) {} }
            var updates = text.updates.makeAsyncIterator()
            var both = PreferenceStore.updates(of: count, text).makeAsyncIterator()
            var changes = store.changes.makeAsyncIterator()
            withObservationTracking {
                _ = (count.value, text.value)
            } onChange: {
                withExtendedLifetime((token, count)) {}
            }
            count.value = 1
            text.value = "a"
            try await store.transaction { $0[count] += 1 }
            try await count.update { $0 += 1 }
            await same(updates.next(), "")
            await same(both.next()?.0, 0)
            await same(changes.next()?.names, ["count"])
            try await store.flush()
            held = Held(
                store: store,
                source: store.core,
                declaration: count.declaration,
                token: token,
                observation: observation
            )
            withExtendedLifetime((updates, both, changes, willSet)) {}
        }
        // The file store's background thread ends in its own time.
        try await withTemporaryFolder { folder in
            try await use(kind.makeStore(in: folder))
            await waitUntil { held.isFreed }
        }
        #expect(held.isFreed)
    }

    @Test
    func waitingConsumerThatIsCancelledIsFreed() async {
        weak var store: PreferenceStore?
        do {
            let count = Preference("count", default: 0, in: .inMemory())
            store = count.store
            let seen = Recorder<Int>()
            let consumer = Task { for await value in count.updates { seen.record(value) } }
            await waitUntil { !seen.elements.isEmpty }
            consumer.cancel()
            await consumer.value
            same(seen.elements, [0])
        }
        await waitUntil { store == nil }
    }

    @Test
    func valueThatWasReplacedIsFreed() {
        let count = Preference("object", default: nil, coding: .object, in: .inMemory())
        weak var first: Token?
        count.value = Token()
        first = count.value
        #expect(first != nil)
        count.reset()
        count.value = Token()
        #expect(count.value != nil && first == nil)
    }
}

extension PreferenceCoding where Value == ReleaseTests.Token? {
    fileprivate static var object: Self {
        PreferenceCoding("object") {
            $0.map { _ in true }
        } decode: { _ in
            ReleaseTests.Token()
        }
    }
}
