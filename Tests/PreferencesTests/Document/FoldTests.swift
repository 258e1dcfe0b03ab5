import TestSupport
import Testing

@testable import Preferences

/// How the entries of a file become one object.
struct FoldTests {
    /// Files, and their folds; nil if there is nothing to fold.
    private static let table: [(file: String, fold: String?)] = [
        ("", nil),
        ("// only a comment\n", nil),
        ("{}\n", nil),
        ("{\n  \"a\": 1\n}\n", nil),
        // Without a member a line, each gets one.
        ("{\"a\":1}\n", "{\n  \"a\": 1\n}\n"),
        ("{\"a\":1}\n{\"b\":[1,2]}\n{\"a\":3}\n", "{\n  \"a\": 3,\n  \"b\": [1,2]\n}\n"),
        ("{\"a\":1}\n{\"a\":null}\n", "{}\n"),
        // A text that a person has written stays, but for the lines that are set.
        (
            "// mine\n{\n    \"a\": 1, // one\n\n    // of b\n    \"b\" : 2\n}\n{\"a\":3}\n{\"c\":4}\n",
            "// mine\n{\n    \"a\": 3, // one\n\n    // of b\n    \"b\" : 2,\n    \"c\": 4\n}\n"
        ),
        (
            "{\n\t\"a\": 1,\n\t\"b\": 2, // two\n\t\"c\": 3\n}\n{\"b\":null}\n",
            "{\n\t\"a\": 1,\n\t\"c\": 3\n}\n"
        ),
        ("{\r\n  \"a\": 1\r\n}\r\n{\"b\":2}\n", "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\n"),
        ("{\n  \"a\": 1,\n}\n{\"a\":2}\n", "{\n  \"a\": 2,\n}\n"),
        // A value that is set again to what it is keeps its text.
        ("{\n  \"a\": 1e0\n}\n{\"a\":1.0}\n", "{\n  \"a\": 1e0\n}\n"),
        // Reserved names stay.
        (
            "{\n  \"$schema\": \"x.json\",\n  \"a\": 1\n}\n{\"$new\":[1]}\n",
            "{\n  \"$schema\": \"x.json\",\n  \"a\": 1,\n  \"$new\": [1]\n}\n"
        ),
        // Damage comes first, byte for byte, and ends for whatever follows.
        ("{\"a\":1}\n{\"b\":tru}\n{\"a\":2}\n", "{\"b\":tru}\n{\n  \"a\": 2\n}\n"),
        ("{\"a\":1}\n{\"b\":\"x", "{\"b\":\"x\n*/*\n{\n  \"a\": 1\n}\n"),
        // A name that a damaged text sets and that was removed isn't set again.
        (
            "{\n  \"a\": 1\n  \"b\": 2\n}\n{\"a\":null,\"c\":3}\n",
            "{\n  \"a\": 1\n  \"b\": 2\n}\n{\n  \"c\": 3,\n  \"a\": null\n}\n"
        ),
        // Later formats are for later programs.
        ("{\"$format\":2}\n{\"a\":1}\n{\"a\":2}\n", nil),
    ]

    @Test
    func foldsAreAsTheTableSays() {
        for (file, fold) in Self.table {
            let folded = Array(file.utf8).withUnsafeBytes { Fold.folded($0) }
            same(folded.map { String(decoding: $0, as: UTF8.self) }, fold, "\(file)")
        }
    }
}
