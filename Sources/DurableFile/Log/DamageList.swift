/// The lines that could not be read, each reported once however often its file is read again.
struct DamageList: Sendable {
    private var known: Set<Int> = []
    private var unreported: [LogDamage] = []
    /// The byte range of each of them, newline included; nil unless asked for.
    private(set) var ranges: [Range<Int64>]?

    init(ranges: [Range<Int64>]? = nil) { self.ranges = ranges }

    mutating func note(_ line: UnsafeRawBufferPointer, _ range: Range<Int64>, _ damage: LogDamage) {
        var hasher = Hasher()
        hasher.combine(bytes: line)
        if known.insert(hasher.finalize()).inserted { unreported.append(damage) }
        ranges?.append(range)
    }

    var isUnreported: Bool { !unreported.isEmpty }

    mutating func takeUnreported() -> [LogDamage] {
        defer { unreported = [] }
        return unreported
    }
}
