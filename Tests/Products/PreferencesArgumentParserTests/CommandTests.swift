#if ArgumentParser
import ArgumentParser
import Foundation
import Preferences
import PreferencesArgumentParser
import Synchronization
import TestSupport
import Testing

/// The issues that a store reports.
private final class IssueList: Sendable {
    private let issues = Mutex<[PreferenceError]>([])
    var all: [PreferenceError] { issues.withLock { $0 } }
    func add(_ issue: PreferenceError) { issues.withLock { $0.append(issue) } }
}

/// A backend that may have to wait, as one over a network.
private final class SlowBackend: PreferenceBackend {
    let timeout: Duration? = .seconds(60)
    private let contents = Mutex<[String: PropertyListValue]>([:])

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] { contents.withLock { $0 } }

    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        contents.withLock { contents in
            guard condition.holds(for: contents) else { return PreferenceBackendCommit(isStored: false) }
            for (name, value) in changes { contents[name] = value }
            return PreferenceBackendCommit()
        }
    }
}

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

    private struct SlowSettings: ConfigurablePreferences {
        @Preference("limit") var limit = 3
        static let store = PreferenceStore(backend: SlowBackend())
    }

    private struct Program: AsyncParsableCommand {
        static let configuration = CommandConfiguration(subcommands: [PreferenceCommand<SlowSettings>.self])
    }

    /// The parser runs the command inside the task of the program's root, where a call that waits is reported otherwise.
    @Test
    func commandOfAnAsyncProgramIsNoMisuse() async throws {
        let issues = IssueList()
        SlowSettings.store.issueHandler = { issues.add($0) }
        for words in [["set", "limit", "5"], ["get", "limit"], ["unset", "limit"]] {
            var command = try Program.parseAsRoot(["config"] + words)
            try command.run()
        }
        #expect(issues.all.isEmpty, "\(issues.all)")
        func writeWithoutAwait() throws { try SlowSettings.store.write(5, for: "limit") }
        try writeWithoutAwait()
        same(issues.all.map(\.code), [.misuse])
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
