import Foundation
import Testing

/// The comparison with other tools in the guide: each tool does what the table says that it can do.
struct ComparisonTests {
    /// A row of the table: for each tool a line of `sh` and a part of its output; `nil` if the tool can't do it.
    struct Row: Sendable {
        let title: String
        let defaults: (line: String, shown: String)?
        let gsettings: (line: String, shown: String)?
        let prefs: (line: String, shown: String)

        init(
            _ title: String,
            _ defaults: (line: String, shown: String)?,
            _ gsettings: (line: String, shown: String)?,
            _ prefs: (line: String, shown: String)
        ) {
            self.title = title
            self.defaults = defaults
            self.gsettings = gsettings
            self.prefs = prefs
        }
    }

    static let rows: [Row] = [
        Row(
            "list suites and names",
            ("defaults domains", "app"),
            ("gsettings list-keys app", "theme\nvolume"),
            ("prefs list", "app\n")
        ),
        Row(
            "read a value",
            ("defaults read app volume", "app volume 5"),
            ("gsettings get app volume", "5\n"),
            ("prefs read app volume", "5\n")
        ),
        Row(
            "read all",
            ("defaults read", "app theme dark"),
            ("gsettings list-recursively app", "app theme 'dark'"),
            ("prefs read", "app\ttheme\t\"dark\"\napp\tvolume\t5\n")
        ),
        Row(
            "read a name wherever it is set",
            ("defaults readkey volume", "app volume 5"),
            nil,
            ("prefs find volume", "app\tvolume\t5")
        ),
        Row("find", ("defaults find dark 2>&1", "app theme dark"), nil, ("prefs find DAR", "app\ttheme\t\"dark\"")),
        Row(
            "list children",
            nil,
            ("gsettings list-children app", "window"),
            ("prefs write app window.width 800; prefs find app window.", "window.width\t800")
        ),
        Row(
            "write a value",
            ("defaults write app volume 6; defaults read app volume", "volume 6"),
            ("gsettings set app volume 6; gsettings get app volume", "6\n"),
            ("prefs write app volume 6; prefs read app volume", "6\n")
        ),
        Row(
            "reject a value that isn't allowed",
            nil,
            ("gsettings set app volume 11 2>&1 || echo refused", "outside of the valid range\nrefused"),
            ("prefs write app volume 11 2>&1 || echo refused", "outside 0...10")
        ),
        Row(
            "add to an array or dictionary",
            nil,
            nil,
            ("prefs write app recent -array-add a; prefs read app recent", "[\"a\"]")
        ),
        Row(
            "replace all values in one change",
            nil,
            nil,
            ("echo '{\"volume\":7}' | prefs import app - --replace; prefs read app", "volume\t7\n")
        ),
        Row(
            "write and delete many from standard input",
            (
                "echo 'app volume 8' | defaults write; echo 'app theme' | defaults delete; defaults read app",
                "app volume 8\n"
            ),
            nil,
            ("echo '{\"volume\":8,\"theme\":null}' | prefs import app -; prefs read app", "volume\t8\n")
        ),
        Row(
            "delete a value",
            ("defaults delete app theme; defaults read app", "app volume 5\n"),
            ("gsettings reset app theme; gsettings get app theme", "'system'"),
            ("prefs delete app theme; prefs read app", "volume\t5\n")
        ),
        Row(
            "delete all",
            ("defaults delete app; defaults domains; echo then", "NSGlobalDomain\nthen"),
            ("gsettings reset-recursively app; gsettings get app theme", "'system'"),
            ("prefs delete app --all; prefs read app --json", "{}")
        ),
        Row("rename", nil, nil, ("prefs rename app volume loudness --force; prefs read app loudness", "5\n")),
        Row(
            "watch",
            nil,
            (watching("gsettings monitor app", "gsettings set app volume"), "volume: "),
            (watching("prefs watch app", "prefs write app volume"), "\tvolume\t")
        ),
        Row(
            "edit in an editor",
            nil,
            nil,
            ("EDITOR='sed -i s/dark/system/' prefs edit app; prefs read app theme", "system\n")
        ),
        Row(
            "undo a change",
            nil,
            nil,
            ("prefs write app volume 6; prefs undo app --yes > f; prefs read app volume", "5\n")
        ),
        Row(
            "compare",
            nil,
            nil,
            ("echo '{\"volume\":5}' > f; prefs diff app ./f || echo differ", "- theme\t\"dark\"\ndiffer\n")
        ),
        Row(
            "export and import",
            ("defaults read > f; defaults delete app; defaults write < f; defaults read app volume", "app volume 5"),
            nil,
            ("prefs export app f.plist; prefs delete app --all; prefs import app f.plist; prefs read app volume", "5\n")
        ),
        Row(
            "use another user's file, or any file",
            ("defaults help", "'-u username'"),
            nil,
            ("prefs read --file $(prefs path app) volume", "5\n")
        ),
        Row(
            "show whether a value may be changed",
            nil,
            ("gsettings writable app volume", "true\n"),
            ("prefs describe app volume", "writable\tyes\n")
        ),
        Row("show the origin of a value", nil, nil, ("prefs describe app volume", "source\tuser\n")),
        Row(
            "type and range",
            nil,
            ("gsettings range app volume", "range i 0 10\n"),
            ("prefs describe app volume", "type\tinteger\nallowed\t0...10\n")
        ),
        Row(
            "choices",
            nil,
            ("gsettings range app theme", "'system'\n'dark'\n"),
            ("prefs describe app theme", "allowed\t\"system\", \"dark\"\n")
        ),
        Row(
            "description",
            nil,
            ("gsettings describe app volume", "How loud it is.\n"),
            ("prefs describe app volume", "description\tHow loud it is.\n")
        ),
        Row(
            "explain the format of values",
            ("defaults plist", "A property list is"),
            nil,
            ("prefs help write", "-date")
        ),
        Row(
            "check and repair",
            nil,
            nil,
            ("printf '{\\n\"x\":1}\\n' >> $(prefs path app); prefs check app --repair 2>&1", "damage\tnone\n")
        ),
        Row(
            "output for programs",
            nil,
            nil,
            ("prefs read app --json", "{\n  \"theme\": \"dark\",\n  \"volume\": 5\n}\n")
        ),
    ]

