import Foundation
import Preferences
import PreferencesSchema
import Testing

private enum Theme: String, CaseIterable { case system, dark }

private struct General: PreferenceGroup {
    @Preference("volume", .range(0...10), .description("How loud it is.")) var volume = 5
    @Preference("theme") var theme = Theme.system
    @Preference("since") var since: Date?
    @Preference("$odd") var odd = false
    @Preference("nickname", .length(1...3)) var nickname: String?
    @Preference("recent") var recent: [String] = []
    @Preference("days") var days: [Date?] = []
    @Preference("counts") var counts: [String: Int] = [:]
    @Preference("folder") var folder: URL?
    @Preference("byte") var byte: UInt8?
    @Preference("bytes") var bytes: [UInt8]?
    @Preference("size") var size: UInt64?
    @Preference("huge") var huge: Int128?
    @Preference("token", .secret) var token: String?
}

/// The next version of a program, with the options of its declarations.
private struct Next: PreferenceGroup {
    @Preference("sendReports", .title("Reports"), .section("Privacy"), .formerly("telemetry", "stats")) var reports =
        true
    @Preference("loudness", .deprecated("set volume"), .description("How loud it is.")) var loudness = 5
    @Preference("even", .range(0...100), .range(10...), .check("must be even") { $0 % 2 == 0 }) var even = 10
    @Preference("server", .required) var server: String?
    @Preference("token", .secret, .formerly("key")) var token: String?
}

/// Schemas written by the library.
struct SchemaTests {
    private func tool() throws -> Tool {
        let tool = try Tool()
        let schema = try General(in: .inMemory()).jsonSchema()
        try tool.write(schema, to: "system/app/preferences.schema.json")
        return tool
    }

