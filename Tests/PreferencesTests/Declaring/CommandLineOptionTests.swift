import Foundation
import PreferencesValidation
import TestSupport
import Testing

@testable import Preferences

/// Options as the type of a declaration reads them.
struct CommandLineOptionTests {
    private enum Theme: String, PreferenceValue, CaseIterable { case light, dark }

    private struct Settings: PreferenceGroup {
        @Preference("verbose", .short("v")) var verbose = false
        @Preference("colour") var colour: Bool?
        @Preference("cache") var cache = "all"
        @Preference("no-cache") var noCache = false
        @Preference("limit", .range(1...500), .short("n")) var limit = 20
        @Preference("ratio") var ratio = 1.0
        @Preference("theme", .formerly("look")) var theme = Theme.light
        @Preference("tags") var tags = ["none"]
        @Preference("ports", .length(1...3)) var ports: [Int] = [80]
        @Preference("waits") var waits: Set<Duration> = []
        @Preference("flags") var flags: [Bool] = []
        @Preference("defines") var defines: [String: String] = [:]
        @Preference("weights") var weights: [String: Double] = [:]
        @Preference("span") var span = 1...2
        @Preference("token", .secret) var token: String?
        @Preference("keys", .secret) var keys: [String: String] = [:]
    }

    private func settings(_ words: [String]) -> (Settings, Recorder<PreferenceError>) {
        let store = PreferenceStore.layered([.arguments(words), .inMemory()])
        let issues = Recorder<PreferenceError>()
        store.issueHandler = { issues.record($0) }
        return (Settings(in: store), issues)
    }

    private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test(arguments: [
        ("", false), ("--verbose", true), ("--verbose file", true), ("--verbose=no", false), ("--verbose yes", true),
        ("--no-verbose", false), ("--verbose --no-verbose", false), ("--no-verbose --verbose", true),
        ("--no-verbose file", false), ("-v", true), ("-v file", true), ("-v --no-verbose", false),
        ("--no-verbose -v", true), ("-verbose", true), ("--verbose --limit 3", true), ("-- --verbose", false),
        ("--verbose=yes -v no", false), ("-verbose no file", false),
    ])
    func aFlagNeedsNoValue(_ text: String, _ value: Bool) {
        let (settings, issues) = settings(words(text))
        same(settings.verbose, value)
        same(settings.$verbose.source.name, text.contains("v") && !text.hasPrefix("-- ") ? "arguments" : "default")
        #expect(issues.elements.isEmpty)
    }

    @Test
    func anOptionalFlagHasThreeValues() {
        same(settings([]).0.colour, nil)
        same(settings(["--colour"]).0.colour, true)
        same(settings(["--no-colour"]).0.colour, false)
    }

    @Test
    func aNegationConcernsOnlyFlags() {
        let (settings, issues) = settings(["--no-cache"])
        #expect(settings.cache == "all" && settings.noCache)
        same(settings.$cache.source, .default)
        #expect(settings.problems.isEmpty && issues.elements.isEmpty)
    }

    @Test
    func aShortOptionHasAValue() {
        same(settings(["-n", "7"]).0.limit, 7)
        same(settings(["-n", "7", "--limit", "8"]).0.limit, 8)
        same(settings(["--limit", "8", "-n", "7"]).0.limit, 7)
        #expect(settings(["-n", "7"]).0.problems.isEmpty)
        same(settings(["-n", "7"]).0.$limit.source.name, "arguments")
    }

    @Test
    func optionsOfAnotherGroupAreNoProblem() {
        struct Others: PreferenceGroup {
            @Preference("quiet", .short("q")) var quiet = false
        }
        let store = PreferenceStore.layered([.arguments(["-q", "--no-quiet", "-x", "--no-limit"]), .inMemory()])
        let settings = Settings(in: store)
        let others = Others(in: store)
        same(settings.problems.count, 2)
        #expect(settings.problems.allSatisfy { $0.message.contains("\"x\"") || $0.message.contains("\"no-limit\"") })
        #expect(!others.quiet)
    }

    @Test
    func optionsAreReadOverAValidatedStore() throws {
        let words = words("-n 7 --tags a --tags b --no-verbose")
        let store = try PreferenceStore.validated(Settings.self, over: .layered([.arguments(words), .inMemory()]))
        let settings = Settings(in: store)
        #expect(settings.limit == 7 && settings.tags == ["a", "b"] && !settings.verbose)
    }

    /// The threads read a store at once that nothing has read before.
    @Test
    func eachThreadFindsAShortOption() async {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".map { $0 }
        for _ in 0..<200 {
            let store = PreferenceStore.layered([.arguments(letters.map { "-\($0)" }), .inMemory()])
            let preferences = letters.map { Preference("name-\($0)", default: false, .short($0), in: store) }
            let found = Recorder<Bool>()
            await onThreads(4) { _ in found.record(preferences[preferences.count - 1].value) }
            same(found.elements, [true, true, true, true])
        }
    }

