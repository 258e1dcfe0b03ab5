#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Data as base64 text in the alphabet of RFC 4648, section 4, padded and canonical.
///
/// Foundation's decoder also accepts `AA=A` and bits beyond the last byte, and needs a string; this one reads the file's bytes
/// in place.
enum Base64 {
    /// Returns the data that a text encodes, or nil if the text isn't canonical.
    static func data(of text: UnsafeRawBufferPointer) -> Data? {
        guard text.count % 4 == 0 else { return nil }
        guard let last = text.last else { return Data() }
        let padding = last != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
        var data = Data(count: text.count / 4 * 3 - padding)
        let isValid = data.withUnsafeMutableBytes { decode(text, padding: padding, into: $0) }
        return isValid ? data : nil
    }

    /// Appends the text of data.
    static func append(_ data: Data, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: repeatElement(pad, count: (data.count + 2) / 3 * 4))
        text.withUnsafeMutableBytes { text in
            data.withUnsafeBytes { encode($0, into: UnsafeMutableRawBufferPointer(rebasing: text[start...])) }
        }
    }

    /// Writes the text of some bytes, without its padding.
    private static func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer) {
        pairs.withUnsafeBufferPointer { pairs in
            var (source, target) = (0, 0)
            // Reads one byte more than it encodes.
            while source &+ 4 <= bytes.count {
                let bits = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: source, as: UInt32.self)) >> 8
                let word = UInt32(pairs[Int(bits >> 12)]) | UInt32(pairs[Int(bits & 0xFFF)]) << 16
                text.storeBytes(of: word.littleEndian, toByteOffset: target, as: UInt32.self)
                source &+= 3
                target &+= 4
            }
            while source < bytes.count {
                let count = Swift.min(3, bytes.count - source)
                var bits: UInt32 = 0
                for index in 0..<3 { bits = bits << 8 | (index < count ? UInt32(bytes[source + index]) : 0) }
                let word = UInt32(pairs[Int(bits >> 12)]) | UInt32(pairs[Int(bits & 0xFFF)]) << 16
                for index in 0...count { text[target + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
                source += 3
                target += 4
            }
        }
    }

    /// Returns the length of the base64 text at the start of some bytes; nil if that text isn't canonical.
    static func end(of bytes: UnsafeRawBufferPointer) -> Int? {
        var end = endOfDigits(bytes)
        while end < bytes.count, bytes[end] == pad { end += 1 }
        guard end % 4 == 0 else { return nil }
        // Decoding the last four characters checks the padding and the bits before it.
        let last = UnsafeRawBufferPointer(rebasing: bytes[max(0, end - 4)..<end])
        return data(of: last) == nil ? nil : end
    }

    /// Returns the index of the first character outside the alphabet; checks eight bytes at a time, as `firstIndexToEscape`
    /// does.
    private static func endOfDigits(_ bytes: UnsafeRawBufferPointer) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones &* 0x80
        var index = 0
        while index &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let ascii = word & ~high
            // The high bit of a sum of seven-bit numbers shows whether a byte is at least a given value.
            let lower = ascii | ones &* 0x20
            let letters = (lower &+ ones &* (0x80 - 0x61)) & ~(lower &+ ones &* (0x80 - 0x7B))
            // The slash precedes the digits immediately.
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
            // Invalid characters have bits above the lower 24, which stay set until the end.
            var seen: UInt32 = 0
            var (source, target) = (0, 0)
            let last = text.count - 4
            while source < last {
                let word = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: source, as: UInt32.self))
                // As one expression, its types took the compiler a second.
                var bits = digits[Int(word & 0xFF)] << 18
                bits |= digits[Int(word >> 8 & 0xFF)] << 12
                bits |= digits[Int(word >> 16 & 0xFF)] << 6
                bits |= digits[Int(word >> 24)]
                seen |= bits
                // This writes one byte too many, which the next word overwrites.
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
    // All bits are set, so that some are above the word's lower 24 at any position of the character.
    private static let noDigit = UInt32.max

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The six bits of each character.
    private static let digits: [UInt32] = {
        var digits = [UInt32](repeating: noDigit, count: 256)
        for (value, character) in alphabet.enumerated() { digits[Int(character)] = UInt32(value) }
        return digits
    }()

    /// The two characters of each number of twelve bits, the first in the lower byte.
    private static let pairs: [UInt16] = (0..<4096).map { UInt16(alphabet[$0 >> 6]) | UInt16(alphabet[$0 & 63]) << 8 }
}
