extension JSONReader {
    /// The number that begins here.
    mutating func number() throws(JSONLineError) -> PropertyListValue {
        let start = offset
        let isNegative = bytes[offset] == UInt8(ascii: "-")
        if isNegative { offset += 1 }

        // All digits as one whole number, as long as 64 bits hold it, and the power of ten that it is to be scaled by.
        var digits: UInt64? = 0
        var exponent = 0
        let first = offset
        try takeDigits(into: &digits, start: start)
        if offset - first > 1, bytes[first] == UInt8(ascii: "0") {
            throw damaged("a number begins with a needless zero", at: start)
        }
        var isReal = false
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            isReal = true
            offset += 1
            let point = offset
            try takeDigits(into: &digits, start: start)
            exponent = point - offset
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            isReal = true
            offset += 1
            let sign = offset < bytes.count ? bytes[offset] : 0
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { offset += 1 }
            var power: UInt64? = 0
            try takeDigits(into: &power, start: start)
            // Beyond every power that counts, but small enough to add.
            let magnitude = Int(min(power ?? 1 << 32, 1 << 32))
            exponent += sign == UInt8(ascii: "-") ? -magnitude : magnitude
        }

        if !isReal, let digits {
            if !isNegative { return Int64(exactly: digits).map { .integer($0) } ?? .unsigned(digits) }
            if digits <= Int64.min.magnitude { return .integer(Int64(truncatingIfNeeded: 0 &- digits)) }
        }
        return .real(try real(digits, exponent, isNegative: isNegative, start: start))
    }

    private mutating func takeDigits(into number: inout UInt64?, start: Int) throws(JSONLineError) {
        let first = offset
        while offset < bytes.count {
            let digit = bytes[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            if let known = number {
                let (tens, overflow) = known.multipliedReportingOverflow(by: 10)
                let (sum, carry) = tens.addingReportingOverflow(UInt64(digit))
                number = overflow || carry ? nil : sum
            }
            offset &+= 1
        }
        guard offset == first else { return }
        guard offset < bytes.count else { throw incomplete() }
        throw offset == start ? damaged("this is no value", at: start) : damaged("a number lacks digits", at: start)
    }

    private func real(
        _ digits: UInt64?,
        _ exponent: Int,
        isNegative: Bool,
        start: Int
    ) throws(JSONLineError) -> Double {
        // Both are exact as doubles up to these bounds, so that one operation rounds once (Clinger 1990).
        if let digits, digits <= 1 << 53, exponent.magnitude <= 22 {
            let power = Self.powersOfTen[Int(exponent.magnitude)]
            let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
            return isNegative ? -magnitude : magnitude
        }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            // Digits that are still arriving may be a negative exponent.
            guard offset < bytes.count else { throw incomplete() }
            throw damaged("a number is too large", at: start)
        }
        return value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
