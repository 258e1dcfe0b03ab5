#if ArgumentParser
import ArgumentParser
import Foundation
import Preferences
@testable import PreferencesArgumentParser
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

/// The issues that a store reports.
private final class IssueList: Sendable {
    private let issues = Mutex<[PreferenceError]>([])
    var all: [PreferenceError] { issues.withLock { $0 } }
    func add(_ issue: PreferenceError) { issues.withLock { $0.append(issue) } }
}

/// The options of preferences, parsed in the process.
struct ArgumentsTests {
    enum Theme: String, PreferenceValue, CaseIterable { case light, dark }
    struct Frame: Codable, Equatable { var width = 1 }
    struct Level: RawRepresentable, PreferenceValue, Equatable { var rawValue = 0 }

    /// A preference of each kind of value.
    struct Kinds: PreferenceGroup {
        @Preference("bool") var bool = false
        @Preference("on") var on = true
        @Preference("flag") var flag: Bool?
        @Preference("int") var int = 0
        @Preference("small") var small: UInt8 = 0
        @Preference("big") var big: Int128 = 0
        @Preference("real") var real = 0.0
        @Preference("text") var text = ""
        @Preference("letter") var letter: Character = "-"
        @Preference("choice", .choices(["a", "b"])) var choice = "a"
        @Preference("theme") var theme = Theme.light
        @Preference("level") var level = Level()
        @Preference("limit", .range(1...5)) var limit: Int?
        @Preference("wait") var wait = Duration.zero
        @Preference("date") var date = Date(timeIntervalSince1970: 0)
        @Preference("url") var url: URL?
        @Preference("id") var id: UUID?
        @Preference("data") var data = Data()
        @Preference("decimal") var decimal: Decimal = 0
        @Preference("frame") var frame = Frame()
        @Preference("range") var range = 1...2
        @Preference("texts") var texts: [String] = []
        @Preference("numbers") var numbers: [Int] = [1]
        @Preference("waits") var waits: [Duration] = []
        @Preference("themes") var themes: Set<Theme> = []
        @Preference("switches") var switches: [Bool] = []
        @Preference("optionals") var optionals: [Int]?
        @Preference("colors") var colors: [String: String] = [:]
        @Preference("weights") var weights: [String: Double] = [:]
    }

    struct Command: ParsableCommand {
        @OptionGroup var preferences: PreferenceArguments<Kinds>
    }

    struct CommandOf<Group: PreferenceGroup>: ParsableCommand {
        @OptionGroup var preferences: PreferenceArguments<Group>
    }

    /// A preference, the words that set it, the text of a variable that does, and its value then.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let words: [String]
        let variable: String
        let shown: String
        var testDescription: String { name }

