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
    /// The last bytes before `offset`.
    private var recent = RecentBytes()

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
    var recentCount: Int { recent.count }

    /// Whether bytes that stand at an offset are those that are known.
    func hasRecent(_ bytes: UnsafeRawBufferPointer, at start: Int64) -> Bool {
        recent.contains(bytes, before: Int(offset - start))
    }

    /// Takes in complete lines, or the first bytes of one that is skipped.
    mutating func advance(over bytes: UnsafeRawBufferPointer, lines count: Int) {
        offset += Int64(bytes.count)
        end = max(end, offset)
        lines += count
        hash.add(bytes)
        recent.append(bytes)
    }
}

/// The last bytes of a growing sequence.
struct RecentBytes: Sendable {
    /// How many are kept: so much of a large file is compared with what was read.
    static let limit = 4096
    // Twice as many, so that they are moved to the beginning only now and then.
    private var memory: [UInt8] = []
    private var end = 0

    var count: Int { min(end, Self.limit) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if memory.isEmpty { memory = Array(repeating: 0, count: 2 * Self.limit) }
        let new = UnsafeRawBufferPointer(rebasing: bytes.suffix(Self.limit))
        let kept = end + new.count > memory.count ? min(end, Self.limit) : end
        memory.withUnsafeMutableBytes { memory in
            if kept < end {
                memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[end - kept..<end]))
            }
            UnsafeMutableRawBufferPointer(rebasing: memory[kept...]).copyMemory(from: new)
        }
        end = kept + new.count
    }

    /// Whether bytes are those that stand so far before the end.
    func contains(_ bytes: UnsafeRawBufferPointer, before distance: Int) -> Bool {
        guard distance <= end, bytes.count <= distance else { return false }
        return memory.withUnsafeBytes { memory in
            bytes.isEqual(to: UnsafeRawBufferPointer(rebasing: memory[end - distance..<end - distance + bytes.count]))
        }
    }
}

/// A hash of a growing sequence of bytes, the same however the bytes come in pieces.
///
/// It tells a changed file from an unchanged one; it is no defence against somebody who looks for a collision.
struct RunningHash: Equatable, Sendable {
    // Of the whole blocks of 32 bytes, each word of a block in a lane of its own, as one product would wait for the one before.
    // Not zero, so that zero bytes at the beginning count.
    private var lanes = SIMD4<UInt64>(repeating: 0x9e37_79b9_7f4a_7c15)
    /// The bytes behind them, and zeros.
    private var rest = SIMD4<UInt64>.zero
    private var restCount = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        if restCount > 0 {
            index = min(Self.blockSize &- restCount, bytes.count)
            addToRest(UnsafeRawBufferPointer(rebasing: bytes[..<index]))
            if restCount < Self.blockSize { return }
            lanes = Self.mixed(lanes, rest)
            (rest, restCount) = (.zero, 0)
        }
        var lanes = lanes
        while bytes.count &- index >= Self.blockSize {
            lanes = Self.mixed(lanes, bytes.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self))
            index &+= Self.blockSize
        }
        self.lanes = lanes
        addToRest(UnsafeRawBufferPointer(rebasing: bytes[index...]))
    }

    private static var blockSize: Int { 32 }

    private mutating func addToRest(_ bytes: UnsafeRawBufferPointer) {
        let start = restCount
        withUnsafeMutableBytes(of: &rest) { rest in
            UnsafeMutableRawBufferPointer(rebasing: rest[start...]).copyMemory(from: bytes)
        }
        restCount &+= bytes.count
    }

    @inline(__always)
    private static func mixed(_ lanes: SIMD4<UInt64>, _ block: SIMD4<UInt64>) -> SIMD4<UInt64> {
        SIMD4(
            mixed(lanes[0], block[0]),
            mixed(lanes[1], block[1]),
            mixed(lanes[2], block[2]),
            mixed(lanes[3], block[3])
        )
    }

    // Each step can be undone, so two sequences that differ in one word stay different. The high bits of the product,
    // which depend on most, come down to where the next product spreads them.
    @inline(__always)
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
