internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The cache: all values of a suite and their position in its history, with which a program starts.
///
/// The position is an entry of the values' file, and each line has changes with the position after them. So a kill at any moment leaves
/// values and a position that belong together; beside the file, one of the two would be newer. One store at a time writes the file.
final class OfflineCopy: Sendable {
    /// The values of the file, and where they are from.
    struct Contents: Sendable {
        var values: [String: PropertyListValue] = [:]
        /// The origin; `nil` in the copy of an earlier version, which has values alone.
        var origin: Origin?
    }

    /// The origin of the values: the suite, the cluster, and the position in its history.
    struct Origin: Hashable, Sendable {
        var prefix: String
        var suite: String
        /// The number of the cluster; `nil` if none has answered yet.
        var cluster: String?
        var endpoints: [String] = []
        /// The position; `nil` if the values are complete at no revision.
        var position: Mirror.Position?
    }

    private struct State {
        var file: OfflineFile
        /// The lock of the file, which the store that writes it has.
        var lock: FileLock?
        /// The names in the file when it was opened, until all values were written.
        var names: Set<String>?
        var origin: Origin?
        var isDamaged = false
        /// The time when the file could not be locked, which is reported once and tried again after `retryInterval`.
        var lastFailure: ContinuousClock.Instant?
    }

    private let place: URL
    private let prefix: String
    private let suite: String
    /// The open file; `nil` before, and if it can't be used.
    private let state = Lock<State?>(nil)
    private let problems = Lock<[PreferenceError]>([])
    private static let retryInterval = Duration.seconds(10)

    /// Creates a cache at a file, or for a folder, in a file of it, for the suite of an origin.
    init(_ place: URL, _ origin: Origin) {
        self.place = place
        prefix = origin.prefix
        suite = origin.suite
    }

    /// Returns the path of the file for a suite: in the folder if the place is one, else the place itself.
    static func path(_ place: URL, prefix: String, suite: String) -> String {
        guard place.hasDirectoryPath || isFolder(place.path) else { return place.path }
        return place.appending(path: fileName(prefix, suite) + ".jsonl").path
    }

    /// Returns the path of the file for a suite if another one has that at the place.
    static func path(beside place: URL, prefix: String, suite: String) -> String {
        let folder = place.deletingLastPathComponent()
        let (name, type) = (place.deletingPathExtension().lastPathComponent, place.pathExtension)
        return folder.appending(path: "\(name).\(fileName(prefix, suite))\(type.isEmpty ? "" : ".\(type)")").path
    }

    /// Whether a folder is at a path, with a form of the question that is the same in Apple's Foundation; a missing file becomes one.
    private static func isFolder(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + "/.") }

    private static func fileName(_ prefix: String, _ suite: String) -> String {
        let name = prefix.isEmpty ? suite : "\(prefix)/\(suite)"
        // "%" is escaped, too, so that no two suites have one name.
        return name.replacing("%", with: "%25").replacing("/", with: "%2F")
    }

    // MARK: Reading

    /// Opens the file and returns what it has; nothing if it is damaged, which `drainProblems` returns then.
    func load() -> Contents {
        state.withLock { state in
            do throws(PreferenceError) {
                let (file, contents, isDamaged) = try open()
                let names = Set(contents.values.keys)
                let lock = state?.file.path == file.path ? state?.lock : nil
                state = State(file: file, lock: lock, names: names, origin: contents.origin, isDamaged: isDamaged)
                return isDamaged ? Contents() : contents
            } catch {
                note(error)
                state = nil
                return Contents()
            }
        }
    }

    /// Opens the file of the suite: the first suite that opens the place has it, each other one a file beside it.
    private func open() throws(PreferenceError) -> (OfflineFile, Contents, isDamaged: Bool) {
        let beside = Self.path(beside: place, prefix: prefix, suite: suite)
        for path in [Self.path(place, prefix: prefix, suite: suite), beside] {
            // Another store may take the file while it is opened without an origin; then it has one.
            for _ in 0..<2 {
                let file = try OfflineFile(path: path)
                var values = try file.load()
                var problems = file.drainProblems()
                var origin: Origin?
                if let entry = values.removeValue(forKey: Mirror.Position.entryName) {
                    origin = Origin(stored: entry)
                    if origin == nil {
                        problems.append(
                            PreferenceError(
                                .damaged,
                                "the entry \(Mirror.Position.entryName) of \(path) is invalid; it is replaced"
                            )
                        )
                    }
                } else if problems.isEmpty {
                    let mine = Origin(prefix: prefix, suite: suite)
                    do throws(PreferenceError) {
                        guard try file.writeFirst(mine.stored, for: Mirror.Position.entryName) else { continue }
                    } catch {
                        // It can be read all the same.
                        note(error)
                    }
                }
                if let origin, origin.prefix != prefix || origin.suite != suite { break }
                for problem in problems {
                    note(problem)
                    note(.damagedCache(path))
                }
                return (file, Contents(values: values, origin: origin), !problems.isEmpty)
            }
        }
        throw PreferenceError(
            .misuse,
            "the cache \(beside) is of another suite; give this configuration another cacheFile"
        )
    }

    // MARK: Writing

    /// Writes the changes that `next` returns together with the position after them; it is called under the file's lock, so that newer
    /// changes are written last.
    ///
    /// - Parameters:
    ///   - isPositionNeeded: Whether a position that is newer is written also without changes.
    ///   - next: Returns the changes, or all values if `isFirst`; `nil` if nothing must be written yet.
    ///   - restore: Gets the changes if they can't be written.
    func update(
        isPositionNeeded: Bool = false,
        _ next: (_ isFirst: Bool) -> (changes: [String: PropertyListValue?], origin: Origin)?,
        restore: ([String: PropertyListValue?]) -> Void
    ) {
        state.withLock { state in
            guard state != nil, lock(&state), let current = state else { return }
            guard let (newest, origin) = next(current.names != nil) else { return }
            var changes = newest
            for name in current.names ?? [] where changes[name] == nil { changes.updateValue(nil, forKey: name) }
            let isNew = isPositionNeeded && origin != current.origin || !origin.continues(current.origin)
            guard !changes.isEmpty || isNew || current.isDamaged else { return }
            do throws(PreferenceError) {
                // All values follow.
                if current.isDamaged { current.file.remove() }
                try current.file.write(changes.merging([Mirror.Position.entryName: origin.stored]) { $1 })
                state = State(file: current.file, lock: current.lock, origin: origin)
            } catch {
                restore(changes.filter { $0.key != Mirror.Position.entryName })
                note(error)
            }
            current.file.drainProblems().forEach(note)
        }
    }

    /// Locks the file if no other store has; returns whether this one has the lock.
    private func lock(_ state: inout State?) -> Bool {
        guard let current = state, current.lock == nil else { return true }
        if let lastFailure = current.lastFailure, .now - lastFailure < Self.retryInterval { return false }
        do {
            guard let lock = try OfflineFile.lock(current.file.path) else { return false }
            // The other store may have written since.
            let file = try OfflineFile(path: current.file.path)
            let names = Set(try file.load().keys).subtracting([Mirror.Position.entryName])
            let isDamaged = current.isDamaged || !file.drainProblems().isEmpty
            state = State(file: file, lock: lock, names: names, origin: current.origin, isDamaged: isDamaged)
            return true
        } catch {
            state?.lastFailure = .now
            if current.lastFailure == nil {
                note(
                    PreferenceError(.unavailable, "the cache can't be written; check who owns its folder", cause: error)
                )
            }
            return false
        }
    }

    /// Removes and returns the errors to report.
    func drainProblems() -> [PreferenceError] {
        problems.withLock { exchange(&$0, with: []) }
    }

    private func note(_ problem: PreferenceError) {
        problems.withLock { $0.append(problem) }
    }
}