        init(_ name: String, _ words: String, _ variable: String? = nil, _ shown: String? = nil) {
            self.name = name
            self.words = words.split(separator: " ").map(String.init)
            self.variable = variable ?? self.words.last ?? ""
            self.shown = shown ?? self.variable
        }
    }

    static let rows = [
        Row("bool", "--bool", "yes", "true"), Row("on", "--no-on", "no", "false"),
        Row("flag", "--no-flag", "no", "false"),
        Row("int", "--int -7"), Row("small", "--small 255"),
        Row("big", "--big 170141183460469231731687303715884105727"),
        Row("real", "--real 0.5"), Row("text", "--text 5"), Row("letter", "--letter x"), Row("choice", "--choice b"),
        Row("theme", "--theme dark"), Row("level", "--level 3", nil, "Level(rawValue: 3)"), Row("limit", "--limit 5"),
        Row("wait", "--wait 10s", nil, "10.0 seconds"),
        Row("date", "--date 2026-11-20T22:00:00Z", nil, "2026-11-20 22:00:00 +0000"),
        Row("url", "--url https://example.com/a?b=c"), Row("id", "--id 01234567-89AB-CDEF-0123-456789ABCDEF"),
        Row("data", "--data aGk=", nil, "2 bytes"), Row("decimal", "--decimal 0.1"),
        Row("frame", #"--frame {"width":7}"#, nil, "Frame(width: 7)"), Row("range", "--range [3,4]", nil, "3...4"),
        Row("texts", "--texts a --texts b,c", #"["a","b,c"]"#, #"["a", "b,c"]"#),
        Row("numbers", "--numbers 2 --numbers -3", "[2,-3]", "[2, -3]"),
        Row("waits", "--waits 10s --waits 2", #"["10s",2]"#, "[10.0 seconds, 2.0 seconds]"),
        Row(
            "themes",
            "--themes dark --themes dark",
            #"["dark"]"#,
            "[PreferencesArgumentParserTests.ArgumentsTests.Theme.dark]"
        ),
        Row("switches", "--switches yes --switches 0", "[true,false]", "[true, false]"),
        Row("optionals", "--optionals 2 --optionals [3,4]", "[2,3,4]", "[2, 3, 4]"),
        Row("colors", "--colors a=b=c", #"{"a":"b=c"}"#, #"["a": "b=c"]"#),
        Row("weights", "--weights a=2", #"{"a":2}"#, #"["a": 2.0]"#),
    ]

    @Test
    func everyKindIsTried() {
        same(Kinds(in: .inMemory()).preferences.map(\.name), Self.rows.map(\.name))
    }

    /// An option hides the environment, that the file, and that the default.
    @Test(arguments: rows)
    func theStrongestLayerIsRead(_ row: Row) throws {
        let empty = try Command.parse([]).preferences.layer
        let options = try Command.parse(row.words).preferences.layer
        let variables = PreferenceStore.environment(["APP_" + row.name.uppercased(): row.variable], prefix: "APP")
        // What the file stores is what the options say.
        let filled = PreferenceStore.inMemory()
        let preference = try #require(
            Kinds(in: .layered([options, .inMemory()])).preferences.first { $0.name == row.name }
        )
        try #require(Kinds(in: filled).preferences.first { $0.name == row.name }).write(try preference.currentForm())
        func read(_ layers: [PreferenceStore]) throws -> String {
            let store = PreferenceStore.layered(layers)
            store.issueHandler = { Issue.record($0) }
            return "\(try #require(Kinds(in: store).preferences.first { $0.name == row.name }))"
        }
        func line(_ shown: String, _ source: String) -> String { "\(row.name) = \(shown) (\(source))" }
        let initial = "\(try #require(Kinds(in: .inMemory()).preferences.first { $0.name == row.name }))"
        #expect(initial != line(row.shown, "default"))
        try same(read([options, variables, filled]), line(row.shown, "arguments"))
        try same(read([empty, variables, filled]), line(row.shown, "environment"))
        try same(read([empty, .environment([:], prefix: "APP"), filled]), line(row.shown, "store"))
        try same(read([empty, .inMemory()]), initial)
    }

    @Test
    func eachTextAddsElementsOrMembers() throws {
        func kinds(_ words: String...) throws -> Kinds {
            Kinds(in: .layered([try Command.parse(words).preferences.layer, .inMemory()]))
        }
        try same(kinds("--texts=c", "--texts", #"["a","b"]"#).texts, ["c", "a", "b"])
        try same(kinds("--texts=[]").texts, [])
        try same(kinds("--texts=[x", "--texts=5").texts, ["[x", "5"])
        try same(kinds("--waits=10s", "--waits=2", "--waits=10s").waits, [.seconds(10), .seconds(2), .seconds(10)])
        let colors = try kinds("--colors", "a=1", "--colors=b=x=y", #"--colors={"c":"d"}"#).colors
        same(colors, ["a": "1", "b": "x=y", "c": "d"])
        try same(kinds("--weights=a=0.5", "--weights", "b=2").weights, ["a": 0.5, "b": 2])
    }

    @Test
    func theHelpListsEveryKind() {
        for row in Self.rows { #expect(Command.helpMessage().contains("--\(row.name)")) }
    }

    @Test
    func optionsAreSpelledInLowercaseWithDashes() throws {
        struct Names: PreferenceGroup {
            @Preference("sendReports") var sendReports = false
            @Preference("editor.fontSize") var size = 1
            @Preference("maxURLLength") var length = 1
            @Preference("a_b.C2d") var other = 1
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Names>
        }
        let words = ["--send-reports", "--editor-font-size=2", "--max-url-length=3", "--a-b-c2d=4"]
        for words in [words, ["--sendReports", "--editor.fontSize=2", "--maxURLLength=3", "--a_b.C2d=4"]] {
            let names = Names(in: .layered([try Command.parse(words).preferences.layer, .inMemory()]))
            #expect(names.sendReports && names.size == 2 && names.length == 3 && names.other == 4)
        }
    }

    @Test
    func otherNamesOfAFlagHaveNegations() throws {
        struct Names: PreferenceGroup {
            @Preference("showDates", .formerly("dates")) var showDates = true
            @Preference("tags", .formerly("label")) var tags: [String] = []
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Names>
        }
        for word in ["--no-show-dates", "--no-showDates", "--no-dates"] {
            let store = PreferenceStore.layered([try Command.parse([word]).preferences.layer, .inMemory()])
            store.issueHandler = { _ in }
            #expect(!Names(in: store).showDates, "\(word)")
        }
        let store = PreferenceStore.layered([
            try Command.parse(["--label=a", "--label=b"]).preferences.layer, .inMemory(),
        ])
        let issues = IssueList()
        store.issueHandler = { issues.add($0) }
        same(Names(in: store).tags, ["a", "b"])
        same(issues.all.map(\.code), [.deprecated])
    }

    @Test(arguments: [
        ("--showDates --no-show-dates", "use one spelling of --show-dates, not --no-show-dates and --showDates"),
        ("--no-dates --dates", "use one spelling of --show-dates, not --dates and --no-dates"),
        (
            "--editor.fontSize=1 --editor-font-size=2",
            "use one spelling of --editor-font-size, not --editor-font-size and --editor.fontSize"
        ),
        ("--label=a --tags=b", "use one spelling of --tags, not --tags and --label"),
    ])
    func twoSpellingsOfAnOptionAreAnError(_ words: String, _ message: String) {
        struct Names: PreferenceGroup {
            @Preference("showDates", .formerly("dates")) var showDates = true
            @Preference("editor.fontSize") var size = 1
            @Preference("tags", .formerly("label")) var tags: [String] = []
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Names>
        }
        do {
            _ = try Command.parse(words.split(separator: " ").map(String.init))
            Issue.record("no error")
        } catch { same(Command.message(for: error), message) }
    }

    @Test
    func namesOfScopesAndNestedGroupsAreOptions() throws {
        struct Editor: PreferenceGroup {
            @Preference("editor.size") var size = 1
        }
        struct Settings: PreferenceGroup {
            @Preference("size") var size = 1
            var editor = Editor()
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Settings>
        }
        let layer = try Command.parse(["--size=2", "--editor-size=3"]).preferences.layer
        let store = PreferenceStore.inMemory()
        let settings = Settings(in: .layered([layer, store.scoped(prefix: "account.")]))
        #expect(settings.size == 2 && settings.editor.size == 3)
    }

    @Test
    func aPreferenceWithItsOwnStoreHasNoOption() throws {
        enum Stores { static let own = PreferenceStore.inMemory() }
        struct Settings: PreferenceGroup {
            @Preference("limit") var limit = 1
            @Preference("starts", in: Stores.own) var starts = 0
            @Preference("token", .secret, in: Stores.own) var token: String?
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Settings>
        }
        #expect(throws: (any Error).self) { try Command.parse(["--starts=7"]) }
        #expect(!Command.helpMessage(includeHidden: true).contains("starts"))
        do {
            _ = try Command.parse(["--token=hush"])
            Issue.record("no error")
        } catch { #expect(Command.message(for: error).contains("\"token\" is a secret")) }
    }

    @Test
    func aMistakeNamesTheOptionAndWhatIsAccepted() throws {
        func message(_ words: String...) -> String {
            do {
                _ = try Command.parse(words)
                return "no error"
            } catch { return Command.message(for: error) }
        }
        same(message("--limit", "700"), "'700' isn't a value of --limit: Int, 1...5")
        same(message("--choice", "c"), "'c' isn't a value of --choice: String, one of a, b")
        same(message("--theme", "c"), "'c' isn't a value of --theme: Theme, one of light, dark")
        same(message("--small", "256"), "'256' isn't a value of --small: UInt8")
        same(message("--wait", "x"), #"'x' isn't a value of --wait: Duration, seconds, "10s" or "5m""#)
        same(message("--numbers", "1", "--numbers", "x"), "'x' isn't a value of --numbers: Int")
        same(message("--weights", "a=x"), "'a=x' isn't a value of --weights: key=Double")
        same(message("--weights", "a"), "'a' isn't a value of --weights: key=Double")
        same(message("--weights", "a=1", "--weights", "b"), "'b' isn't a value of --weights: key=Double")
        same(message("--optionals", "1", "--optionals", "null"), "'1', 'null' aren't a value of --optionals: Int")
    }

    @Test
    func equalNamesAreAnErrorThatSaysBoth() throws {
        struct Names: PreferenceGroup {
            @Preference("a.b", .short("x")) var first = 1
            @Preference("aB", .short("h")) var second = 1
            @Preference("c", .short("x")) var third = 1
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Names>
        }
        do {
            _ = try Command.parse([])
            Issue.record("no error")
        } catch {
            same(
                Command.message(for: error),
                """
                --a-b would be the preference "a.b" and the preference "aB"; rename one of them
                -x would be the preference "a.b" and the preference "c"; change one of them
                """
            )
        }
    }

    @Test
    func aNegationHasNoOthersNameInEitherOrder() {
        struct Before: PreferenceGroup {
            @Preference("noCache") var noCache = 1
            @Preference("cache") var cache = true
        }
        struct After: PreferenceGroup {
            @Preference("cache") var cache = true
            @Preference("noCache") var noCache = 1
        }
        func message<Group: PreferenceGroup>(_: Group.Type) -> String {
            let error = #expect(throws: (any Error).self) { try CommandOf<Group>.parse([]) }
            return error.map { CommandOf<Group>.message(for: $0) } ?? "no error"
        }
        let (first, second) = (#"the preference "noCache""#, #"the preference "cache""#)
        same(message(Before.self), "--no-cache would be \(first) and \(second); rename one of them")
        same(message(After.self), "--no-cache would be \(second) and \(first); rename one of them")
    }

    struct Own: ParsableCommand {
        @OptionGroup var preferences: PreferenceArguments<Kinds>
        @OptionGroup var options: OwnOptions
        @Flag(name: .customLong("no-bool"), help: "Never.") var never = false
    }

    struct OwnOptions: ParsableArguments {
        @Option(help: "The most.") var limit = 1
        @Option var other = 1
    }

    struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "root", subcommands: [Own.self, Command.self])
    }

    @Test
    func valuesAreUnsetAsOneChange() throws {
        struct Settings: ConfigurablePreferences {
            @Preference("first") var first = 0
            @Preference("second") var second = 0

            private static let policy = PreferenceStore(
                backend: FaultInjectingBackend(["second": 3]),
                name: "policy",
                isReadOnly: true,
                isManaged: true
            )
            static let own = PreferenceStore.inMemory()
            static var store: PreferenceStore { .layered([policy, own]) }
        }
        Settings.own["first"] = 1
        Settings.own["second"] = 2
        var unset = try PreferenceCommand<Settings>.parseAsRoot(["unset", "first", "second"])
        #expect(throws: ExitCode(4)) { try unset.run() }
        same(Settings.own.contents, ["first": 1, "second": 2])
        unset = try PreferenceCommand<Settings>.parseAsRoot(["unset", "first"])
        try unset.run()
        same(Settings.own.contents, ["second": 2])
    }

    @Test
    func optionsOfTheProgramAreCompared() throws {
        let error = #expect(throws: PreferenceError.self) { try Root.checkPreferenceOptions() }
        same(
            error?.message,
            """
            `root own`: --no-bool would be the program's option --no-bool (Never.) and the preference "bool"; rename one of them
            `root own`: --limit would be the program's option --limit (The most.) and the preference "limit"; rename one of them
            """
        )
        try Command.checkPreferenceOptions()
    }

    @Test
    func aSecretHasNoOption() throws {
        struct Secrets: PreferenceGroup {
            @Preference("token", .secret, .short("t")) var token: String?
        }
        struct Command: ParsableCommand {
            @OptionGroup var preferences: PreferenceArguments<Secrets>
        }
        #expect(!Command.helpMessage(includeHidden: true).contains("token"))
        for words in [["--token", "hush"], ["--token=hush"], ["-t", "hush"]] {
            do {
                _ = try Command.parse(words)
                Issue.record("no error")
            } catch {
                #expect(Command.message(for: error).contains("\"token\" is a secret"))
                #expect(!Command.fullMessage(for: error).contains("hush"))
            }
        }
    }
}
#endif
