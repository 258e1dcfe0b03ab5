import TestSupport
import Testing

@testable import Preferences

/// The reading of a command line, and the problems of its unknown names.
struct ArgumentTests {
    @Test(
        arguments: [
            (["-a", "1"], ["a": "1"]),
            (["--a", "1"], ["a": "1"]),
            (["--a=1"], ["a": "1"]),
            (["--a=", "x"], ["a": ""]),
            (["--a=b=c"], ["a": "b=c"]),
            (["--a=-b", "--c=--"], ["a": "-b", "c": "--"]),
            (["-a", "-1.5", "--b", "-inf"], ["a": "-1.5", "b": "-inf"]),
            (["-a", "-b", "1"], ["a": true, "b": "1"]),
            (["--a", "--b", "1"], ["a": true, "b": "1"]),
            (["--a", "1", "-a", "2", "--a=3"], ["a": "3"]),
            (["x", "-a"], ["a": true]),
            (["--a=1", "--no-a"], ["a": "1", "no-a": true]),
            (["-a", "1", "--", "-b", "2", "--c=3"], ["a": "1"]),
            (["-a", "--", "1"], ["a": true]),
            (["-", "1", "--=1", "-=1", "-1"], [:]),
            // With one dash, `=` makes it an option of another kind.
            (["-a=b", "1"], ["a=b": true]),
        ] as [([String], [String: PropertyListValue])]
    )
    func argumentsAreRead(_ words: [String], _ values: [String: PropertyListValue]) {
        same(PreferenceStore.arguments(words).contents, values)
    }

    private struct Player: PreferenceGroup {
        @Preference("volume") var volume = 5
        @Preference("editor.font-size") var size = 10.0
        @Preference("quiet", .short("q")) var quiet = false
        var window = Window()
    }

    private struct Window: PreferenceGroup {
        @Preference("width") var width = 800
    }

    func reported(
        _ arguments: [String],
        _ environment: [String: String] = [:],
        in scope: String? = nil
    ) -> [PreferenceError] {
        let layered = PreferenceStore.layered([
            .arguments(arguments), .environment(environment, prefix: "APP"), .inMemory(["unknown": 1]),
        ])
        let store = scope.map { layered.scoped(prefix: $0) } ?? layered
        store.issueHandler = { _ in }
        return Player(in: store).problems
    }

    @Test
    func declaredNamesAreNotReported() {
        let issues = reported(
            ["-volume", "1", "--width=2", "--editor.font-size", "3", "file", "-1", "--quiet", "--", "--x"],
            ["APP_VOLUME": "1", "APP_EDITOR_FONT_SIZE": "2", "OTHER": "1", "APPX": "1"]
        )
        same(issues.map(\.message), [])
    }

    @Test
    func optionsThatArentUnderstoodAreReported() {
        let issues = reported(["-volume=2", "--flag", "-q", "--no-volume"])
        same(
            issues.map(\.message),
            [
                #"no preference is named "flag"; its value in the layer "arguments" is ignored; correct or remove it"#,
                #"no preference is named "no-volume"; its value in the layer "arguments" is ignored; did you mean "volume"?"#,
                #"no preference is named "q"; its value in the layer "arguments" is ignored; correct or remove it"#,
                #"no preference is named "volume=2"; its value in the layer "arguments" is ignored; did you mean "volume"?"#,
            ]
        )
    }

    @Test
    func aScopeReportsWhatBeginsWithIt() {
        let issues = reported(
            ["-a.volum", "1", "-a.width", "1", "-b.x", "1"],
            ["APP_A_VOLUM": "1", "APP_A_WIDTH": "1", "APP_B_X": "1"],
            in: "a."
        )
        same(issues.last?.message.hasSuffix(#"did you mean "a.volume"?"#), true)
    }
}
