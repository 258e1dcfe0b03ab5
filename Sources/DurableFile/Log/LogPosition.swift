/// The point up to which a file has been read, and what it takes to recognize later whether the bytes before it are the
/// same.
struct LogPosition: Sendable {
    /// The identity of the file; nil if no file was at the path.
    var identity: FileIdentity?
    /// The offset after the last newline that was read.
    var offset: Int64 = 0
    /// The size of the file when it was read; beyond `offset` if the last line has no newline.
    var end: Int64 = 0
    /// The number of lines before `offset`.
    var lines = 0
    /// The number of these lines that couldn't be read.
    var damaged = 0
    /// Whether one of the lines could be read.
    var hasEntry = false
    /// Whether one of the lines is none that a log has, also not the part of one that a loss of power leaves.
    var hasForeignLine = false
    /// The hash of all bytes before `offset`.
    var hash = RunningHash()
    /// The last bytes before `offset`.
    private var recent = RecentBytes()

    /// The size up to which a file is always compared as a whole.
    static let largeSize: Int64 = 1 << 20

    /// How a file differs from what was read of it.
    enum Change: Equatable {
        case unchanged, appended, replaced, removed
    }

    /// Returns how the file differs, judged by what `stat` returns for the path; nil if nothing is there.
    func change(to status: (identity: FileIdentity, size: Int64)?) -> Change {
        guard let status else { return identity == nil ? .unchanged : .removed }
        guard status.identity == identity else { return .replaced }
        // A last line without a newline might have been cut off and written again with the same length.
        if status.size == end { return end == offset ? .unchanged : .appended }
        return status.size >= offset ? .appended : .replaced
    }

    /// Whether the file seems to be of another kind: it has lines, and none is an entry.
    var isForeign: Bool { hasForeignLine && !hasEntry }

    /// The number of last bytes that are kept.
    var recentCount: Int { recent.count }

    /// Whether the bytes of a file at an offset equal those that are kept.
    func hasRecent(_ bytes: UnsafeRawBufferPointer, at start: Int64) -> Bool {
        recent.contains(bytes, before: Int(offset - start))
    }

    /// Moves past complete lines, or past the first bytes of one that is skipped.
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
    /// The number of bytes that are kept, and compared in a large file.
    static let limit = 4096
    // Twice the limit, so that the bytes are rarely moved to the beginning.
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

    /// Whether the bytes equal those that begin `distance` before the end.
    func contains(_ bytes: UnsafeRawBufferPointer, before distance: Int) -> Bool {
        guard distance <= end, bytes.count <= distance else { return false }
        return memory.withUnsafeBytes { memory in
            bytes.isEqual(to: UnsafeRawBufferPointer(rebasing: memory[end - distance..<end - distance + bytes.count]))
        }
    }
}

/// A hash of a growing sequence of bytes, the same however the bytes are divided into pieces.
///
/// It detects a changed file; it is no defence against a deliberate collision.
struct RunningHash: Equatable, Sendable {
    // The state after all whole blocks of 32 bytes. Each word of a block has a lane, as a single product would have to
    // wait for the one before. The first state isn't zero, so that zero bytes at the beginning count.
    private var lanes = SIMD4<UInt64>(repeating: 0x9e37_79b9_7f4a_7c15)
    /// The bytes after the whole blocks, then zeros.
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

    // Each step is reversible, so two sequences that differ in one word stay different. The high bits of the product,
    // which depend on the most bits, are moved down to where the next product spreads them.
    @inline(__always)
    private static func mixed(_ value: UInt64, _ word: UInt64) -> UInt64 {
        let product = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
        return product ^ product >> 32
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are equal. Calls memcmp, as `elementsEqual` compares byte by byte.
    fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let bytes = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return memcmp(bytes, others, count) == 0
    }
}
