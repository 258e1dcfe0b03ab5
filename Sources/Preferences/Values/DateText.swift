/// A date as ISO 8601 text, `2026-11-20T22:00:00.123Z`, exact to the last bit, in the proleptic Gregorian calendar.
///
/// A `Date` is a double of seconds since 2001. Its shortest decimal is split as text into whole seconds, which become the
/// calendar's fields, and the fraction, whose digits are copied. Reading joins the same decimal and converts it to a double
/// once. Adding two doubles, whole and fraction, would round.
package enum DateText {
    /// Returns the text; nil for a year outside 0001–9999, and for negative zero, which has no such text.
    package static func text(forSeconds seconds: Double) -> String? {
        // 1e12 seconds are 31,000 years; below it the digits before the point fit an Int.
        guard abs(seconds) < 1e12, seconds != 0 || seconds.sign == .plus else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestFraction) { digits in
            var (whole, count) = decimal(of: abs(seconds), fraction: digits)
            let fraction = UnsafeMutableBufferPointer(rebasing: digits[..<count])
            if seconds < 0 { whole = negated(whole, fraction) }
            let day = whole.floorDivided(by: 86_400)
            let (year, month, dayOfMonth) = civil(day)
            guard (1...9999).contains(year) else { return nil }
            let second = whole - day * 86_400
            return String(unsafeUninitializedCapacity: count + 24) { text in
                var end = 0
                text.append(year, digits: 4, then: "-", at: &end)
                text.append(month, digits: 2, then: "-", at: &end)
                text.append(dayOfMonth, digits: 2, then: "T", at: &end)
                text.append(second / 3600, digits: 2, then: ":", at: &end)
                text.append(second / 60 % 60, digits: 2, then: ":", at: &end)
                text.append(second % 60, digits: 2, then: fraction.isEmpty ? "Z" : ".", at: &end)
                if fraction.isEmpty { return end }
                for digit in fraction {
                    text[end] = UInt8(ascii: "0") &+ digit
                    end += 1
                }
                text[end] = UInt8(ascii: "Z")
                return end + 1
            }
        }
    }

    /// Returns the seconds since 2001 for a text, or nil if the text is invalid.
    ///
    /// - Parameter allowsOffset: Whether an offset from UTC, such as `+02:00`, may stand for `Z`, as people write it.
    package static func seconds(of text: String, allowsOffset: Bool = false) -> Double? {
        var rest = text.utf8[...]
        guard let year = rest.takeNumber(digits: 4, then: "-"), year >= 1,
            let month = rest.takeNumber(digits: 2, then: "-"), (1...12).contains(month),
            let dayOfMonth = rest.takeNumber(digits: 2, then: "T"),
            let hour = rest.takeNumber(digits: 2, then: ":"), hour < 24,
            let minute = rest.takeNumber(digits: 2, then: ":"), minute < 60,
            let second = rest.takeNumber(digits: 2, then: nil), second < 60
        else { return nil }
        let day = dayNumber(year: year, month: month, day: dayOfMonth)
        guard civil(day) == (year, month, dayOfMonth) else { return nil }

        guard let offset = allowsOffset ? rest.takeOffset() : rest.popLast() == UInt8(ascii: "Z") ? 0 : nil else {
            return nil
        }
        var fraction: [UInt8] = []
        if let point = rest.popFirst() {
            guard point == UInt8(ascii: "."), !rest.isEmpty else { return nil }
            for byte in rest {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                fraction.append(byte - UInt8(ascii: "0"))
            }
            while fraction.last == 0 { fraction.removeLast() }
        }

        var whole = ((day * 24 + hour) * 60 + minute) * 60 + second - offset
        let isNegative = whole < 0
        if isNegative { whole = fraction.withUnsafeMutableBufferPointer { negated(whole, $0) } }
        var decimal = Array("\(isNegative ? "-" : "")\(whole).".utf8)
        for digit in fraction.isEmpty ? [0] : fraction { decimal.append(UInt8(ascii: "0") + digit) }
        return Double(String(decoding: decimal, as: UTF8.self))
    }

    /// The length of the longest shortest decimal of a double without its whole part: 17 digits after the zeros of 1e-324.
    private static let longestFraction = 324 + 17

    /// Writes the digits after the point of the shortest decimal of a number from 0 to below 1e12, without zeros at the end; returns
    /// the whole part and the number of these digits.
    private static func decimal(
        of value: Double,
        fraction digits: UnsafeMutableBufferPointer<UInt8>
    ) -> (whole: Int, count: Int) {
        // "12.5", "12.0" or, below 0.0001, "1.25e-07".
        var text = value.description
        return text.withUTF8 { text in
            var (whole, count, zeros) = (0, 0, 0)
            var isFraction = false
            for (index, byte) in text.enumerated() {
                if byte == UInt8(ascii: ".") {
                    isFraction = true
                } else if byte == UInt8(ascii: "e") {
                    // After the sign; the digit before the point is one of the zeros' places.
                    zeros = text[(index + 2)...].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } - 1
                    break
                } else if isFraction {
                    digits[count] = byte - UInt8(ascii: "0")
                    count += 1
                } else {
                    whole = whole * 10 + Int(byte - UInt8(ascii: "0"))
                }
            }
            if zeros > 0 {
                for index in (0..<count).reversed() { digits[zeros + 1 + index] = digits[index] }
                for index in 0..<zeros { digits[index] = 0 }
                digits[zeros] = UInt8(whole)
                (whole, count) = (0, zeros + 1 + count)
            }
            while count > 0, digits[count - 1] == 0 { count -= 1 }
            return (whole, count)
        }
    }

    /// Negates the decimal `whole` + 0.`fraction`; returns the whole part of a sum with a fraction that isn't negative.
    private static func negated(_ whole: Int, _ fraction: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let last = fraction.indices.last else { return -whole }
        for index in 0..<last { fraction[index] = 9 - fraction[index] }
        fraction[last] = 10 - fraction[last]
        return -whole - 1
    }

    /// Returns the date of a day counted from 2001-01-01, in the proleptic Gregorian calendar.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        // Howard Hinnant, "`chrono`-Compatible Low-Level Date Algorithms": years begin in March, so a leap day is the last.
        let day = day + 730_791  // days from 0000-03-01 to 2001-01-01
        let era = day.floorDivided(by: 146_097)
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year.floorDivided(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 730_791
    }
}