    @Test
    func aShortOptionIsFoundInAScope() {
        let store = PreferenceStore.layered([.arguments(["-n", "7"]), .inMemory()])
        same(Settings(in: store.scoped(prefix: "a.")).limit, 7)
    }

    @Test
    func repeatedOptionsAreElements() {
        let (settings, issues) = settings(
            words("--tags a --tags=b,c --ports 1 --ports 2 --waits 10s --waits 2 --waits 10s --flags yes --flags=0")
        )
        same(settings.tags, ["a", "b,c"])
        same(settings.ports, [1, 2])
        same(settings.waits, [.seconds(10), .seconds(2)])
        same(settings.flags, [true, false])
        #expect(issues.elements.isEmpty)
    }

    @Test
    func aJSONArrayAddsItsElements() {
        same(settings(["--tags", #"["a","b"]"#]).0.tags, ["a", "b"])
        same(settings(["--tags=c", "--tags", #"["a","b"]"#]).0.tags, ["c", "a", "b"])
        same(settings(["--tags=[]"]).0.tags, [])
        same(settings(["--tags=[x"]).0.tags, ["[x"])
        same(settings(["--tags=5"]).0.tags, ["5"])
    }

    @Test
    func membersAreKeysWithValues() {
        let (settings, issues) = settings([
            "--defines", "a=1", "--defines=b=x=y", "--defines={\"c\":\"d\"}", "--weights=a=0.5", "--weights", "b=2",
        ])
        same(settings.defines, ["a": "1", "b": "x=y", "c": "d"])
        same(settings.weights, ["a": 0.5, "b": 2])
        #expect(issues.elements.isEmpty)
    }

    @Test
    func otherValuesAreThoseOfTheLastOption() {
        let (settings, issues) = settings(
            words("--ratio 0.5 --ratio -2 --theme light --theme=dark --span [1,5] --limit 3 --limit=4")
        )
        #expect(settings.ratio == -2 && settings.theme == .dark && settings.span == 1...5 && settings.limit == 4)
        #expect(issues.elements.isEmpty)
    }

    @Test
    func formerNamesAreOptions() {
        let (settings, issues) = settings(["--look=dark"])
        same(settings.theme, .dark)
        same(issues.elements.map(\.code), [.deprecated])
    }

    @Test(arguments: [
        (
            ["--limit"],
            #"preference "limit": --limit, from the layer "arguments", can't be used: the option needs a value: Int"#
        ),
        (
            ["--limit=700"],
            #"preference "limit": "700", from the layer "arguments" (--limit), can't be used: the text is not allowed: 700 is outside 1...500"#
        ),
        (
            ["--ports=1", "--ports=x"],
            #"preference "ports" at 1: "x", from the layer "arguments" (--ports), can't be used: expected Int, found string "x""#
        ),
        (
            ["--verbose=maybe"],
            #"preference "verbose": "maybe", from the layer "arguments" (--verbose), can't be used: expected Bool, found string "maybe""#
        ),
        (
            ["--verbose", "off"],
            #"preference "verbose": "off", from the layer "arguments" (--verbose), can't be used: expected Bool, found string "off""#
        ),
        (
            ["-verbose", "file"],
            #"preference "verbose": "file", from the layer "arguments" (--verbose), can't be used: expected Bool, found string "file""#
        ),
        (
            ["--defines=a"],
            #"preference "defines": "a", from the layer "arguments" (--defines), can't be used: expected key=value, found string "a""#
        ),
    ])
    func whatCannotBeReadIsReportedWithTheOption(_ words: [String], _ message: String) {
        let (settings, issues) = settings(words)
        #expect(settings.limit == 20 && settings.ports == [80] && !settings.verbose && settings.defines.isEmpty)
        same(issues.elements.map(\.description), [message + "; the default is used"])
        same(settings.problems.map(\.code), issues.elements.map(\.code))
    }

    @Test
    func aSecretIsNotShown() {
        let (settings, issues) = settings(["--token", "--keys=hush"])
        #expect(settings.token == nil && settings.keys.isEmpty)
        let messages = [
            #"preference "token": --token, from the layer "arguments", can't be used: the option needs a value: String"#,
            #"preference "keys": <redacted>, from the layer "arguments" (--keys), can't be used: expected Dictionary<String, String>, found <redacted>"#,
        ]
        same(issues.elements.map(\.description), messages.map { $0 + "; the default is used" })
        same(Set(settings.problems.map(\.description)), Set(issues.elements.map(\.description)))
    }
}