    /// Returns a line of `sh` that watches until a change was printed. Two changes alternate until then, as a watch may take a while
    /// to start; either may be the first one printed.
    private static func watching(_ watch: String, _ change: String) -> String {
        """
        \(watch) > seen & watch=$!
        for try in $(seq 1000); do [ -s seen ] && break; \(change) 1; \(change) 5; done
        kill $watch; cat seen
        """
    }

    /// The table says no, as nothing is stored.
    @Test
    func defaultsOfGNUstepStoresNoDictionaryAsADomain() throws {
        try check(
            ("defaults write app '{volume = 7;}'; defaults read app", "app volume 5\napp theme dark\n"),
            "defaults write app volume 5; defaults write app theme dark",
            needs: ["defaults"]
        )
    }

    @Test(arguments: rows.map(\.title))
    func eachToolDoesWhatTheTableSays(_ title: String) throws {
        let row = try #require(Self.rows.first { $0.title == title })
        try check(row.prefs, "prefs write app volume 5; prefs write app theme -string dark", needs: [])
        if let gsettings = row.gsettings {
            try check(
                gsettings,
                "glib-compile-schemas . && gsettings set app volume 5 && gsettings set app theme dark",
                needs: ["gsettings"]
            )
        }
        if let defaults = row.defaults {
            try check(defaults, "defaults write app volume 5; defaults write app theme dark", needs: ["defaults"])
        }
    }

    private func check(_ cell: (line: String, shown: String), _ prepare: String, needs: [String]) throws {
        guard needs.allSatisfy({ Needed.path(of: $0) != nil }) else { return }
        let tool = try Tool()
        try tool.write(Self.schema, to: "app.gschema.xml")
        try tool.write(Self.preferencesSchema, to: "system/app/preferences.schema.json")
        // Only this file sets the folder of the user's defaults; HOME is ignored.
        try tool.write("GNUSTEP_USER_DEFAULTS_DIR=\(tool.folder)/gnustep\n", to: "gnustep.conf")
        let variables =
            "export GSETTINGS_BACKEND=keyfile GSETTINGS_SCHEMA_DIR=$PWD GNUSTEP_CONFIG_FILE=$PWD/gnustep.conf"
        let prepared = try tool.shell("\(variables); \(prepare)")
        #expect(prepared.status == 0, "\(prepared)")
        let run = try tool.shell("\(variables); \(cell.line)")
        #expect(run.status == 0 && run.output.contains(cell.shown), "\(cell.line)\n\(run)")
    }

    @Test
    func tableHasTheseRowsAndSaysWhichToolCanNot() throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Preferences/Preferences.docc/CommandLine.md")
        let table = try String(contentsOf: document, encoding: .utf8).split(separator: "\n")
            .drop { $0 != "## Comparison with other tools" }.filter { $0.hasPrefix("| ") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(table.dropFirst().map { $0[0] } == Self.rows.map(\.title))
        for (cells, row) in zip(table.dropFirst(), Self.rows) {
            #expect(cells[1].hasPrefix("no") == (row.defaults == nil), "defaults: \(row.title)")
            #expect(cells[2].hasPrefix("no") == (row.gsettings == nil), "gsettings: \(row.title)")
            #expect(cells[3] != "no")
        }
    }

    private static let schema = """
        <schemalist>
          <schema id="app" path="/app/">
            <key name="volume" type="i">
              <default>3</default><range min="0" max="10"/><description>How loud it is.</description>
            </key>
            <key name="theme" type="s">
              <choices><choice value="system"/><choice value="dark"/></choices><default>'system'</default>
            </key>
            <child name="window" schema="app.window"/>
          </schema>
          <schema id="app.window" path="/app/window/"><key name="width" type="i"><default>800</default></key></schema>
        </schemalist>
        """
    private static let preferencesSchema = """
        {"properties":{
          "recent":{"items":{"type":"string"},"type":"array"},
          "theme":{"default":"system","enum":["system","dark"],"type":"string"},
          "window.width":{"default":800,"type":"integer"},
          "volume":{"default":3,"description":"How loud it is.","maximum":10,"minimum":0,"type":"integer"}
        },"type":"object"}
        """
}
