import Preferences
import TestSupport
import Testing

struct PropertyListValueTests {
    @Test
    func integerAndRealDiffer() {
        #expect(PropertyListValue.integer(2) != .real(2))
    }

    /// Neither a name nor a key can begin a line of a log or control a terminal.
    @Test
    func errorAndDescriptionAreOneLineOfCharactersThatShow() {
        let hostile = "a\nb\u{1B}[2J\u{85}\u{9B}\u{7F}\u{202E}\u{2028}\u{2029}\u{E0041}é👍"
        let escaped = #"a\nb\u001b[2J\u0085\u009b\u007f\u202e\u2028\u2029\udb40\udc41é👍"#
        let error = PreferenceError(.unreadable, name: hostile, "found \(hostile)", codingPath: [hostile])
        same(error.description, "preference \"\(escaped)\" at \(escaped): found \(escaped)")
        let outer = PreferenceError(.unavailable, "it failed", cause: error)
        same(outer.description, "it failed (\(error))")
        same(PropertyListValue.string(hostile).description, "\"\(escaped)\"")
        same(PropertyListValue.dictionary([hostile: 1]).description, "{\"\(escaped)\": 1}")
        same(PropertyListValue.string("\\\"").description, #""\\\"""#)
    }
}
