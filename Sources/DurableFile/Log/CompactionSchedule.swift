/// When a file is worth compacting, decided without counting dead lines: the size alone says when to look again.
struct CompactionSchedule: Sendable {
    /// Less than this is never worth a new file.
    static let smallestWaste: Int64 = 64 << 10
    private var nextSize = smallestWaste
    private var failure: (identity: FileIdentity?, size: Int64)?

    /// Whether the live lines have to be counted.
    func mustLook(at position: LogPosition) -> Bool {
        if let failure, failure.identity == position.identity, position.offset < failure.size + Self.smallestWaste {
            return false
        }
        return position.damaged > 0 || position.offset >= nextSize
    }

    /// Whether a file is to be compacted whose live lines take that many bytes.
    mutating func isDue(_ position: LogPosition, live: Int) -> Bool {
        let live = Int64(live)
        let dead = position.offset - live
        if position.damaged > 0 || (dead > live && dead >= Self.smallestWaste) { return true }
        nextSize = max(2 * live + 1, live + Self.smallestWaste)
        return false
    }

    mutating func noteSuccess(live: Int) {
        failure = nil
        nextSize = max(2 * Int64(live) + 1, Int64(live) + Self.smallestWaste)
    }

    /// What failed once is tried again only when the file has grown, or is another.
    mutating func noteFailure(_ position: LogPosition) {
        failure = (position.identity, position.offset)
    }
}
