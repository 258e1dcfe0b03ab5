// Names of a table in text, without strings.

extension UnsafeRawBufferPointer {
    /// Derived from the seed of the standard library, so that an attacker can't choose names that collide.
    private static let seed = UInt64(bitPattern: Int64("".hashValue))

    /// The hash of a name, which differs between processes.
    @inline(__always)
    var nameHash: UInt64 {
        var hash = Self.seed ^ UInt64(truncatingIfNeeded: count)
        guard count >= 8 else { return Self.mixed(hash ^ short) }
        var index = 0
        while index &+ 8 < count {
            hash = Self.mixed(hash ^ loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index &+= 8
        }
        // The last eight bytes, which may overlap those before.
        return Self.mixed(hash ^ loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    }

    /// Returns both halves of the product combined, because the upper one depends on all bits (as in `wyhash`).
    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return product.high ^ product.low
    }

    /// Up to seven bytes as a number; different bytes of the same count have different numbers.
    private var short: UInt64 {
        if count >= 4 {
            let (first, last) = (
                loadUnaligned(as: UInt32.self), loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            )
            return UInt64(first) << 32 | UInt64(last)
        }
        return count == 0 ? 0 : UInt64(self[0]) << 16 | UInt64(self[count / 2]) << 8 | UInt64(self[count &- 1])
    }

    // Not by slicing, which checks the bounds twice.
    @inline(__always)
    func part(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
        assert(Int(start) + Int(count) <= self.count)
        return UnsafeRawBufferPointer(start: baseAddress.map { $0 + Int(start) }, count: Int(count))
    }

    /// Returns a part that is in these bytes or, if it begins after their end, in those that follow them.
    @inline(__always)
    func part(_ start: UInt32, _ count: UInt32, before rest: UnsafeRawBufferPointer?)
        -> UnsafeRawBufferPointer
    {
        guard let rest, Int(start) >= self.count else { return part(start, count) }
        return rest.part(start &- UInt32(truncatingIfNeeded: self.count), count)
    }
}

extension String {
    /// The same name in ASCII, if its only other characters are canonically equivalent to ASCII ones; otherwise nil, also for
    /// ASCII names.
    var inASCII: String? {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var ascii = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\u{0}"..."\u{7F}": ascii.append(scalar)
            case "\u{037E}": ascii.append(";")
            case "\u{1FEF}": ascii.append("`")
            case "\u{212A}": ascii.append("K")
            default: return nil
            }
        }
        return String(ascii)
    }
}
