#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Data in the alphabet of RFC 4648, section 4, padded, and only as one would write it.
///
/// Foundation's decoder also takes `AA=A` and bits beyond the last byte, and wants a string; this one reads the file's bytes where they are.
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

    /// The end of the text that begins some bytes, and which `data(of:)` takes; nil where it takes none that ends in a quote.
    static func end(of bytes: UnsafeRawBufferPointer) -> Int? {
        var end = endOfDigits(bytes)
        while end < bytes.count, bytes[end] == pad { end += 1 }
        guard end % 4 == 0 else { return nil }
        // Padding and the bits before it are looked at by decoding the last four.
        let last = UnsafeRawBufferPointer(rebasing: bytes[max(0, end - 4)..<end])
        return data(of: last) == nil ? nil : end
    }

    /// Where the first character is that is none of the alphabet; eight at a step, as `firstIndexToEscape`.
    private static func endOfDigits(_ bytes: UnsafeRawBufferPointer) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones &* 0x80
        var index = 0
        while index &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let ascii = word & ~high
            // The high bit of a sum of seven bits tells whether they are at least so many.
            let lower = ascii | ones &* 0x20
            let letters = (lower &+ ones &* (0x80 - 0x61)) & ~(lower &+ ones &* (0x80 - 0x7B))
            // The slash stands right before the digits.
            let numbers = (ascii &+ ones &* (0x80 - 0x2F)) & ~(ascii &+ ones &* (0x80 - 0x3A))
            let notPlus = (ascii ^ ones &* 0x2B) &+ ones &* 0x7F
            let others = (notPlus & ~(letters | numbers) | word) & high
            if others != 0 { return index &+ others.trailingZeroBitCount / 8 }
            index &+= 8
        }
        return digits.withUnsafeBufferPointer { digits in
            while index < bytes.count, digits[Int(bytes[index])] != noDigit { index &+= 1 }
            return index
        }
    }

    private static func decode(
        _ text: UnsafeRawBufferPointer,
        padding: Int,
        into bytes: UnsafeMutableRawBufferPointer
    ) -> Bool {
        digits.withUnsafeBufferPointer { digits in
            // What is no digit has bits above the 24, and they stay to the end.
            var seen: UInt32 = 0
            var (source, target) = (0, 0)
            let last = text.count - 4
            while source < last {
                let word = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: source, as: UInt32.self))
                let bits =
                    digits[Int(word & 0xFF)] << 18 | digits[Int(word >> 8 & 0xFF)] << 12
                    | digits[Int(word >> 16 & 0xFF)] << 6 | digits[Int(word >> 24)]
                seen |= bits
                // One byte too many, which the next word's overwrite.
                bytes.storeBytes(of: (bits << 8).bigEndian, toByteOffset: target, as: UInt32.self)
                source += 4
                target += 3
            }
            var bits: UInt32 = 0
            for index in last..<text.count - padding { bits = bits << 6 | digits[Int(text[index])] }
            bits <<= UInt32(padding * 6)
            seen |= bits
            for index in 0..<3 - padding {
                bytes[target + index] = UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))
            }
            let beyond = bits & (padding == 0 ? 0 : padding == 1 ? 0xFF : 0xFFFF)
            return seen >> 24 == 0 && beyond == 0
        }
    }

    private static let pad = UInt8(ascii: "=")
    // All bits, so that some are above the word's 24 wherever in it the character stands.
    private static let noDigit = UInt32.max

    /// The six bits of each character.
    private static let digits: [UInt32] = {
        var digits = [UInt32](repeating: noDigit, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, character) in alphabet.utf8.enumerated() { digits[Int(character)] = UInt32(value) }
        return digits
    }()
}
