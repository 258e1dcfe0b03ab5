/// A copy of a log's contents that is to become its new file, with one entry per line.
///
/// It is written and synced without a lock; `LogCore.install` puts it in the place of the old file.
struct Compaction: Sendable {
    let contents: any LogContents
    /// The part of the old file that the contents cover.
    let source: LogPosition
    let old: OpenFile
    /// The file that the path resolves to through all links, whose name the new file takes.
    let target: LogPath
    let fileSystem: any FileSystem
    /// Whether the user of the log has asked for it.
    var isRequested = false

    /// The new file under a temporary name, and the position at its end.
    struct Draft: Sendable {
        let file: OpenFile
        var position: LogPosition
    }

    /// Whether a new file can take the place of the old one without separating it from its other names.
    func isReplacing() throws(LogError) -> Bool {
        do { return try !fileSystem.hasOtherNames(target.path) } catch {
            // It has just been removed, which is seen under the lock.
            if error.code == .noEntry { return true }
            throw .failed(error)
        }
    }

    /// Writes and syncs the new file.
    func draft(_ lines: [UInt8]? = nil) throws(LogError) -> Draft {
        let lines = if let lines { lines } else { try self.lines() }
        return try make(at: target.sibling(target.draftName())) { file throws(FileSystemError) in
            // Until its process ends: the draft of a dead one is free. One that was taken for such a draft at this moment is made again.
            _ = try fileSystem.lock(file)
            try fileSystem.writeAll(lines, to: file)
            try fileSystem.sync(file)
            var position = LogPosition()
            position.identity = try fileSystem.status(file).identity
            lines.withUnsafeBytes { position.advance(over: $0, lines: $0.count { $0 == 10 }) }
            position.hasEntry = !lines.isEmpty
            return Draft(file: file, position: position)
        }
    }

    /// Returns the lines that the new file begins with.
    func lines() throws(LogError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            // If another program saves the file in place by then, the new file isn't used.
            let reader = LogReader(file: old, fileSystem: fileSystem, longestLine: .max)
            try reader.copy(from: 0, to: source.offset) { piece, _ throws(FileSystemError) in bytes += piece }
        } catch { throw .failed(error) }
        do {
            return try bytes.withUnsafeBytes { try contents.lines(inPlaceOf: $0, isRequested: isRequested) }
        } catch { throw .refused(path: target.path, line: 0, reason: "\(error)") }
    }

    /// Copies the lines that can't be read to another file before they are left out, and returns its path.
    func keepDamaged(_ reader: LogReader) throws(LogError) -> String {
        let ranges = try reader.damagedRanges(before: source.offset, contents.empty())
        var number = try (copies().last?.number ?? 0) + 1
        while true {
            let path = target.sibling(target.damagedName(number))
            do {
                return try make(at: path) { file throws(FileSystemError) in
                    for range in ranges {
                        try reader.copy(from: range.lowerBound, to: range.upperBound) {
                            bytes,
                            _ throws(FileSystemError) in
                            try fileSystem.writeAll(bytes, to: file)
                        }
                    }
                    try fileSystem.sync(file)
                    try fileSystem.syncFolder(target.folder)
                    return path
                }
            } catch {
                guard case .failed(let cause) = error, cause.code == .exists else { throw error }
                number += 1
            }
        }
    }

    /// The number of copies of damaged lines that are kept.
    static let mostCopies = 10

    /// Returns the copies of damaged lines in the file's folder, the oldest first.
    private func copies() throws(LogError) -> [(number: Int, name: String)] {
        do {
            let names = try fileSystem.names(inFolder: target.folder)
            return names.compactMap { name in target.damagedNumber(name).map { ($0, name) } }.sorted { $0.0 < $1.0 }
        } catch { throw .failed(error) }
    }

    /// Removes the oldest copies of damaged lines beyond those that are kept.
    func removeOldCopies() {
        do {
            for copy in try copies().dropLast(Self.mostCopies) { fileSystem.discard(target.sibling(copy.name)) }
        } catch {
            // They stay until the next copy.
        }
    }

    /// Creates a file with the owner, mode and attributes of the old one, and removes it again if anything fails.
    private func make<Result>(
        at path: String,
        _ body: (OpenFile) throws(FileSystemError) -> Result
    ) throws(LogError) -> Result {
        var isMade = false
        do throws(FileSystemError) {
            let file = try fileSystem.open(path, for: .replacing)
            isMade = true
            let (before, status) = (try fileSystem.status(old), try fileSystem.status(file))
            // A file that root compacts must stay its user's, and a file that a group can read must stay so.
            if (status.owner, status.group) != (before.owner, before.group) {
                try fileSystem.setOwner(file, before.owner, before.group)
            }
            // Before the mode: with an access control list, the mode's group bits are the most that the list can grant
            // (acl(5)).
            try fileSystem.copyAttributes(from: old, to: file)
            if status.mode != before.mode { try fileSystem.setMode(file, before.mode) }
            return try body(file)
        } catch {
            if isMade { fileSystem.discard(path) }
            throw .failed(error)
        }
    }
}

