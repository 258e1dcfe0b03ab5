import Foundation
import Preferences
import PreferencesSchema
import Testing

/// The exports of a schema, each checked by a tool of its format.
struct SchemaExportTests {
    private struct Player: PreferenceGroup {
        @Preference("volume", .range(0...10), .title("Volume"), .description("How <loud> it is | or not.")) var volume =
            5
        @Preference("balance", .range(-1...1), .section("Sound")) var balance = 0.0
        @Preference("theme", .choices(["system", "dark"]), .section("Look")) var theme = "system"
        @Preference("reports", .formerly("telemetry"), .deprecated("nothing is sent")) var reports = true
        @Preference("nickname", .length(1...3)) var nickname: String?
        @Preference("since") var since: Date?
        @Preference("recent") var recent: [String] = []
        @Preference("counts") var counts: [String: Int] = [:]
        @Preference("token", .secret) var token: String?
        @Preference("$odd") var odd = false
    }

    private func tool() throws -> Tool {
        let tool = try Tool()
        try tool.write(try Player(in: .inMemory()).jsonSchema(), to: "system/app/preferences.schema.json")
        return tool
    }

    /// Runs Python with the output of an export in the file `export`.
    private func python(_ format: String, _ program: String, in tool: Tool) throws -> Tool.Run? {
        guard let python = Needed.path(of: "python3") else { return nil }
        let export = try tool.run("schema export app export --\(format)")
        #expect(export.status == 0, "\(export)")
        return try tool.run(python, ["-c", program])
    }

