import Preferences
import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

extension ListingTests {
    @Test
    func schemaLeavesOutMembersAndReportsNothing() throws {
        struct Pair: Codable { var a = 1, b = 2 }
        struct Group: PreferenceGroup {
            let a = Preference("pair", default: Pair())[\.a]
            @Preference("r", .length(5...10)) var range = 0..<7
        }
        let store = PreferenceStore.inMemory()
        let issues = store.recordIssues()
        try same(
            Group(in: store).jsonSchema(),
            #"{"properties":{"r":{"default":[0,7],"items":{"type":"integer"},"type":"array"}},"type":"object"}"#
        )
        #expect(issues.elements.isEmpty)
    }
}
