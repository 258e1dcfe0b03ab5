import FileTestSupport
import Observation
import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

extension FormerNameOwnershipTests {
    @Test
    func ignoredNameIsNotInTheSchema() throws {
        struct Chain: PreferenceGroup {
            @Preference("a", .formerly("b", "c")) var a = 1
            @Preference("b", .formerly("d")) var b = 2
        }
        let store = PreferenceStore.inMemory()
        store.issueHandler = { _ in }
        let schema = try Chain(in: store).jsonSchema()
        #expect(schema.contains(#""x-formerly":["c"]"#) && schema.contains(#""x-formerly":["d"]"#))
    }
}
