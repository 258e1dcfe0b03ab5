#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Data in the alphabet of RFC 4648, section 4, padded, and only as one would write it.
///
/// Foundation's decoder also takes `AA=A` and bits beyond the last byte, wants a string, and takes seven times as long.
enum Base64 {
    /// The data that the text stands for; nil where nobody would write it so.
    static func data(of text: UnsafeRawBufferPointer) -> Data? {
        guard text.count % 4 == 0 else { return nil }
        guard let last = text.last else { return Data() }
        let padding = last != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
        var data = Data(count: text.count / 4 * 3 - padding)
        let isValid = data.withUnsafeMutableBytes { decode(text, padding: padding, into: $0) }
        return isValid ? data : nil
    }

    private static func decode(
        _ text: UnsafeRawBufferPointer,
        padding: Int,
        into bytes: UnsafeMutableRawBufferPointer
    ) -> Bool {
        digits.withUnsafeBufferPointer { digits in
            func digit(_ index: Int) -> UInt32 { UInt32(digits[Int(text[index])]) }
            // What is no digit has bits above the six, and they stay to the end.
            var seen: UInt32 = 0
            var (source, target) = (0, 0)
            let whole = padding == 0 ? text.count : text.count - 4
            while source < whole {
                let (first, second, third, fourth) =
                    (digit(source), digit(source + 1), digit(source + 2), digit(source + 3))
                seen |= first | second | third | fourth
                let bits = first << 18 | second << 12 | third << 6 | fourth
                bytes[target] = UInt8(truncatingIfNeeded: bits >> 16)
                bytes[target + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                bytes[target + 2] = UInt8(truncatingIfNeeded: bits)
                source += 4
                target += 3
            }
            guard padding > 0 else { return seen < 64 }
            let third = padding == 1 ? digit(source + 2) : 0
            let bits = digit(source) << 18 | digit(source + 1) << 12 | third << 6
            seen |= digit(source) | digit(source + 1) | third
            bytes[target] = UInt8(truncatingIfNeeded: bits >> 16)
            if padding == 1 { bytes[target + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
            let beyond = padding == 1 ? bits & 0xFF : bits & 0xFFFF
            return seen < 64 && beyond == 0
        }
    }

    private static let pad = UInt8(ascii: "=")
    private static let noDigit: UInt8 = 0xFF

    /// The six bits of each character.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: noDigit, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { digits[Int(character)] = UInt8(value) }
        return digits
    }()
}
