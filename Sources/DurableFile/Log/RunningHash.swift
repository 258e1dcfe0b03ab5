/// A 64-bit hash of a growing sequence of bytes, the same however the bytes come in pieces.
///
/// It tells a changed file from an unchanged one; it is no defence against somebody who looks for a collision.
struct RunningHash: Equatable, Sendable {
    // Of the whole words of eight bytes; not zero, so that zero bytes at the beginning count.
    private var value: UInt64 = 0x9e37_79b9_7f4a_7c15
    /// The bytes behind them.
    private var rest: UInt64 = 0
    private var restCount = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while restCount > 0, index < bytes.count {
            addToRest(bytes[index])
            index &+= 1
        }
        var value = value
        while bytes.count &- index >= 8 {
            value = Self.mixed(value, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            index &+= 8
        }
        self.value = value
        while index < bytes.count {
            addToRest(bytes[index])
            index &+= 1
        }
    }

    private mutating func addToRest(_ byte: UInt8) {
        rest |= UInt64(byte) << UInt64(restCount &* 8)
        restCount &+= 1
        guard restCount == 8 else { return }
        value = Self.mixed(value, rest)
        (rest, restCount) = (0, 0)
    }

    // Each step can be undone, so two sequences that differ in one word stay different. The high bits of the product,
    // which depend on most, come down to where the next product spreads them.
    private static func mixed(_ value: UInt64, _ word: UInt64) -> UInt64 {
        let product = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
        return product ^ product >> 32
    }
}