    @Test
    func rootPlistKeepsTheRulesOfItsFormat() throws {
        let program = """
            import plistlib
            root = plistlib.load(open("export", "rb"))
            needed = {"PSGroupSpecifier": [], "PSToggleSwitchSpecifier": ["Title", "Key", "DefaultValue"],
                "PSSliderSpecifier": ["Key", "DefaultValue", "MinimumValue", "MaximumValue"],
                "PSMultiValueSpecifier": ["Title", "Key", "DefaultValue", "Titles", "Values"],
                "PSTextFieldSpecifier": ["Title", "Key"]}
            for specifier in root["PreferenceSpecifiers"]:
                kind = specifier["Type"]
                assert all(key in specifier for key in needed[kind]), specifier
                if kind == "PSToggleSwitchSpecifier": assert specifier["DefaultValue"] in (True, False)
                if kind == "PSMultiValueSpecifier":
                    assert len(specifier["Titles"]) == len(specifier["Values"])
                    assert specifier["DefaultValue"] in specifier["Values"]
                if kind == "PSSliderSpecifier":
                    assert specifier["MinimumValue"] <= specifier["DefaultValue"] <= specifier["MaximumValue"]
                print(kind, specifier.get("Key", specifier.get("Title", "")))
            """
        let tool = try tool()
        guard let run = try python("root-plist", program, in: tool) else { return }
        #expect(
            run.output == """
                PSGroupSpecifier\u{20}
                PSToggleSwitchSpecifier $odd
                PSTextFieldSpecifier nickname
                PSToggleSwitchSpecifier reports
                PSMultiValueSpecifier volume
                PSGroupSpecifier Look
                PSMultiValueSpecifier theme
                PSGroupSpecifier Sound: balance
                PSSliderSpecifier balance

                """,
            "\(run)"
        )
    }

    @Test
    func manifestKeepsTheRulesOfItsFormat() throws {
        let program = """
            import datetime, plistlib
            root = plistlib.load(open("export", "rb"))
            assert root["pfm_domain"] == "app" and root["pfm_format_version"] == 1
            assert root["pfm_title"] and root["pfm_description"] and root["pfm_platforms"] == ["macOS"]
            assert isinstance(root["pfm_last_modified"], datetime.datetime)
            types = {"boolean": bool, "integer": int, "real": float, "string": str, "array": list, "dictionary": dict, "date": datetime.datetime}
            def check(key):
                kind = key["pfm_type"]
                assert "pfm_default" not in key or type(key["pfm_default"]) is types[kind], key
                assert key.get("pfm_require", "always") == "always", key
                if kind in ("array", "dictionary"): [check(sub) for sub in key["pfm_subkeys"]]
                return kind
            keys = root["pfm_subkeys"]
            assert [key["pfm_name"] for key in keys[:5]] == [
                "PayloadDisplayName", "PayloadIdentifier", "PayloadType", "PayloadUUID", "PayloadVersion"]
            for key in keys[5:]: print(key["pfm_name"], check(key))
            """
        let tool = try tool()
        guard let run = try python("manifest", program, in: tool) else { return }
        #expect(
            run.output == """
                $odd boolean
                counts dictionary
                nickname string
                recent array
                reports boolean
                since date
                token string
                volume integer
                theme string
                balance real

                """,
            "\(run)"
        )
    }

    @Test
    func editorsAcceptTheSchemaAndFilesByIt() throws {
        let program = """
            import json, sys
            try: import jsonschema
            except ImportError: sys.exit("jsonschema is missing")
            schema = json.load(open("export"))
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema)
            good = [{}, {"volume": 5}, {"$schema": "a", "theme": "dark"}, {"telemetry": False}, {"$$odd": True},
                {"since": {"$date": "2026-11-20T22:00:00Z"}}, {"preferences.version": 2}, {"counts": {"a": 1}}]
            bad = [{"volume": 11}, {"volum": 5}, {"theme": "blue"}, {"since": 5}, {"counts": {"a": "b"}}, {"recent": [1]}, {"nickname": ""}, []]
            print([validator.is_valid(value) for value in good], [validator.is_valid(value) for value in bad])
            """
        let tool = try tool()
        guard let run = try python("json-schema", program, in: tool) else { return }
        guard !run.error.hasPrefix("jsonschema is missing") else { return Needed.report("jsonschema of Python") }
        let (accepted, rejected) = (
            Array(repeating: "True", count: 8).joined(separator: ", "),
            Array(repeating: "False", count: 8).joined(separator: ", ")
        )
        #expect(run.output == "[\(accepted)] [\(rejected)]\n", "\(run)")
    }

    @Test
    func templateIsASettingsFileWithAndWithoutItsComments() throws {
        let tool = try tool()
        try tool.run("schema export app settings.json --template")
        #expect(try tool.run("import app settings.json").status == 0)
        #expect(try tool.run("list app").status == 0 && tool.run("read app").output.isEmpty)
        let text = try tool.read("settings.json")
        try tool.write(text.replacing("// \"", with: "\""), to: "all.json")
        let run = try tool.run("import app all.json")
        #expect(run.status == 0, "\(run)\n\(text)")
        let values = try tool.run("read app").output
        #expect(
            values.contains("volume\t5") && values.contains("nickname\t\"x\"") && !values.contains("token"),
            "\(values)"
        )
    }

    @Test
    func markdownHasAnEqualNumberOfCellsInEachRow() throws {
        let tool = try tool()
        try tool.run("schema export app tables.md --markdown")
        let rows = try tool.read("tables.md").split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows.count == 10 + 3 * 2)
        for row in rows { #expect(row.replacing("\\|", with: "").count { $0 == "|" } == 6, "\(row)") }
    }

    // MARK: Unusual schemas

    private func export(_ schema: String, _ format: String, to name: String = "export", in tool: Tool) throws
        -> Tool.Run
    {
        try tool.write(#"{"properties":{\#(schema)}}"#, to: "app/preferences.schema.json")
        return try tool.run("schema export --file app/preferences.schema.json \(name) --\(format)")
    }

    @Test
    func manifestHasRealsWhereRealsAreDeclared() throws {
        let schema =
            #""gain":{"type":"number","default":1,"minimum":0,"maximum":18446744073709551615,"enum":[0,0.5,1]}"#
        let run = try export(schema, "manifest", to: "-", in: Tool())
        let start = try #require(run.output.range(of: "<key>pfm_default</key>\n\t\t\t<real>")).lowerBound
        let end = try #require(run.output.range(of: "<key>pfm_targets</key>")).lowerBound
        #expect(!run.output[start..<end].contains("<integer>"), "\(run)")
    }

    @Test
    func manifestNamesThePartsThatItLeavesOut() throws {
        let schema = #"""
            "frame":{"type":"object","properties":{"x":{"type":["integer","string"]},"y":{"type":"integer"},
              "in":{"type":"object","properties":{"z":{}}}}},
            "list":{"type":"array","items":{"type":["integer","string"]}},"any":{}
            """#
        let run = try export(schema, "manifest", in: Tool())
        #expect(run.error.contains("represent them: any, frame.in.z, frame.x, list.*\n"), "\(run)")
    }

    @Test(arguments: [-1, 1, 1 << 40])
    func templateHasAnExampleForAnyLength(_ length: Int) throws {
        let tool = try Tool()
        let run = try export(#""a":{"type":"string","minLength":\#(length)}"#, "template", in: tool)
        #expect(run.status == 0, "\(run)")
        #expect(try tool.read("export").utf8.count < 1000)
    }

    @Test(arguments: ["root-plist", "manifest"])
    func choiceThatAnotherRuleForbidsIsLeftOut(_ format: String) throws {
        let schema = #"""
            "level":{"type":"integer","default":2,"enum":[2,4,11],"minimum":0,"maximum":10},
            "few":{"type":"integer","default":32,"minimum":30,"maximum":33,"allOf":[{"enum":[31,32]}]}
            """#
        let run = try export(schema, format, to: "-", in: Tool())
        #expect(run.output.contains("<integer>4</integer>") && !run.output.contains("<integer>11</integer>"), "\(run)")
        if format == "root-plist" {
            #expect(run.output.contains("<integer>31</integer>") && !run.output.contains("<integer>30</integer>"))
        }
    }

    @Test
    func templateHasNoValueThatTheProgramCanNotRead() throws {
        struct Group: PreferenceGroup {
            @Preference("url") var url: URL?
            @Preference("id") var id: UUID?
            @Preference("wait") var wait: Duration?
            @Preference("zone") var zone: TimeZone?
            @Preference("letter") var letter: Character?
            @Preference("few", .length(1...3)) var few: [Int]?
            @Preference("name", .length(2...3)) var name: String?
            @Preference("low", .range(...(-5))) var low: Int?
            @Preference("side", .choices(["l", "left"]), .length(2...)) var side: String?
            @Preference("since") var since: Date?
        }
        let tool = try Tool()
        try tool.write(try Group(in: .inMemory()).jsonSchema(), to: "system/app/preferences.schema.json")
        try tool.run("schema export app settings.json --template")
        let text = try tool.read("settings.json")
        try tool.write(text.replacing("// \"", with: "\""), to: "all.json")
        let settings = PreferenceStore.settingsFile(at: URL(filePath: tool.folder + "/all.json"))
        let group = Group(in: .layered([settings, .inMemory()]))
        #expect(group.problems.isEmpty && group.url == nil, "\(group.problems)\n\(text)")
        #expect(group.name == "xx" && group.side == "left" && group.since != nil, "\(text)")
        #expect(text.contains(#"// "id": null,"#), "\(text)")
    }

    @Test(arguments: ["markdown", "template"])
    func textHasNoCharacterThatChangesItsDisplay(_ format: String) throws {
        let tool = try Tool()
        let text = #"a\u001b[31mb\u202ec\u2028d\u0000e"#
        let schema =
            #""a\u202eb":{"type":"string","title":"\#(text)","description":"\#(text)","x-section":"\#(text)","default":"\#(text)"}"#
        let run = try export(schema, format, in: tool)
        #expect(run.status == 0, "\(run)")
        let export = try tool.read("export")
        let isUnusual = { (scalar: Unicode.Scalar) in
            scalar != "\n" && [.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(!export.unicodeScalars.contains(where: isUnusual) && export.contains("u202e"), "\(export)")
        guard format == "template" else { return }
        try tool.write(export.replacing("// \"", with: "\""), to: "all.json")
        #expect(try tool.run("import app all.json --force").status == 0)
        let values = try tool.run("read app --json").output
        #expect(values.contains(#""a\u202eb""#) || values.contains("\"a\u{202E}b\""), "\(values)")
    }

    @Test(arguments: ["root-plist", "manifest"])
    func preferenceThatXMLCanNotRepresentIsLeftOut(_ format: String) throws {
        let tool = try Tool()
        let schema =
            #""good":{"type":"boolean","default":true},"bad":{"type":"boolean","default":true,"title":"a\u0001"}"#
        let run = try export(schema, format, in: tool)
        #expect(run.status == 0 && run.error.hasSuffix("represent them: bad\n"), "\(run)")
        let export = try tool.read("export")
        #expect(export.contains("good") && !export.contains("bad"))
    }
}
