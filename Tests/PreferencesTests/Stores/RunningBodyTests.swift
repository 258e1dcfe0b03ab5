import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

struct RunningBodyTests {
    /// A task's body holds nothing, so it may change what it has read, until the deadline.
    @Test
    func bodyOfATaskThatAlwaysChangesWhatItHasReadIsAConflict() async throws {
        let (database, runs) = (Database(), Counter())
        let store = PreferenceStore(backend: LockedBackend(database, timeout: .milliseconds(100)))
        try await persist { try await store.load() }
        let volume = Preference("volume", default: 0, in: store)
        let error = await #expect(throws: PreferenceError.self) {
            try await volume.update { value in
                insist { try volume.write(runs.next()) }
                value = -1
            }
        }
        same(error?.code, .conflict)
        same(volume.value, runs.value)
    }
}
