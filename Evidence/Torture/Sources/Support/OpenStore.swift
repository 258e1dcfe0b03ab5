#if canImport(Glibc) && DEBUG
@testable import Preferences

/// A store on a file as a program has it, and the problems that it reported.
struct OpenStore {
    let store: PreferenceStore
    private let path: String
    private let reports = Reports()

    private final class Reports: Sendable {
        let errors = Lock<[PreferenceError]>([])
    }

    /// Creates a store and loads it at once, so that the file isn't read later than requested.
    init(_ path: String, watcher: Watcher? = nil) {
        self.path = path
        let backend = FileBackend(path, .system, Process.current, watcher: watcher)
        store = PreferenceStore(Layer(source: Source(backend)))
        store.issueHandler = { [reports] error in reports.errors.withLock { $0.append(error) } }
        _ = store.names
    }

    var damages: Int { errors.count { $0.code == .damaged } }

    /// The reported problems except damaged lines.
    var problems: [PreferenceError] { errors.filter { $0.code != .damaged } }

    private var errors: [PreferenceError] { reports.errors.withLock { $0 } }

    func set(_ value: PropertyListValue, for name: String) throws { try store.write(value, for: name) }

    /// Compacts the file as another process does; returns false if that isn't possible at the moment.
    @discardableResult
    func compact() throws -> Bool {
        let log = Log(path)
        _ = try log.look()
        let old = log.opened
        do { try log.compact(until: .period(.seconds(5))) { _ in } } catch is LockedTooLong {}
        return log.opened?.inode != old?.inode
    }
}
#endif
