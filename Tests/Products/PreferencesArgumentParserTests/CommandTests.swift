#if ArgumentParser
import ArgumentParser
import Foundation
import Preferences
import PreferencesArgumentParser
import TestSupport
import Testing

/// The command `config`, run in the process.
struct CommandTests {
    private struct Settings: ConfigurablePreferences {
        @Preference("limit", .range(1...5)) var limit = 3
        @Preference("since") var since: Date?
        @Preference("level", .required) var level: Int?
        @Preference("title") var title: String?
        @Preference("flag") var flag: Bool?
        @Preference("ports") var ports: [Int]?
        @Preference("colors") var colors: [String: Int]?

        static let own = PreferenceStore.inMemory()
        static var store: PreferenceStore {
            .layered([own, PreferenceStore.inMemory(["since": .date(Date(timeIntervalSince1970: 0))]).readOnly()])
        }
    }

    private func run<Group: PreferenceGroup>(_ words: [String], of _: Group.Type) throws {
        var command = try PreferenceCommand<Group>.parseAsRoot(words)
        try command.run()
    }

    @Test
    func nullIsTheNilOfAnOptional() throws {
        let values = [
            ("since", "2026-11-25T09:30:00Z"), ("flag", "yes"), ("ports", "80"), ("colors", "a=1"),
            ("level", "2"), ("limit", "4"),
        ]
        for (name, text) in values { try run(["set", name, text], of: Settings.self) }
        same(Settings.own.names.count, values.count)
        for name in ["since", "flag", "ports", "colors"] { try run(["set", name, "null"], of: Settings.self) }
        // As an assignment of nil: the weaker layer's value is hidden, and not shown again.
        #expect(Settings.own["since"] == ["$unset": true] && Settings(in: Settings.store).since == nil)
        for name in ["flag", "ports", "colors"] { same(Settings.own[name], nil) }
        // Both have a value, and keep it.
        for name in ["level", "limit"] {
            let old = Settings.own[name]
            #expect(throws: ExitCode(2)) { try run(["set", name, "null"], of: Settings.self) }
            #expect(old != nil && Settings.own[name] == old)
        }
        try run(["set", "title", "null"], of: Settings.self)
        same(Settings.own["title"], "null")
    }

    @Test(arguments: [
        ("--level=null", "'null' isn't a value of --level: Int; it needs a value"),
        ("--limit=null", "'null' isn't a value of --limit: Int, 1...5"),
        ("--since=null", nil), ("--title=null", nil), ("--colors=null", nil), ("--ports=null", nil),
    ])
    func anOptionIsJudgedAlike(_ word: String, _ message: String?) {
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Settings>
        }
        do {
            _ = try Command.parse([word])
            same(message, nil)
        } catch { same(Command.message(for: error), message) }
    }

    @Test
    func nullIsStoredInTheIsolatedStore() throws {
        struct Plain: PreferenceGroup {
            @Preference("ports") var ports: [Int]?
        }
        try PreferenceStore.withIsolatedStores(["ports": [80]]) {
            try run(["set", "ports", "null"], of: Plain.self)
            same(PreferenceStore.standard["ports"], nil)
        }
    }

    @Test
    func completionsHaveNoChoiceThatAnotherRuleForbids() {
        struct Levels: PreferenceGroup {
            @Preference("level", .range(0...10), .choices([2, 4, 11])) var level = 2
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Levels>
        }
        let script = Command.completionScript(for: .fish)
        #expect(script.contains("-rfka '2 4'"), "\(script)")
    }
}
#endif
