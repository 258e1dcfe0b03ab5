extension UnsafeRawBufferPointer {
    /// Where the first quote, backslash or control character is, at `start` or after; else the end.
    ///
    /// Looks at eight bytes a step: a byte of `x` is zero where `(x - 0x01…) & ~x` has its high bit. A borrow can only
    /// spoil bytes above the first hit, so the lowest hit is right.
    func firstIndexToEscape(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index &+ 8 <= count {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let control = (word &- ones &* 0x20) & ~word
            let hits = (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | control) & (ones &* 0x80)
            if hits != 0 { return index &+ hits.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count {
            let byte = self[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { return index }
            index &+= 1
        }
        return index
    }

    var isASCII: Bool {
        var bits: UInt64 = 0
        var index = 0
        while index &+ 8 <= count {
            bits |= loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < count {
            bits |= UInt64(self[index])
            index &+= 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
