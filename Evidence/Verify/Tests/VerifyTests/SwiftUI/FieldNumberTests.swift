import Foundation
import Testing

@testable import Preferences
@testable import PreferencesEditing

/// The numbers in text fields, in the form of the user's locale.
struct FieldNumberTests {
    private func number(_ locale: String) -> FieldNumber { FieldNumber(Locale(identifier: locale)) }

    @Test(arguments: [("en_US", "-1234.5"), ("de_DE", "-1234,5"), ("fr_FR", "-1234,5"), ("de_CH", "-1234.5")])
    func textHasTheLocalesSeparatorAndNoGroups(locale: String, text: String) {
        let number = number(locale)
        #expect(number.text(of: .real(-1234.5), isFloat: false) == text)
        #expect(number.plain(text) == "-1234.5")
    }

    @Test
    func floatHasItsOwnDigits() {
        let stored = Double(Float(0.1))
        #expect(number("de_DE").text(of: .real(stored), isFloat: true) == "0,1")
        #expect(number("de_DE").text(of: .real(0.1), isFloat: false) == "0,1")
        #expect(number("en_US").text(of: .integer(5), isFloat: false) == "5")
        #expect(number("en_US").text(of: .unsigned(.max), isFloat: false) == "18446744073709551615")
        #expect(number("en_US").text(of: "5", isFloat: false) == nil)
    }

    @Test(arguments: [
        ("en_US", "1,234.5", "1234.5"), ("en_US", "1,5", "1,5"), ("de_DE", "1.234,5", "1234.5"),
        ("de_DE", "1.234", "1234"),
        ("de_DE", "0.125", "0.125"), ("de_DE", "-0.250", "-0.250"), ("de_DE", "100.125", "100125"),
        ("de_DE", "1.5", "1.5"), ("de_DE", "1234.567", "1234.567"), ("de_DE", "-1.234.567", "-1234567"),
        ("de_DE", "1,5e3", "1.5e3"),
        ("fr_FR", "1\u{202F}234,5", "1234.5"), ("de_CH", "1'234.5", "1234.5"), ("de_CH", "1\u{2019}234.5", "1234.5"),
        ("sv_SE", "\u{2212}1,5", "-1.5"), ("ar_EG", "\u{0661}\u{0665}", "15"), ("en_US", "many", "many"),
        ("en_US", "", ""),
    ])
    func typedNumberIsReadAsTheLocaleWritesIt(locale: String, typed: String, plain: String) {
        #expect(number(locale).plain(typed) == plain)
    }

    @Test
    func eachDoubleIsReadBack() {
        var generator = SystemRandomNumberGenerator()
        for locale in ["en_US", "de_DE", "fr_FR"] {
            let number = number(locale)
            for _ in 0..<200 {
                let value = Double(bitPattern: generator.next())
                guard value.isFinite, let text = number.text(of: .real(value), isFloat: false) else { continue }
                #expect(Double(number.plain(text)) == value, "\(text)")
            }
        }
    }
}
