import Foundation
import Preferences
import TestSupport
import Testing

/// Tests of values as JSON texts.
struct JSONTextTests {
    @Test(
        arguments: [
            ("dark", #""dark""#), (5, "5"), (2.0, "2.0"), (true, "true"), (.real(.infinity), #"{"$real":"inf"}"#),
            (.data(Data([1, 2])), #"{"$data":"AQI="}"#), (["b": 1, "a": ["x"]], #"{"a":["x"],"b":1}"#),
            (.date(Date(timeIntervalSinceReferenceDate: 0)), #"{"$date":"2001-01-01T00:00:00Z"}"#),
        ] as [(PropertyListValue, String)]
    )
    func valueIsWrittenAndReadInTheFormOfTheFile(value: PropertyListValue, text: String) throws {
        try same(value.json(), text)
        try same(PropertyListValue(json: " \(text)\n"), value)
    }

    @Test(arguments: ["", "25O", "dark", "null", "[1", #"{"$later":1}"#, "1 2", "\u{FEFF}"])
    func otherTextIsUnreadable(text: String) {
        #expect { try PropertyListValue(json: text) } throws: { ($0 as? PreferenceError)?.code == .unreadable }
    }

    @Test
    func errorOfSeveralLinesNamesTheLine() {
        #expect { try PropertyListValue(json: "[1,\n 2O]") } throws: {
            ($0 as? PreferenceError)?.message.hasPrefix("line 2, column 3: ") ?? false
        }
    }

    @Test
    func valueThatIsNestedTooDeeplyHasNoText() {
        let value = (0..<2_000).reduce(PropertyListValue.array([])) { value, _ in .array([value]) }
        #expect(throws: PreferenceError.self) { try value.json() }
    }
}