extension LogPath {
    /// Returns a name for a new file that no other process uses.
    func draftName() -> String { ".\(name)." + String(UInt64.random(in: 0 ... .max), radix: 36) + ".new" }

    /// Whether a name has the form of those that `draftName` returns.
    func isDraftName(_ other: String) -> Bool { other.hasPrefix(".\(name).") && other.hasSuffix(".new") }

    /// Returns a name such as `preferences.damaged-1.jsonl`.
    func damagedName(_ number: Int) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name).damaged-\(number)" }
        return "\(name[..<dot]).damaged-\(number)\(name[dot...])"
    }
}

extension LogPath {
    /// Returns the number of a name that `damagedName` returns; nil for another name.
    func damagedNumber(_ other: String) -> Int? {
        let digits = other.split { !("0"..."9").contains($0) }
        // Larger numbers aren't from here, and the next one might not exist.
        return digits.lazy.compactMap { Int32($0) }.map { Int($0) }.first { $0 > 0 && damagedName($0) == other }
    }
}

/// The rule for when a file is worth compacting. Dead lines aren't counted: the file's size alone decides when the live
/// lines are counted again.
struct CompactionSchedule: Sendable {
    /// The least number of dead bytes that is worth a new file.
    static let smallestWaste: Int64 = 64 << 10
    private var nextSize = smallestWaste
    /// The largest growth after which a failed compaction is tried again.
    private static let longestGrowth = smallestWaste << 4
    private var failure: (identity: FileIdentity?, size: Int64, growth: Int64, isReported: Bool)?
    /// Whether the drafts of dead processes have been removed.
    private var hasRemovedDrafts = false
    /// When the file was tidied last.
    private var tidied: Duration?
    private var tidyingFactor = 1

    /// Whether the live lines have to be counted.
    func mustLook(at compaction: Compaction, _ reason: CompactionReason) -> Bool {
        switch reason {
        case .failedSync, .request: true
        case .untidy: compaction.source.lines > compaction.contents.lineCount
        case .waste: mustLook(at: compaction.source)
        }
    }

    func mustLook(at position: LogPosition) -> Bool {
        if let failure, failure.identity == position.identity, position.offset < failure.size + failure.growth {
            return false
        }
        return position.damaged > 0 || position.offset >= nextSize
    }

    /// Whether to compact a file whose live lines are `lines`.
    mutating func isDue(_ position: LogPosition, _ lines: [UInt8], _ reason: CompactionReason) -> Bool {
        switch reason {
        case .failedSync, .request: true
        case .untidy: position.lines > lines.count { $0 == 10 }
        case .waste: isDue(position, live: lines.count)
        }
    }

    mutating func isDue(_ position: LogPosition, live: Int) -> Bool {
        let live = Int64(live)
        let dead = position.offset - live
        if position.damaged > 0 || (dead > live && dead >= Self.smallestWaste) { return true }
        nextSize = max(2 * live + 1, live + Self.smallestWaste)
        return false
    }

    /// How long a file of some size must not have changed before it is tidied: a second for each `smallestWaste`, and twice as
    /// long as before if it was tidied a short time ago, so that a program that sets something all the time writes little.
    func quiet(_ size: Int64) -> Duration { .seconds(max(1, size / Self.smallestWaste)) * tidyingFactor }

    mutating func noteTidying(at now: Duration) {
        let isOften = tidied.map { now - $0 < .seconds(10) * tidyingFactor } ?? false
        tidyingFactor = isOften ? min(2 * tidyingFactor, 64) : 1
        tidied = now
    }

    mutating func noteSuccess(live: Int) {
        (failure, isFailingAgain) = (nil, false)
        nextSize = max(2 * Int64(live) + 1, Int64(live) + Self.smallestWaste)
    }

    /// Notes a failure: the file isn't compacted before it has grown by `smallestWaste`, or by twice as much as after the failure before,
    /// unless another file has replaced it.
    ///
    /// - Parameter isReported: Whether the failure is reported if it is the first one.
    mutating func noteFailure(_ position: LogPosition, isReported: Bool = true) {
        isFailingAgain = failure?.isReported ?? false
        let growth = failure.map { min(2 * $0.growth, Self.longestGrowth) } ?? Self.smallestWaste
        failure = (position.identity, position.offset, growth, isReported || isFailingAgain)
    }

    /// Whether a failure before the last one was reported, since a compaction succeeded.
    private(set) var isFailingAgain = false

    /// Returns whether drafts are still to be removed, and records that they are.
    mutating func mustRemoveDrafts() -> Bool { !exchange(&hasRemovedDrafts, with: true) }
}