extension Int {
    fileprivate func floorDivided(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes a number with leading zeros and the character after it.
    @inline(__always)
    fileprivate func append(_ number: Int, digits: Int, then separator: Unicode.Scalar, at end: inout Int) {
        var rest = number
        for index in (end..<end + digits).reversed() {
            self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        end += digits + 1
        self[end - 1] = UInt8(ascii: separator)
    }
}

extension Substring.UTF8View {
    /// Removes `Z` or an offset from UTC, such as `+02:00`, from the end; returns the offset in seconds.
    fileprivate mutating func takeOffset() -> Int? {
        if last == UInt8(ascii: "Z") {
            removeLast()
            return 0
        }
        var text = suffix(6)
        guard text.count == 6, let sign = text.popFirst(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            let hours = text.takeNumber(digits: 2, then: ":"), hours < 24,
            let minutes = text.takeNumber(digits: 2, then: nil), minutes < 60
        else { return nil }
        removeLast(6)
        return (sign == UInt8(ascii: "-") ? -60 : 60) * (hours * 60 + minutes)
    }

    /// Removes exactly the given number of digits and the separator after them; returns the number.
    fileprivate mutating func takeNumber(digits: Int, then separator: Unicode.Scalar?) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let byte = popFirst(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        if let separator { guard popFirst() == UInt8(ascii: separator) else { return nil } }
        return number
    }
}
