import Foundation
import Testing

/// Values under the former names that a schema declares; `Transcripts/former-names.txt` shows the commands.
struct FormerNamesTests {
    /// In a schema that the library wouldn't write.
    @Test
    func formerNameThatAnotherPreferenceHasIsIgnored() throws {
        let tool = try Tool()
        try tool.write(
            #"{"properties":{"a":{"x-formerly":["b","old"]},"b":{},"c":{"x-formerly":["old","c"]}}}"#,
            to: "system/app/preferences.schema.json"
        )
        try tool.write("{\"b\":1,\"c\":2,\"old\":3}\n", to: "config/app/preferences.jsonl")
        #expect(try tool.run("read app").output == "a\t3\nb\t1\nc\t2\n")
        #expect(try tool.run("write app a 4").status == 0)
        #expect(try tool.run("read --file config/app/preferences.jsonl").output == "a\t4\nb\t1\nc\t2\n")
    }

    /// The program doesn't read it.
    @Test
    func valueUnderAnIgnoredFormerNameIsNotChecked() throws {
        let tool = try Tool()
        try tool.write(
            #"{"properties":{"volume":{"type":"integer","x-formerly":["loudness"]}}}"#,
            to: "system/app/preferences.schema.json"
        )
        try tool.write("{\"loudness\":\"loud\"}\n", to: "config/app/preferences.jsonl")
        let run = try tool.run("check app")
        #expect(
            run.status == 3 && run.output.contains("\"loudness\" can't be \"loud\": it isn't of type integer"),
            "\(run)"
        )
        try tool.write("{\"loudness\":\"loud\",\"volume\":5}\n", to: "config/app/preferences.jsonl")
        #expect(try tool.run("check app").status == 0)
    }

    /// As in a program: the user's value under a former name hides the system's value under the name.
    @Test(arguments: [
        ("write app frame.y 2", "{\"x\":1,\"y\":2}"), ("write app list -array-add b", "[\"a\",\"b\"]"),
    ])
    func partOfAValueIsWrittenToTheOneThatTheProgramReads(_ line: String, _ stored: String) throws {
        let tool = try Tool()
        try tool.write(
            #"{"properties":{"frame":{"type":"object","x-formerly":["window"]},"list":{"x-formerly":["items"]}}}"#,
            to: "system/app/preferences.schema.json"
        )
        try tool.write(#"{"frame":{"x":9},"list":["z"]}"# + "\n", to: "system/app/preferences.jsonl")
        try tool.write(#"{"window":{"x":1},"items":["a"]}"# + "\n", to: "config/app/preferences.jsonl")
        #expect(try tool.run(line).status == 0)
        #expect(try tool.run("read --file config/app/preferences.jsonl").output.contains("\t\(stored)\n"))
    }

    @Test
    func valueUnderAFormerNameIsShownAndReplaced() throws {
        let schema = #"""
            {"properties":{"volume":{"type":"integer","title":"Volume","x-section":"Sound","deprecated":true,
            "x-deprecation":"set gain","x-formerly":["loudness"],"minimum":0,"allOf":[{"minimum":3}]}}}
            """#
        let server = try PageProcess("app")
        try server.tool.run("write app loudness 5")
        let stream = try server.events()
        _ = try stream.read(until: "\"name\":\"loudness\"")
        try server.tool.write(schema, to: "config/app/preferences.schema.json")
        let row = try stream.read(until: "\"storedAs\":\"loudness\"")
        #expect(row.contains("\"name\":\"volume\""), "\(row)")
        for text in [
            "\"title\":\"Volume\"", "\"section\":\"Sound\"", "\"deprecated\":\"set gain\"",
            "\"formerly\":[\"loudness\"]", "\"allowed\":\"0...; 3...\"",
        ] { #expect(row.contains(text), "\(row)") }
        let lines = try server.request(
            "GET",
            "/api/origin?suite=app&name=volume",
            ["Authorization: Bearer \(server.token)"]
        )
        #expect(lines.body.contains("[0,1,0]"), "\(lines)")
        for (name, text, reason) in [("loudness", "6", "is a former name of"), ("volume", "2", "is outside 3...")] {
            let answer = try server.change("/api/write", ["suite": "app", "name": name, "text": text])
            #expect(answer.status == 422 && answer.body.contains(reason), "\(answer)")
        }
        #expect(try server.change("/api/write", ["suite": "app", "name": "volume", "text": "6"]).status == 200)
        let file = "config/app/preferences.jsonl"
        #expect(try server.tool.run("read --file \(file)").output == "volume\t6\n")
        #expect(try server.change("/api/undo").status == 200)
        #expect(try server.tool.run("read --file \(file)").output == "loudness\t5\n")
        #expect(try server.change("/api/delete", ["suite": "app", "name": "volume"]).status == 200)
        #expect(try server.tool.run("read --file \(file)").output.isEmpty)
    }
}