extension PreferenceError {
    fileprivate static func damagedCache(_ path: String) -> PreferenceError {
        PreferenceError(
            .damaged,
            "the cache \(path) is damaged and not used; it is written again when the values were read from etcd"
        )
    }
}

extension OfflineCopy.Origin {
    /// Whether the values of the file are usable before any server has answered: a cluster gave them, and may be the configured one.
    func isUsable(for endpoints: [String]) -> Bool {
        cluster != nil && !Set(endpoints).isDisjoint(with: self.endpoints)
    }

    /// Whether the same values as those of an earlier origin needn't be written again.
    fileprivate func continues(_ earlier: Self?) -> Bool {
        guard let earlier, earlier.cluster == cluster, earlier.endpoints == endpoints else {
            return false
        }
        guard let position, let before = earlier.position else { return earlier.position == position }
        return before.revision <= position.revision
    }

    fileprivate var stored: PropertyListValue {
        var entry: [String: PropertyListValue] = ["prefix": .string(prefix), "suite": .string(suite)]
        if let cluster { entry["cluster"] = .string(cluster) }
        if !endpoints.isEmpty { entry["endpoints"] = .array(endpoints.map { .string($0) }) }
        guard let position else { return .dictionary(entry) }
        entry["revision"] = .integer(position.revision)
        if !position.ahead.isEmpty { entry["ahead"] = .dictionary(position.ahead.mapValues { .integer($0) }) }
        if let revision = position.markRevision { entry["markKnownAt"] = .integer(revision) }
        if let mark = position.mark {
            entry["mark"] = .data(mark.value ?? Data())
            entry["markRevision"] = .integer(mark.modRevision.value)
        }
        return .dictionary(entry)
    }

    fileprivate init?(stored: PropertyListValue) {
        guard case .dictionary(let entry) = stored, case .string(let prefix) = entry["prefix"],
            case .string(let suite) = entry["suite"]
        else { return nil }
        self.init(prefix: prefix, suite: suite)
        if case .string(let cluster) = entry["cluster"] { self.cluster = cluster }
        if case .array(let endpoints) = entry["endpoints"] {
            self.endpoints = endpoints.compactMap { if case .string(let endpoint) = $0 { endpoint } else { nil } }
        }
        guard let stored = entry["revision"] else { return }
        guard case .integer(let revision) = stored, revision > 0, let keys = Self.keys(prefix, suite) else {
            return nil
        }
        var position = Mirror.Position(revision: revision)
        if let ahead = entry["ahead"] {
            guard case .dictionary(let ahead) = ahead else { return nil }
            for (name, revision) in ahead {
                guard case .integer(let revision) = revision else { return nil }
                position.ahead[name] = revision
            }
        }
        if case .integer(let known) = entry["markKnownAt"] {
            position.markRevision = known
            if case .data(let mark) = entry["mark"], case .integer(let revision) = entry["markRevision"] {
                position.mark = KeyValue(key: keys.mark, value: mark, modRevision: GatewayInteger(revision))
            }
        }
        self.position = position
    }

    private static func keys(_ prefix: String, _ suite: String) -> KeySpace? {
        do throws(PreferenceError) { return try KeySpace(prefix: prefix, suite: suite) } catch { return nil }
    }
}
