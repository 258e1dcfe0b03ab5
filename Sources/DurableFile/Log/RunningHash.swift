/// A 64-bit hash of a growing sequence of bytes, the same however the bytes come in pieces.
///
/// It tells a changed file from an unchanged one; it is no defence against somebody who looks for a collision.
struct RunningHash: Equatable, Sendable {
    private(set) var value: UInt64 = 0

    // A polynomial in an odd constant (2^64 over the golden ratio), by Horner's rule; eight bytes a round do not wait for
    // each other's multiplications.
    private static let base: UInt64 = 0x9e37_79b9_7f4a_7c15
    private static let powers: [UInt64] = (0...8).map { count in
        (0..<count).reduce(UInt64(1)) { power, _ in power &* base }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let (p1, p2, p3, p4) = (Self.powers[1], Self.powers[2], Self.powers[3], Self.powers[4])
        let (p5, p6, p7, p8) = (Self.powers[5], Self.powers[6], Self.powers[7], Self.powers[8])
        var hash = value
        var index = 0
        // One more than the byte, so that leading zero bytes count.
        func term(_ offset: Int) -> UInt64 { UInt64(bytes[index &+ offset]) &+ 1 }
        while bytes.count &- index >= 8 {
            let high = hash &* p8 &+ term(0) &* p7 &+ term(1) &* p6 &+ term(2) &* p5
            let low = term(3) &* p4 &+ term(4) &* p3 &+ term(5) &* p2 &+ term(6) &* p1 &+ term(7)
            hash = high &+ low
            index &+= 8
        }
        while index < bytes.count {
            hash = hash &* p1 &+ term(0)
            index &+= 1
        }
        value = hash
    }
}
