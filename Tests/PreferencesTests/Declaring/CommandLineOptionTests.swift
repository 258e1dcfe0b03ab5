import Foundation
import PreferencesValidation
import TestSupport
import Testing

@testable import Preferences

/// Options as the type of a declaration reads them.
struct CommandLineOptionTests {
    enum Theme: String, PreferenceValue, CaseIterable { case light, dark }

    struct Settings: PreferenceGroup {
        @Preference("verbose") var verbose = false
        @Preference("colour") var colour: Bool?
        @Preference("limit", .range(1...500), .short("n")) var limit = 20
        @Preference("ratio") var ratio = 1.0
        @Preference("theme", .formerly("look")) var theme = Theme.light
        @Preference("tags") var tags = ["none"]
        @Preference("ports") var ports: [Int] = [80]
        @Preference("defines") var defines: [String: String] = [:]
        @Preference("span") var span = 1...2
        @Preference("token", .secret) var token: String?
        @Preference("keys", .secret) var keys: [String: String] = [:]
    }

    func settings(_ words: [String]) -> (Settings, Recorder<PreferenceError>) {
        let store = PreferenceStore.layered([.arguments(words), .inMemory()])
        let issues = Recorder<PreferenceError>()
        store.issueHandler = { issues.record($0) }
        return (Settings(in: store), issues)
    }

    func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test(arguments: [
        ("", false), ("--verbose", true), ("--verbose file", true), ("--verbose=no", false), ("--verbose yes", true),
        ("--verbose no", false), ("--verbose --verbose=no", false), ("--verbose=no --verbose file", true),
        ("-verbose", true), ("--verbose --limit 3", true), ("-- --verbose", false), ("--verbose 2026-11-25", true),
        ("-verbose no file", false),
    ])
    func aFlagNeedsNoValue(_ text: String, _ value: Bool) {
        let (settings, issues) = settings(words(text))
        same(settings.verbose, value)
        same(settings.$verbose.source.name, text.contains("v") && !text.hasPrefix("-- ") ? "arguments" : "default")
        #expect(issues.elements.isEmpty && settings.problems.isEmpty)
    }

    @Test
    func anOptionalFlagHasThreeValues() {
        same(settings([]).0.colour, nil)
        same(settings(["--colour", "file"]).0.colour, true)
        same(settings(["--colour=no"]).0.colour, false)
    }

    @Test
    func collectionsAreJSON() {
        let (settings, issues) = settings([
            "--tags", #"["a","b,c"]"#, "--ports=[1,2]", #"--defines={"a":"b=c"}"#, "--span", "[1,5]",
        ])
        #expect(settings.tags == ["a", "b,c"] && settings.ports == [1, 2] && settings.span == 1...5)
        same(settings.defines, ["a": "b=c"])
        #expect(issues.elements.isEmpty)
    }

    @Test
    func theLastOptionCounts() {
        let (settings, issues) = settings(
            words("--ratio 0.5 --ratio -2 --theme light --theme=dark -limit 3 --limit=4 --ports=[1] --ports=[2]")
        )
        #expect(settings.ratio == -2 && settings.theme == .dark && settings.limit == 4 && settings.ports == [2])
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
            #"preference "limit": --limit, from the layer "arguments", can't be used: the option needs a value: expected Int, found boolean true"#
        ),
        (
            ["--limit=700"],
            #"preference "limit": "700", from the layer "arguments" (--limit), can't be used: the text is not allowed: 700 is outside 1...500"#
        ),
        (
            ["--limit", "many"],
            #"preference "limit": "many", from the layer "arguments" (--limit), can't be used: expected Int, found string "many""#
        ),
        (
            ["--ports", "1"],
            #"preference "ports": "1", from the layer "arguments" (--ports), can't be used: expected Array<Int>, found string "1"; write [1,2]"#
        ),
        (
            ["--verbose=maybe"],
            #"preference "verbose": "maybe", from the layer "arguments" (--verbose), can't be used: expected Bool, found string "maybe"; write true or false"#
        ),
        (
            ["-verbose", "file"],
            #"preference "verbose": "file", from the layer "arguments" (--verbose), can't be used: expected Bool, found string "file"; write true or false"#
        ),
        (
            ["--defines", "a=1"],
            #"preference "defines": "a=1", from the layer "arguments" (--defines), can't be used: expected Dictionary<String, String>, found string "a=1"; write {"name":…}"#
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
            #"preference "token": --token, from the layer "arguments", can't be used: the option needs a value: expected Optional<String>, found <redacted>"#,
            #"preference "keys": <redacted>, from the layer "arguments" (--keys), can't be used: expected Dictionary<String, String>, found <redacted>"#,
        ]
        same(issues.elements.map(\.description), messages.map { $0 + "; the default is used" })
        same(Set(settings.problems.map(\.description)), Set(issues.elements.map(\.description)))
    }

    @Test
    func aWordBehindAFlagIsReadOverAValidatedStore() throws {
        let words = words("--limit 7 --verbose file")
        let store = try PreferenceStore.validated(Settings.self, over: .layered([.arguments(words), .inMemory()]))
        let settings = Settings(in: store)
        #expect(settings.limit == 7 && settings.verbose)
    }
}
