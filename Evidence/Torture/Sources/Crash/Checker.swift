#if canImport(Glibc) && DEBUG
@testable import Preferences

/// A checker that opens every state that a loss of power might leave, and compares what it reads with what was
/// promised.
struct Checker {
    let path: String
    private(set) var moments = 0
    private(set) var states = 0
    private(set) var distinct = 0
    /// The states that were already checked, by what had been promised; runs of one life have most of them in common.
    private var checked: [Promise: Set<Tree>] = [:]
    private var promise = Promise()
    /// The histories of the moments whose states were checked: runs of one life begin alike.
    private var histories: Set<Int> = []

    private struct Promise: Hashable {
        var issued: [[String: Int]] = []
        var flushed = 0
        var kept: [String] = []
    }

    init(path: String) { self.path = path }

    mutating func check(_ operations: [Operation]) throws {
        promise = Promise()
        var seen = checked.removeValue(forKey: promise) ?? []
        defer { checked[promise] = seen }
        var medium = Medium()
        // `/home` existed before.
        medium.perform(.entries(folder: 1, [.init(name: "home", node: 2)]), isFolder: { _ in true })
        medium.perform(.sync(node: 1), isFolder: { _ in true })
        // A node that was written to or whose data was synced is a file; every other one is a folder.
        let files = Set(operations.compactMap { if case .write(let node, _, _) = $0 { node } else { nil } })
        let folders = Set(operations.compactMap { if case .entries(let folder, _) = $0 { folder } else { nil } })
        var history = Hasher()
        for operation in operations {
            history.combine(operation)
            medium.perform(operation, isFolder: { folders.contains($0) && !files.contains($0) })
            if case .mark(let mark) = operation {
                checked[promise] = seen
                note(mark)
                seen = checked.removeValue(forKey: promise) ?? []
            }
            moments += 1
            guard histories.insert(history.finalize()).inserted else { continue }
            var fresh: [Tree] = []
            medium.forEachState { tree in
                states += 1
                if seen.insert(tree).inserted { fresh.append(tree) }
            }
            distinct += fresh.count
            for tree in fresh { try check(tree) }
        }
    }

    private mutating func note(_ mark: Operation.Mark) {
        switch mark {
        case .issued(let values): promise.issued.append(values)
        case .flushed(let count): promise.flushed = max(promise.flushed, count)
        case .kept(let line): promise.kept.append(line)
        }
    }

    private func check(_ tree: Tree) throws {
        let fileSystem = ModelFileSystem(tree)
        var values = try contents(fileSystem)
        if let problem = problem(values) { throw Obstacle("\(problem) in \(describe(tree))") }
        for line in promise.kept {
            guard tree.files.contains(where: { contains($0, Array(line.utf8)) }) else {
                throw Obstacle("\(line) is lost in \(describe(tree))")
            }
        }
        // A process that continues with the file loses nothing, and its sets are read.
        do { try Log(path, fileSystem).change(until: .now) { _ in Array("{\"after\":1}\n".utf8) } } catch {
            throw Obstacle("\(error) in \(describe(tree))")
        }
        values["after"] = 1
        let after = try contents(fileSystem)
        guard after == values else { throw Obstacle("\(after) after a set to \(values) in \(describe(tree))") }
    }

    private func contents(_ fileSystem: ModelFileSystem) throws -> [String: Int] {
        guard case .contents(_, let changes) = try Log(path, fileSystem).look() else { return [:] }
        let values = Dictionary(changes.map { ($0.name, $0.value) }) { $1 }
        return values.compactMapValues { $0 }.mapValues {
            if case .integer(let number) = $0 { Int(number) } else { -1 }
        }
    }

    private func problem(_ values: [String: Int]) -> String? {
        let (issued, flushed) = (promise.issued, promise.flushed)
        for name in Set(issued.flatMap(\.keys)).union(values.keys) {
            let before = issued[..<flushed].last { $0[name] != nil }?[name]
            let later = issued[flushed...].compactMap { $0[name] }
            if values[name] != before, !later.contains(where: { $0 == values[name] }) {
                return
                    "\(name) is \(values[name].map { "\($0)" } ?? "absent") and not \(before.map { "\($0)" } ?? "absent") "
                    + "or one of \(later)"
            }
        }
        return values["left"] == values["right"] ? nil : "half of a line counts"
    }

    private func contains(_ bytes: [UInt8], _ line: [UInt8]) -> Bool {
        bytes.count >= line.count && (0...(bytes.count - line.count)).contains { bytes[$0...].starts(with: line) }
    }

    private func describe(_ tree: Tree) -> String {
        switch tree {
        case .file(let bytes):
            String(
                decoding: bytes.flatMap { $0 == 0 ? Array("␀".utf8) : $0 == 10 ? Array("⏎".utf8) : [$0] },
                as: UTF8.self
            )
        case .folder(let children): "{" + children.map { "\($0): \(describe($1))" }.joined(separator: ", ") + "}"
        }
    }
}
#endif
