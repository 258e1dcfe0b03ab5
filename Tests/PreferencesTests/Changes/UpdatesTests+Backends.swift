import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

extension UpdatesTests {
    @Test
    func externalChangeNotifiesOnlyOfChangedNames() async throws {
        let backend = FaultInjectingBackend(["a": 1, "b": 1])
        let store = PreferenceStore(backend: backend)
        var changes = store.changes.makeAsyncIterator()
        backend.changeOutside(["a": 1])
        backend.changeOutside(["a": 2, "b": nil])
        let change = try #require(await changes.next())
        #expect(change.names == ["a", "b"] && change.new == ["a": 2] && change.origin == .external)
    }
}
