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
    @Preference("recent") var recent: [String] = []
    @Preference("days") var days: [Date?] = []
    @Preference("counts") var counts: [String: Int] = [:]
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
                $odd\tboolean\t-\tdefault\t-\tfalse\t-
                counts\tobject\t-\tdefault\t-\t{}\t-
                days\tarray\t-\tdefault\t-\t[]\t-
                nickname\tstring\t-\tdefault\tlength 1...3\t-\t-
                recent\tarray\t-\tdefault\t-\t[]\t-
                since\tdate\t-\tdefault\t-\t-\t-
                theme\tstring\t-\tdefault\t"system", "dark"\t"system"\t-
                volume\tinteger\t-\tdefault\t0...10\t5\tHow loud it is.

                """
        )
    }

    @Test(arguments: [
        ("volume 11", 2), ("volume -1", 2), ("volume 0.5", 2), ("volume -string x", 2), ("volume 10", 0),
        ("theme -string blue", 2), ("theme -string dark", 0), ("since -date 2026-11-20T22:00:00Z", 0),
        ("since 5", 2), ("$odd 1", 2), ("$odd true", 0), ("other [1]", 2),
        ("theme dark", 0), ("theme blue", 2), ("since 2026-11-20T22:00:00Z", 0), ("nickname Ada", 0),
        ("recent [\"a\",5]", 2), ("recent -array-add a b", 0), ("counts.a 1", 0), ("counts.a text", 2),
        ("days [{\"$date\":1},\"$null\"]", 0), ("days [{\"$date\":1},\"today\"]", 2),
        ("nickname -string Pitt", 2), ("nickname -string Ada", 0),
    ])
    func declarationsDecideWhatMayBeWritten(_ value: String, _ status: Int32) throws {
        let run = try tool().run("write app \(value)")
        #expect(run.status == status, "\(run)")
    }

    @Test(arguments: ["write --force app volume 11", "write app --force volume 11", "write app volume 11 --force"])
    func forceStandsAnywhere(_ line: String) throws {
        let tool = try tool()
        #expect(try tool.run(line).status == 0)
        #expect(try tool.run("read app volume").output == "11\n")
    }

    @Test
    func forceIsTextBehindAFlag() throws {
        let tool = try Tool()
        #expect(try tool.run("write app text -string --force").status == 0)
        #expect(try tool.run("write app list -array --force").status == 0)
        #expect(try tool.run("read app").output == "list\t[\"--force\"]\ntext\t\"--force\"\n")
    }

    @Test
    func schemaOfTheUserGoesFirst() throws {
        let tool = try tool()
        try tool.write("{\"properties\":{\"volume\":{\"maximum\":3}}}", to: "config/app/preferences.schema.json")
        #expect(try tool.run("describe app").output == "volume\t-\t-\tdefault\t...3\t-\t-\n")
        #expect(try tool.run("write app volume 4").status == 2)
        #expect(try tool.run("list").output.isEmpty)
    }
}
