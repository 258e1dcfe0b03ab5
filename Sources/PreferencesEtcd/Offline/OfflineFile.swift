internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A preferences file, of which each step is one write, so that a kill leaves all of it or nothing.
final class OfflineFile: Sendable {
    let path: String
    private let source: Source
    private let store: PreferenceStore
    /// The errors to report, which can occur while a lock is held.
    private let problems = Lock<[PreferenceError]>([])

    init(path: String) throws(PreferenceError) {
        self.path = path
        source = Source(file: path)
        store = PreferenceStore(Layer(source: source))
        // What matters is thrown, or read by `load`: in a call of the backend, the handler would be called after that.
        store.issueHandler = { _ in }
    }

    /// Returns the values in the file; lines that can't be read are `damaged` problems.
    func load() throws(PreferenceError) -> [String: PropertyListValue] {
        try store.load()
        do { try source.currentProblems().forEach(note) } catch { throw PreferenceError(.unavailable, from: error) }
        return store.contents
    }

    func write(_ changes: [String: PropertyListValue?]) throws(PreferenceError) {
        try write { transaction in for (name, value) in changes { transaction[name] = value } }
    }

    /// Writes a value; returns false, and writes nothing, if the name has one.
    func writeFirst(_ value: PropertyListValue, for name: String) throws(PreferenceError) -> Bool {
        try write { transaction in
            guard transaction[name] == nil else { return false }
            transaction[name] = value
            return true
        }
    }

    private func write<Result>(
        _ body: (inout PreferenceTransaction) -> Result
    ) throws(PreferenceError) -> Result {
        do { return try store.transaction { body(&$0) } } catch { throw PreferenceError(.unavailable, from: error) }
    }

    /// Removes the file, with the lines that can't be read; the next write makes another one.
    func remove() {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            note(PreferenceError(.unavailable, "the damaged cache can't be removed", cause: error))
        }
    }

    /// Removes and returns the errors to report.
    func drainProblems() -> [PreferenceError] {
        problems.withLock { exchange(&$0, with: []) }
    }

    private func note(_ problem: PreferenceError) {
        problems.withLock { $0.append(problem) }
    }

    /// Locks the file with `.lock` appended, which isn't the file itself, as that is replaced.
    ///
    /// - Returns: The lock, which ends with its release; `nil` if another store or process has it.
    static func lock(_ path: String) throws -> FileLock? { try FileLock(path: "\(path).lock") }
}
