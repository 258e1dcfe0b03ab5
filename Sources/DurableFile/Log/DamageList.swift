/// The lines that could not be read, each told once however often its file is read again.
struct DamageList: Sendable {
    private var known: Set<Int> = []
    private var untold: [LogDamage] = []

    mutating func note(_ line: UnsafeRawBufferPointer, _ damage: LogDamage) {
        var hasher = Hasher()
        hasher.combine(bytes: line)
        if known.insert(hasher.finalize()).inserted { untold.append(damage) }
    }

    mutating func takeUntold() -> [LogDamage] {
        defer { untold = [] }
        return untold
    }
}
