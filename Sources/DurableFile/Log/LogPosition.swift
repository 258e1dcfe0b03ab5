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
