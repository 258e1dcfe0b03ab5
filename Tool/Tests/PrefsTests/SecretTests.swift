import Foundation
import Testing

@testable import PrefsCommands
@testable import prefs_serve

/// Secrets in a program's schema, which no command and no answer of the page shows.
struct SecretTests {
    private static let planted = "hunter2-planted"
    private static let schema = #"""
        {"default":{"token":"hunter2-planted"},"allOf":[{"const":"hunter2-planted"}],"title":"App","properties":{
        "token":{"type":"string","description":"For the server.","writeOnly":true},
        "account":{"type":"object","writeOnly":true,"default":{"password":"hunter2-planted"}},
        "session":{"type":"string","writeOnly":true,"x-formerly":["sid"]},
        "pin":{"type":"string","enum":["hunter2-planted"],"maxLength":20,"writeOnly":true,"x-requirement":"planted requirement",
          "allOf":[{"enum":["hunter2-planted"]},{"minimum":"planted minimum"}],"minimum":"planted","maximum":"planted"},
        "user":{"type":"string"},"title":{"type":"string","maxLength":3},
        "volume":{"type":"integer","default":5}}}
        """#

    /// The arguments that each command runs with, in the folder of a suite with secrets.
    private static let lines: [String: [String]] = [
        "read": [
            "", "--json", "app", "app --json", "app token", "app token --json", "app account.password", "app pin",
            "app --origin", "app --origin --json", "app account.password --origin", "app tokn",
            "app sid", "app sid --json", "app sid --origin", "app session", "app session --origin --json",
            "--file config/app/preferences.jsonl", "--file system/app/preferences.jsonl token", "--file managed",
        ],
        "list": ["", "app", "app --json", "--file config/app/preferences.jsonl --json"],
        "find": [
            "token", "token --json", "app planted", "app planted --json", "planted",
            "--file config/app/preferences.jsonl a",
        ],
        "describe": [
            "app", "app --json", "app token", "app token --json", "app account --json", "app pin", "app tokn",
            "app sid", "app session --json",
        ],
        "path": ["app", "app --json"],
        "diff": [
            "app other", "app other --json", "other app", "app ./export.json",
            "app ./config/app/preferences.jsonl --json",
            "--file config/app/preferences.jsonl other", "./config/app/preferences.jsonl ./object.json",
        ],
        "undo": [
            "app", "app --json", "app --json --yes", "app session", "app sid --yes", "app token", "app token --yes",
            "app --yes",
            "--file config/app/preferences.jsonl",
        ],
        "log": [
            "app", "app --json", "app session", "app sid --json", "app token", "app token --json",
            "--file config/app/preferences.jsonl",
        ],
        "check": ["app", "app --json", "app --repair", "--file config/app/preferences.jsonl"],
        "compact": ["app"],
        "export": [
            "app", "app --format xml", "app --format lines", "app out.json", "--file config/app/preferences.jsonl -",
        ],
        "import": [
            "app object.json", "app object.json --dry-run --force", "app object.json --dry-run --keep --force",
            "app object.json --dry-run --replace --force", "app broken.json --force", "app broken.txt",
        ],
        "write": [
            "app token hunter2-planted", "app token hunter2-planted --force", "app token hunter2-planted more",
            "app token more hunter2-planted", "app token -hunter2-planted", "app token -int hunter2-planted",
            "app token -json hunter2-planted", "app token -json [\"hunter2-planted\"]", "app token \"hunter2-planted",
            "app token -array-add hunter2-planted --force", "app token -array hunter2-planted", "app token null",
            "app token -dict hunter2-planted 1 --force", "app token -dict hunter2-planted",
            "app account hunter2-planted",
            "app account.password hunter2-planted", "app account.a.b \"hunter2-planted", "app token.a 1 --force",
            "app account.password.a 1 --force", "app volume.a 1", "app volume -array-add 5",
            "app sid hunter2-planted", "app sid hunter2-planted --force", "app sid \"hunter2-planted",
            "app session.a 1 --force",
        ],
        "delete": [
            "app token.part", "app account.password.part", "app account.nothing", "app tokn", "app token",
            "app session", "app session.part",
        ],
        "rename": [
            "app sid session", "app sid session --force", "app sid title", "app sid new",
            "app token title", "app token user", "app token volume", "app token new", "app user token", "app tokn user",
        ],
        "merge": [
            "object.json config/app/preferences.jsonl object.json",
            "export.json config/app/preferences.jsonl object.json",
        ],
        "schema": ["markdown", "root-plist", "manifest", "template", "json-schema"].map { "export app --\($0)" },
        "edit": ["app", "app --force", "--file config/app/preferences.jsonl"],
        // Other tests run these, as they don't end.
        "watch": [], "serve": [],
    ]

    private static func plant(in tool: Tool) throws {
        try tool.write(schema, to: "system/app/preferences.schema.json")
        try tool.write(#"{"token":"hunter2-planted-2"}"# + "\n", to: "system/app/preferences.jsonl")
        try tool.write(
            #"""
            {"token":"hunter2-planted-1","user":"Ada"}
            {"token":"hunter2-planted","account":{"password":"hunter2-planted"},"volume":7}
            {"pin":["hunter2-planted"]}
            {"sid":"hunter2-planted"}
            {"token":"hunter2-planted
            hunter2-planted"}

            """#,
            to: "config/app/preferences.jsonl"
        )
        try tool.write(#"{"volume":5}"# + "\n", to: "config/other/preferences.jsonl")
        try tool.write(#"{"token":"hunter2-planted-3","pin":5,"volume":8}"#, to: "object.json")
        try tool.write(#"{"volume":8}"#, to: "export.json")
        try tool.write(#"{"token":"hunter2-planted"#, to: "broken.json")
        try tool.write(
            #"{ token = hunter2 planted; }"#.replacing(" planted", with: "-planted \(planted)"),
            to: "broken.txt"
        )
    }

    private static func edited() throws -> Tool { try Tool(["EDITOR": "cat"]) }

    @Test
    func everyCommandIsRun() throws {
        #expect(Set(try Tool().run(["--help"]).output.commands) == Set(Self.lines.keys))
    }

    @Test(arguments: lines.flatMap { command, lines in lines.map { "\(command) \($0)" } }.sorted())
    func commandShowsNoSecret(_ line: String) throws {
        let tool = try Self.edited()
        try Self.plant(in: tool)
        let before = try tool.files()
        let run = try tool.run(line)
        // The message quotes the text to find, which the user typed.
        let output = run.description.replacing("nothing contains \"planted\"", with: "")
        #expect(!output.contains("planted"), "\(run)")
        for (name, bytes) in try tool.files() where bytes != before[name] && !name.hasPrefix("config/app/") {
            #expect(bytes.range(of: Data("planted".utf8)) == nil, "\(name)")
        }
    }

    /// Proves that the lines above would show a secret without redaction.
    @Test(
        arguments: [
            "read app token", "read app session", "read app sid", "read app", "read --json", "read app --origin",
            "list app", "find app planted",
            "describe app token", "diff app other", "undo app", "export app",
            "import app object.json --dry-run --force",
            "edit app",
        ])
    func secretIsShownIfAskedFor(_ line: String) throws {
        let tool = try Self.edited()
        try Self.plant(in: tool)
        let run = try tool.run(line + " --show-secrets")
        #expect(run.output.contains(Self.planted), "\(run)")
    }

    @Test(arguments: [
        "watch app", "watch app --json", "watch", "watch --json", "watch --file config/app/preferences.jsonl",
    ])
    func watchShowsNoSecret(_ line: String) throws {
        let tool = try Tool()
        try Self.plant(in: tool)
        let run = try tool.shell(
            """
            prefs \(line) >out & watch=$!
            n=0; until [ -s out ] || [ $n = 1000 ]; do n=$((n + 1)); prefs write app volume $((n % 9)); done
            prefs write app token -string \(Self.planted)-4 --force
            prefs write app user end
            n=0; until grep -q end out || [ $n = 10000 ]; do n=$((n + 1)); done
            kill $watch; cat out
            """
        )
        #expect(run.output.contains("token") && run.output.contains(ValueText.redacted), "\(run)")
        #expect(!run.description.contains("planted"), "\(run)")
    }

    // MARK: Page

    @Test(arguments: ["app", "", "--file config/app/preferences.jsonl"])
    func pageShowsNoSecret(_ words: String) throws {
        let server = try PageProcess(
            words,
            before: "mkdir -p config/app; echo '{\"token\":\"\(Self.planted)\"}' >config/app/preferences.jsonl;"
                + "echo '{\"properties\":{\"token\":{\"writeOnly\":true}}}' >config/app/preferences.schema.json;"
        )
        let suite = words.isEmpty ? "app" : words.replacing("--file ", with: "")
        let stream = try server.events()
        var texts = [try stream.read(until: "\"name\":\"token\"")]
        // First, as its value overrides the system's.
        try server.tool.write(Self.schema, to: "config/app/preferences.schema.json")
        try Self.plant(in: server.tool)
        texts.append(try stream.read(until: "\"name\":\"account\""))
        var routes: [RequestGuard.Route] = []
        for route in RequestGuard.Route.allCases where route != .events {
            let body = ["suite": suite, "name": "token", "text": "\"\(Self.planted)-4\""]
            let answer =
                route.changes
                ? try server.change(route.rawValue, body)
                : try server.request(
                    "GET",
                    "\(route.rawValue)?suite=\(suite)&name=token&token=\(server.token)",
                    ["Authorization: Bearer \(server.token)"]
                )
            if route == .write { #expect(answer.status == 422 && answer.body.contains("It is a secret"), "\(answer)") }
            texts.append("\(answer)")
            routes.append(route)
        }
        #expect(routes.count == RequestGuard.Route.allCases.count - 1)
        // The edit was undone, so the secret is in the file again.
        #expect(try server.tool.run("read app token --show-secrets").output.contains(Self.planted))
        try server.tool.run("write app token -string \(Self.planted)-5 --force")
        try server.tool.run("write app user end")
        texts.append(try stream.read(until: "\"text\":\"\\\"end\\\"\""))
        texts.append(try server.tool.read("error"))
        #expect(texts.contains { $0.contains("\"hidden\":\"It is a secret") })
        for text in texts { #expect(!text.contains("planted"), "\(text)") }
    }

    @Test
    func pageShowsNoValueWithoutAReadableSchema() throws {
        let server = try PageProcess(
            "app",
            before: "mkdir -p config/app; echo '{' >config/app/preferences.schema.json;"
        )
        let stream = try server.events()
        try server.tool.run("write app user -string Ada")
        let hidden = try stream.read(until: "\"name\":\"user\"")
        #expect(hidden.contains("It might be a secret") && hidden.contains("Until then no value is shown"), "\(hidden)")
        try server.tool.shell("rm config/app/preferences.schema.json")
        #expect(!hidden.contains("Ada"))
        _ = try stream.read(until: "\"text\":\"\\\"Ada\\\"\"")
    }

    // MARK: Stored values

    @Test
    func exportAndEditKeepSecretsAsTheyAre() throws {
        let tool = try Tool(["EDITOR": "cp export.json"])
        try Self.plant(in: tool)
        let before = try tool.run("read app token --show-secrets")
        #expect(try tool.run("export app out.json").error.contains("4 secrets left out: account, pin, session, token"))
        #expect(try !tool.read("out.json").contains(ValueText.redacted))
        for line in ["edit app", "import app out.json --replace"] {
            #expect(try tool.run(line).status == 0)
            #expect(try tool.run("read app token --show-secrets").output == before.output)
            #expect(try !tool.read("config/app/preferences.jsonl").contains(ValueText.redacted))
        }
    }
}
