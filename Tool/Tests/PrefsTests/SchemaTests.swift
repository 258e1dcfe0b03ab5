import Foundation
import Preferences
import Testing

private enum Theme: String, CaseIterable { case system, dark }

private struct General: PreferenceGroup {
    @Preference("volume", .range(0...10), description: "How loud it is.") var volume = 5
    @Preference("theme") var theme = Theme.system
    @Preference("since") var since: Date?
    @Preference("$odd") var odd = false
    @Preference("nickname", .length(1...3)) var nickname: String?
}

/// The schema as the library writes it.
struct SchemaTests {
    private func tool() throws -> Tool {
        let tool = try Tool()
        let schema = try General(in: .inMemory()).jsonSchema()
        try tool.write(schema, to: "system/app/preferences.schema.json")
        return tool
    }

    @Test
    func declarationsOfAGroupAreShown() throws {
        #expect(
            try tool().run("describe app").output == """
                $odd\tboolean\t-\tfalse\t-
                nickname\tstring\tlength 1...3\t-\t-
                since\tdate\t-\t-\t-
                theme\tstring\t"system", "dark"\t"system"\t-
                volume\tinteger\t0...10\t5\tHow loud it is.

                """
        )
    }

    @Test(arguments: [
        ("volume 11", 2), ("volume -1", 2), ("volume 0.5", 2), ("volume -string x", 2), ("volume 10", 0),
        ("theme -string blue", 2), ("theme -string dark", 0), ("since -date 2026-11-20T22:00:00Z", 0),
        ("since 5", 2), ("$odd 1", 2), ("$odd true", 0), ("other [1]", 0),
        ("nickname -string Pitt", 2), ("nickname -string Ada", 0),
    ])
    func declarationsDecideWhatMayBeWritten(_ value: String, _ status: Int32) throws {
        let run = try tool().run("write app \(value)")
        #expect(run.status == status, "\(run)")
    }

    @Test
    func schemaOfTheUserGoesFirst() throws {
        let tool = try tool()
        try tool.write("{\"properties\":{\"volume\":{\"maximum\":3}}}", to: "config/app/preferences.schema.json")
        #expect(try tool.run("describe app").output == "volume\t-\t...3\t-\t-\n")
        #expect(try tool.run("write app volume 4").status == 2)
        #expect(try tool.run("list").output.isEmpty)
    }
}
