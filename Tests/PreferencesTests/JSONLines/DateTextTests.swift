import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Dates as text, to the last bit and in the proleptic Gregorian calendar.
struct DateTextTests {
    /// Days from 2001-01-01 to 0001-01-01, 1582-10-15 and 9999-12-31.
    private static let (first, gregorian, last) = (-730_485, -152_750, 2_921_573)

    @Test
    func everyMonthOfTheCalendarIsCountedByTheLeapRule() throws {
        var day = Self.first - 1
        for year in 1...9999 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            // The years in which the rules differ, and some other years.
            let isChecked = isFullTest || year % 100 == 0 || year % 13 == 0 || year == 1 || year == 9999
            for (month, days) in zip(1..., [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                day += days
                guard isChecked else { continue }
                let text = try #require(DateText.text(forSeconds: Double(day * 86_400)))
                let numbers = text.utf8.prefix(10).split(separator: UInt8(ascii: "-")).map { Int(Substring($0)) }
                guard numbers == [year, month, days], DateText.seconds(of: text) == Double(day * 86_400) else {
                    Issue.record("\(text) for the last day of \(year)-\(month)")
                    return
                }
            }
        }
        same(day, Self.last)
    }

    @Test
    func textIsFoundationsSinceTheGregorianReform() {
        // For days before 1582-10-15 Foundation's ISO 8601 style uses the Julian calendar; ISO 8601 doesn't.
        let style = Date.ISO8601FormatStyle()
        for day in stride(from: Self.gregorian, through: Self.last, by: isFullTest ? 97 : 997) {
            let seconds = Double(day * 86_400 + (day & 0xFFFF))
            same(DateText.text(forSeconds: seconds), style.format(Date(timeIntervalSinceReferenceDate: seconds)))
        }
    }

    @Test(
        arguments: [
            (-63_113_904_000, "0001-01-01T00:00:00Z"), (-63_113_904_000.00001, nil),
            (252_423_993_599, "9999-12-31T23:59:59Z"), (252_423_993_599.9999, "9999-12-31T23:59:59.9999Z"),
            (252_423_993_600, nil), (-1, "2000-12-31T23:59:59Z"), (-1e-5, "2000-12-31T23:59:59.99999Z"),
            (-0.1, "2000-12-31T23:59:59.9Z"), (0.1, "2001-01-01T00:00:00.1Z"), (-86_400, "2000-12-31T00:00:00Z"),
            (-978_307_200, "1970-01-01T00:00:00Z"), (5_097_599, "2001-02-28T23:59:59Z"),
            (99_619_200, "2004-02-28T00:00:00Z"), (99_705_600, "2004-02-29T00:00:00Z"),
            (99_792_000, "2004-03-01T00:00:00Z"), (-0.0, nil), (.nan, nil),
            (.infinity, nil), (.greatestFiniteMagnitude, nil),
        ] as [(Double, String?)]
    )
    func textOfADate(seconds: Double, text: String?) {
        same(DateText.text(forSeconds: seconds), text)
        if let text { same(DateText.seconds(of: text), seconds) }
    }

    @Test
    func neighbouringDatesDiffer() throws {
        for start in [.leastNonzeroMagnitude, 1e-9, 0.1, 1, 86_400, 8e8, 817_081_200.123, 2.5e11] {
            for sign in [1.0, -1] where sign > 0 || start < 6e10 {
                var seconds = start * sign
                for _ in 0..<rounds(1_000) {
                    let text = try #require(DateText.text(forSeconds: seconds))
                    same(DateText.seconds(of: text), seconds)
                    seconds = seconds.nextUp
                    if seconds == 0 { break }
                }
            }
        }
    }
}