    @Test(arguments: [("1", #""1""#), ("auto", #""auto""#), ("\"2\"", #""2""#), ("3", "3"), ("4", "4")])
    func choiceIsStoredAsDeclared(_ word: String, _ stored: String) throws {
        let tool = try Tool()
        let schema = #"{"properties":{"level":{"enum":["1","2","auto",3,"4",4]}}}"#
        try tool.write(schema, to: "system/app/preferences.schema.json")
        let run = try tool.run(["write", "app", "level", word])
        #expect(run.status == 0, "\(run)")
        #expect(try tool.run("read app level --json").output == stored + "\n")
    }

    @Test
    func declarationsOfAGroupAreShown() throws {
        #expect(
            try tool().run("describe app").output == """
                $odd\tboolean\t-\tdefault\t-\tfalse\t-
                byte\tinteger\t-\tdefault\t0...255\t-\t-
                bytes\tarray\t-\tdefault\t-\t-\t-
                counts\tobject\t-\tdefault\t-\t{}\t-
                days\tarray\t-\tdefault\t-\t[]\t-
                folder\tstring or object\t-\tdefault\t-\t-\t-
                huge\tinteger or string\t-\tdefault\t-\t-\t-
                nickname\tstring\t-\tdefault\tlength 1...3\t-\t-
                recent\tarray\t-\tdefault\t-\t[]\t-
                since\tdate\t-\tdefault\t-\t-\t-
                size\tinteger\t-\tdefault\t0...\t-\t-
                theme\tstring\t-\tdefault\t"system", "dark"\t"system"\t-
                token\tstring\t-\tdefault\t-\t-\t-
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
        ("byte 300", 2), ("byte -1", 2), ("byte 255", 0), ("byte 5.0", 0), ("bytes [1,256]", 2), ("bytes [1,255]", 0),
        ("size -1", 2), ("size 18446744073709551615", 0), ("size 1e300", 2), ("volume 1e300", 2),
        ("folder {\"relative\":\"/a\"}", 0), ("folder -int 5", 2), ("token hunter2", 2), ("token hunter2 --force", 0),
    ])
    func declarationsDecideWhatMayBeWritten(_ value: String, _ status: Int32) throws {
        let run = try tool().run("write app \(value)")
        #expect(run.status == status, "\(run)")
    }

    /// If a string or other types are declared, text that has none of the other types is a string.
    @Test(arguments: [
        ("folder https://example.com/a", "\"https://example.com/a\""), ("folder 5", "\"5\""),
        ("folder \"5\"", "\"5\""), ("folder [1]", "\"[1]\""),
        ("folder {\"relative\":\"~/a\"}", "{\"relative\":\"~/a\"}"),
        ("huge 5", "5"),
        ("huge 170141183460469231731687303715884105727", "\"170141183460469231731687303715884105727\""),
    ])
    func textOfSeveralDeclaredKindsNeedsNoQuotes(_ value: String, _ stored: String) throws {
        let tool = try tool()
        #expect(try tool.run("write app \(value)").status == 0)
        #expect(try tool.run("read app \(value.prefix { $0 != " " }) --json").output == stored + "\n")
    }

    @Test
    func optionsOfADeclarationAreUsed() throws {
        let tool = try Tool()
        try tool.write(try Next(in: .inMemory()).jsonSchema(), to: "system/app/preferences.schema.json")
        try tool.write("{\"telemetry\":false,\"key\":\"hunter2\"}\n", to: "config/app/preferences.jsonl")
        #expect(
            try tool.run("describe app").output == """
                even\tinteger\t-\tdefault\t0...100; must be even; 10...\t10\t-
                loudness\tinteger\t-\tdefault\t-\t5\tdeprecated: set volume; How loud it is.
                sendReports\tboolean\tfalse\tuser\t-\ttrue\tReports
                server\tstring\t-\tdefault\t-\t-\t-
                token\tstring\t<redacted>\tuser\t-\t-\t-

                """
        )
        #expect(try tool.run("describe app server").output.contains("required\tyes"))
        #expect(try tool.run("write app even 5").error.contains("it is outside 10..."))
        #expect(try tool.run("write app even 101").error.contains("it is outside 0...100"))
        #expect(try tool.run("write app sendReports true").status == 0)
        #expect(try tool.read("config/app/preferences.jsonl").contains("\"telemetry\":null"))
    }

    @Test
    func partsOfAllOfMayDeclareOtherMembers() throws {
        let tool = try Tool()
        try tool.write(
            #"""
            {"properties":{"frame":{"type":"object","allOf":[{"properties":{"x":{"minimum":0}}},
            {"properties":{"y":{"maximum":9}}}]},"names":{"items":{"allOf":[{"minLength":2},{"enum":["ab","c"]}]}}}}
            """#,
            to: "system/app/preferences.schema.json"
        )
        #expect(try tool.run("write app frame {\"x\":1,\"y\":5}").status == 0)
        #expect(try tool.run("write app frame {\"x\":-1,\"y\":5}").error.contains("\"frame.x\" can't be -1"))
        #expect(try tool.run("write app frame {\"x\":1,\"y\":10}").error.contains("\"frame.y\" can't be 10"))
        #expect(try tool.run("write app names [\"ab\"]").status == 0)
        #expect(try tool.run("write app names [\"c\"]").error.contains("its length 1 is outside 2..."))
        #expect(try tool.run("write app names [\"abc\"]").error.contains("it isn't one of"))
    }

    @Test
    func keywordsWithADollarAreIgnored() throws {
        let tool = try Tool()
        try tool.write(
            #"""
            {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","$comment":"x","$defs":{"a":{"$ref":"#"}},
            "properties":{"volume":{"$ref":"#/$defs/a","maximum":10,"default":null},"$$odd":{"type":"boolean"},
            "since":{"required":["$date"],"type":"object","default":{"$date":"2026-11-20T22:00:00Z"}}}}
            """#,
            to: "system/app/preferences.schema.json"
        )
        #expect(try tool.run("write app volume 11").status == 2)
        #expect(try tool.run("write app volume 10").status == 0)
        #expect(try tool.run("write app $odd 1").status == 2)
        #expect(try tool.run("describe app since").output.contains("2026-11-20T22:00:00Z"))
    }

    @Test(arguments: [("$odd", "1", 0), ("$odd", "0", 0), ("$odd", "2", 3), ("$odd", "1.0", 3), ("byte", "1e300", 3)])
    func valueThatAProgramReadsIsAllowed(_ name: String, _ value: String, _ status: Int32) throws {
        let tool = try tool()
        #expect(try tool.run("write --force app \(name) -json \(value)").status == 0)
        #expect(try tool.run("check app").status == status)
    }

    @Test(arguments: ["write --force app volume 11", "write app --force volume 11", "write app volume 11 --force"])
    func forceMayBeAnywhere(_ line: String) throws {
        let tool = try tool()
        #expect(try tool.run(line).status == 0)
        #expect(try tool.run("read app volume").output == "11\n")
    }

    @Test
    func forceIsTextAfterAFlag() throws {
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
