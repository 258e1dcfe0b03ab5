/// When a file that something happened to has come to rest, so that it is not compared half written.
struct QuietTimer: Sendable {
    private(set) var due: Duration?
    private var isWhole = false
    private var first: Duration?

    /// How long nothing may happen to a file, and to one that is missing or empty, as in the middle of a save in place.
    static let quiet = Duration.milliseconds(10)
    static let blankQuiet = Duration.milliseconds(100)
    /// How long a file that is never at rest can keep its changes to itself.
    static let longest = Duration.milliseconds(100)

    /// Notes an event; `isWhole` where all of a large file is to be compared.
    mutating func note(at now: Duration, isBlank: Bool, isWhole: Bool) {
        let first = self.first ?? now
        self.first = first
        due = isBlank ? now + Self.blankQuiet : min(now + Self.quiet, max(now, first + Self.longest))
        self.isWhole = self.isWhole || isWhole
    }

    /// Whether all is to be compared, once when the file has come to rest; else nil.
    mutating func take(at now: Duration) -> Bool? {
        guard let due, due <= now else { return nil }
        defer { self = QuietTimer() }
        return isWhole
    }
}
