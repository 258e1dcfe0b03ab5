import Synchronization
import TestSupport
import Testing

@testable import Preferences

/// Places of programs that take their time.
struct SlowPlaceTests {
    /// A place that stores nothing in less than a second.
    private final class Place: PreferenceBackend {
        let place = "a slow place"
        let stored = Lock<[String: PropertyListValue]>([:])

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { [] }
        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            if deadline.remaining < .seconds(1) {
                throw PreferenceError(.busy, "it takes a second; nothing was changed")
            }
            let changes = try body(.none)
            stored.withLock { stored in for change in changes { stored[change.name] = change.value } }
        }
    }

    @Test
    func setIsStoredByTheNextTry() async throws {
        let place = Place()
        let store = PreferenceStore(Layer(source: Source(custom: place)))
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        store["volume"] = 5
        same(store["volume"], 5)
        await eventually { place.stored.withLock { $0 } == ["volume": 5] }
        same(issues.elements, [])
    }
}
