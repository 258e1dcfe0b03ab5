@testable internal import Preferences

extension DocumentReader {
    /// Reads the string whose opening quote is at `offset`.
    mutating func string() throws(DamageError) -> String {
        let start = offset + 1
        var end = bytes.firstIndexToEscape(from: start)
        guard end < bytes.count else { throw incomplete() }
        if bytes[end] == UInt8(ascii: "\"") {
            let raw = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if raw.count <= 15, raw.isASCII {
                offset = end + 1
                return String(unsafeUninitializedCapacity: raw.count) {
                    UnsafeMutableRawBufferPointer($0).copyMemory(from: raw); return raw.count
                }
            }
            // `validating` looks up types at each call; ASCII text needs no validation.
            guard
                let string = raw.isASCII ? String(decoding: raw, as: UTF8.self) : String(validating: raw, as: UTF8.self)
            else { throw invalidText(from: start, to: end) }
            offset = end + 1
            return string
        }

        // Finds the end before validating the contents: a string without an end may still be in the process of being written.
        while bytes[end] != UInt8(ascii: "\"") {
            guard bytes[end] == UInt8(ascii: "\\") else {
                throw damaged("a string contains a control character", at: end)
            }
            end = bytes.firstIndexToEscape(from: min(end + 2, bytes.count))
            guard end < bytes.count else { throw incomplete() }
        }
        return try escapedString(from: start, to: end)
    }

    @inline(never)
    private mutating func escapedString(from start: Int, to end: Int) throws(DamageError) -> String {
        scratch.removeAll(keepingCapacity: true)
        var index = start
        while index < end {
            let escape = min(bytes.firstIndexToEscape(from: index), end)
            scratch.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[index..<escape]))
            index = escape
            if index < end { try appendEscape(at: &index, end: end) }
        }
        guard let string = String(validating: scratch, as: UTF8.self) else { throw invalidText(from: start, to: end) }
        offset = end + 1
        return string
    }

    /// Appends the character of the escape at `index`, and moves `index` behind it.
    private mutating func appendEscape(at index: inout Int, end: Int) throws(DamageError) {
        let start = index
        index += 2
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scratch.append(bytes[start + 1])
        case UInt8(ascii: "b"): scratch.append(0x08)
        case UInt8(ascii: "f"): scratch.append(0x0C)
        case UInt8(ascii: "n"): scratch.append(0x0A)
        case UInt8(ascii: "r"): scratch.append(0x0D)
        case UInt8(ascii: "t"): scratch.append(0x09)
        case UInt8(ascii: "u"):
            var code = UInt32(try codeUnit(at: &index, end: end, escape: start))
            if 0xD800..<0xDC00 ~= code, index + 1 < end, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u")
            {
                index += 2
                let low = UInt32(try codeUnit(at: &index, end: end, escape: index - 2))
                guard 0xDC00..<0xE000 ~= low || isSkipped else {
                    throw damaged("half of a surrogate pair is missing", at: start)
                }
                code = 0xDC00..<0xE000 ~= low ? 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) : 0xFFFD
            }
            guard let scalar = Unicode.Scalar(code) ?? (isSkipped ? "\u{FFFD}" : nil) else {
                throw damaged("half of a surrogate pair is missing", at: start)
            }
            scratch.append(contentsOf: scalar.utf8)
        default: throw damaged("an escape is unknown", at: start)
        }
    }

    /// Reads the four hexadecimal digits at `index`, and moves `index` behind them.
    private func codeUnit(at index: inout Int, end: Int, escape: Int) throws(DamageError) -> UInt16 {
        var code: UInt16 = 0
        for _ in 0..<4 {
            let byte = bytes[index]
            let digit: UInt8? =
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
                default: nil
                }
            guard index < end, let digit else { throw damaged("an escape doesn't have four digits", at: escape) }
            code = code << 4 | UInt16(digit)
            index += 1
        }
        return code
    }

    /// Returns the error for a text that isn't UTF-8, with the offset of the first invalid byte.
    private func invalidText(from start: Int, to end: Int) -> DamageError {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = UnsafeRawBufferPointer(rebasing: bytes[start..<end]).makeIterator()
        var index = start
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) { index += scalar.count }
        return damaged("a string is not UTF-8", at: index)
    }
}
