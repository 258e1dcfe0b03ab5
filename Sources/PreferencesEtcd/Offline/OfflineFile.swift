internal import DurableFile
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A file in the file store's format, of which each step is one line, so that a kill leaves all of it or nothing.
final class OfflineFile: Sendable {
    let path: String
    private let file: FileBackend
    /// The errors to report, which can occur while a lock is held.
    private let problems = Lock<[PreferenceError]>([])

    init(path: String) throws(PreferenceError) {
        self.path = path
        file = try FileBackend(at: URL(filePath: path), isWatched: false)
    }

    /// Returns the values in the file; lines that can't be read are `damaged` problems.
    func load() throws(PreferenceError) -> [String: PropertyListValue] {
        let host = PreferenceBackendHost(changed: { _ in }) { [weak self] in self?.note($0) }
        return try file.load(host: host)
    }

    /// Writes changes; returns false, and writes nothing, if the condition isn't true of the file.
    @discardableResult
    func write(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition = .none
    ) throws(PreferenceError) -> Bool {
        try file.apply(changes, if: condition).isStored
    }

    /// Moves the lines that can't be read to a file beside this one.
    func compact() throws(PreferenceError) { try file.compact() }

    /// Removes and returns the errors to report.
    func drainProblems() -> [PreferenceError] {
        problems.withLock { exchange(&$0, with: []) }
    }

    func note(_ problem: PreferenceError) {
        problems.withLock { $0.append(problem) }
    }

    /// Locks the file with `.lock` appended, which isn't the file itself, as appends lock that and compactions replace it.
    ///
    /// - Returns: The lock, which ends with its release; `nil` if another store or process has it.
    static func lock(_ path: String) throws -> OpenFile? {
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let fileSystem = SystemFileSystem()
        let lock = try fileSystem.open("\(path).lock", for: .creating)
        return try fileSystem.lock(lock) ? lock : nil
    }
}
