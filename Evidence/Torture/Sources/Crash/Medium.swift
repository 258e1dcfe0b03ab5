#if canImport(Glibc) && DEBUG
/// The state that a medium is known to have at one moment, and the states that it might have.
///
/// The weakest medium that the manual pages allow (as in ALICE, OSDI 2014): each change that wasn't synced might be
/// there or not, in any order; of a write, any part of its beginning, with or without the resulting size (the rest
/// being zeros then); each change of names as a whole. Syncing a file doesn't sync its name.
struct Medium {
    private enum Certainty { case certain, pending, forgotten }

    private struct Write {
        var offset: Int
        /// The bytes; nil for a truncation to the offset.
        var bytes: [UInt8]?
        var certainty = Certainty.pending
    }

    private struct Naming {
        var folder: Int
        var entries: [Operation.Entry]
        var isCertain = false
    }

    private enum Fate {
        case lost, whole
        /// This number of bytes, and then the end or zeros.
        case torn(Int, isExtended: Bool)
    }

    private var writes: [Int: [Write]] = [:]
    private var namings: [Naming] = []
    private var folders: Set<Int> = [1]
    /// The possible contents of each file, until it is changed again.
    private var contents: [Int: Set<[UInt8]>] = [:]

    mutating func perform(_ operation: Operation, isFolder: (Int) -> Bool) {
        switch operation {
        case .write(let node, let offset, let bytes):
            writes[node, default: []].append(Write(offset: offset, bytes: bytes))
            contents[node] = nil
        case .truncate(let node, let size):
            writes[node, default: []].append(Write(offset: size))
            contents[node] = nil
        case .entries(let folder, let entries):
            for node in entries.compactMap(\.node) where isFolder(node) { folders.insert(node) }
            namings.append(Naming(folder: folder, entries: entries))
        case .sync(let node):
            resolve(node, as: .certain)
            for index in namings.indices where namings[index].folder == node { namings[index].isCertain = true }
        case .failedSync(let node):
            // A folder's names stay pending: no promise can rely on them then.
            resolve(node, as: .forgotten)
        case .mark: break
        }
    }

    private mutating func resolve(_ node: Int, as certainty: Certainty) {
        for index in (writes[node] ?? []).indices where writes[node]?[index].certainty == .pending {
            writes[node]?[index].certainty = certainty
        }
        contents[node] = nil
    }

    /// Passes each state to `body`, some of them several times.
    mutating func forEachState(_ body: (Tree) throws -> Void) rethrows {
        for node in writes.keys where contents[node] == nil { contents[node] = possibleContents(of: node) }
        for choice in choices(namings.count { !$0.isCertain }) {
            var names: [Int: [String: Int]] = [:]
            var index = 0
            for naming in namings {
                if !naming.isCertain {
                    index += 1
                    if !choice[index - 1] { continue }
                }
                for entry in naming.entries { names[naming.folder, default: [:]][entry.name] = entry.node }
            }
            let files = reachableFiles(names)
            let uncertain = files.filter { contents[$0]?.count ?? 1 > 1 }
            // If several files are uncertain at the same time, each in turn takes all its contents while the other
            // files take two.
            let isSmall = uncertain.reduce(1) { min($0 * (contents[$1]?.count ?? 1), 1 << 20) } <= 5000
            for full in isSmall ? [nil] : uncertain.map(Optional.some) {
                try combine(uncertain[...], [:], full) { chosen in try body(tree(1, names, chosen)) }
            }
        }
    }

    private func combine(
        _ nodes: ArraySlice<Int>,
        _ chosen: [Int: [UInt8]],
        _ full: Int?,
        _ body: ([Int: [UInt8]]) throws -> Void
    ) rethrows {
        guard let node = nodes.first else { return try body(chosen) }
        var all = Array(contents[node] ?? [])
        if let full, full != node {
            let sorted = all.sorted { $0.count != $1.count ? $0.count < $1.count : $0.lexicographicallyPrecedes($1) }
            all = [sorted[0], sorted[sorted.count - 1]]
        }
        for bytes in all {
            try combine(nodes.dropFirst(), chosen.merging([node: bytes]) { $1 }, full, body)
        }
    }

    private func reachableFiles(_ names: [Int: [String: Int]]) -> [Int] {
        var (files, open): (Set<Int>, [Int]) = ([], [1])
        while let folder = open.popLast() {
            for node in (names[folder] ?? [:]).values {
                if folders.contains(node) { open.append(node) } else { files.insert(node) }
            }
        }
        return files.sorted()
    }

    private func tree(_ folder: Int, _ names: [Int: [String: Int]], _ chosen: [Int: [UInt8]]) -> Tree {
        .folder(
            (names[folder] ?? [:]).mapValues { node in
                folders.contains(node)
                    ? tree(node, names, chosen) : .file(chosen[node] ?? contents[node]?.first ?? [])
            }
        )
    }

    /// Returns the sets of changes that might have happened: all, or of very many changes those with a gap, a beginning
    /// or a single one.
    private func choices(_ count: Int) -> [[Bool]] {
        if count <= 10 {
            return (0..<(1 << count)).map { bits in (0..<count).map { bits >> $0 & 1 == 1 } }
        }
        var choices: [[Bool]] = []
        for end in 0...count {
            choices.append((0..<count).map { index in index < end })
            choices.append((0..<count).map { index in index != end })
            choices.append((0..<count).map { index in index == end })
        }
        return choices
    }

    private func possibleContents(of node: Int) -> Set<[UInt8]> {
        let changes = writes[node] ?? []
        let pending = changes.indices.filter { changes[$0].certainty != .certain }
        var results: Set<[UInt8]> = []
        for choice in choices(pending.count) {
            var fates: [Int: Fate] = [:]
            for (index, isThere) in zip(pending, choice) { fates[index] = isThere ? .whole : .lost }
            results.insert(build(changes, fates))
        }
        for torn in pending {
            guard let bytes = changes[torn].bytes else { continue }
            for (before, after) in [(true, true), (true, false), (false, true), (false, false)] {
                var fates: [Int: Fate] = [:]
                for index in pending { fates[index] = (index < torn ? before : after) ? .whole : .lost }
                for count in 0..<bytes.count {
                    for isExtended in [true, false] {
                        fates[torn] = .torn(count, isExtended: isExtended)
                        results.insert(build(changes, fates))
                    }
                }
            }
        }
        return results
    }

    private func build(_ changes: [Write], _ fates: [Int: Fate]) -> [UInt8] {
        var content: [UInt8] = []
        for (index, change) in changes.enumerated() {
            let fate = fates[index] ?? .whole
            if case .lost = fate { continue }
            guard var bytes = change.bytes else {
                content.removeLast(max(0, content.count - change.offset))
                continue
            }
            if case .torn(let count, let isExtended) = fate {
                let rest = isExtended ? [UInt8](repeating: 0, count: bytes.count - count) : []
                bytes = bytes[..<count] + rest
            }
            let end = change.offset + bytes.count
            if content.count < end { content.append(contentsOf: [UInt8](repeating: 0, count: end - content.count)) }
            content.replaceSubrange(change.offset..<end, with: bytes)
        }
        return content
    }
}
#endif
