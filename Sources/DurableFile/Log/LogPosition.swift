/// How far a file has been read, and what is needed to tell later whether it is still the same file.
struct LogPosition: Sendable {
    /// The file; nil where there is none at the path.
    var identity: FileIdentity?
    /// Behind the last newline that was read.
    var offset: Int64 = 0
    /// The size that was seen; beyond `offset` where the last line has no newline.
    var end: Int64 = 0
    /// How many lines lie before `offset`.
    var lines = 0
    /// How many of them could not be read.
    var damaged = 0
    /// Of all bytes before `offset`.
    var hash = RunningHash()
    /// The last bytes before `offset`, at least `recentCount` of them where there are so many.
    var recent: [UInt8] = []

    /// How much of a large file is compared with what was read.
    static let recentCount = 4096
    /// Up to which size the whole file is compared.
    static let largeSize: Int64 = 1 << 20

    /// What a file has become since it was read.
    enum Change: Equatable {
        case unchanged, appended, replaced, removed
    }

    /// Judges by what `stat` of the path tells; nil for nothing there.
    func change(to status: (identity: FileIdentity, size: Int64)?) -> Change {
        guard let status else { return identity == nil ? .unchanged : .removed }
        guard status.identity == identity else { return .replaced }
        // Without its newline the last line may have been cut off and begun anew, to the same size.
        if status.size == end { return end == offset ? .unchanged : .appended }
        return status.size >= offset ? .appended : .replaced
    }

    /// How many of the last bytes are known.
    var recentCount: Int { min(recent.count, Self.recentCount) }

    /// Whether bytes are those of `recent` that stand at an offset.
    func hasRecent(_ bytes: UnsafeRawBufferPointer, at start: Int64) -> Bool {
        recent.withUnsafeBytes { recent in
            let known = recent.suffix(Int(offset - start)).prefix(bytes.count)
            return bytes.isEqual(to: UnsafeRawBufferPointer(rebasing: known))
        }
    }

    /// Takes in complete lines, or the first bytes of one that is skipped.
    mutating func advance(over bytes: UnsafeRawBufferPointer, lines count: Int) {
        offset += Int64(bytes.count)
        end = max(end, offset)
        lines += count
        hash.add(bytes)
        recent.append(contentsOf: bytes.suffix(Self.recentCount))
        // Cut only now and then, as it moves bytes.
        if recent.count > 2 * Self.recentCount { recent.removeFirst(recent.count - Self.recentCount) }
    }
}

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

extension UnsafeRawBufferPointer {
    /// By memcmp, where `elementsEqual` goes byte by byte.
    fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let bytes = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return memcmp(bytes, others, count) == 0
    }
}
