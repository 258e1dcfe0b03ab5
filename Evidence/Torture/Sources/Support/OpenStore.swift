#if canImport(Glibc)
import Preferences

/// A store on a file as a program has it, its backend for compactions, and the problems that it reported.
struct OpenStore {
    let store: PreferenceStore
    let backend: FileBackend
    private let reports = Reports()

    private final class Reports: Sendable {
        let errors = Lock<[PreferenceError]>([])
    }

    /// Creates a store and loads it at once, so that the file isn't read later than requested.
    init(_ path: String, watcher: Watcher? = .shared) {
        backend = FileBackend(path: path, watcher: watcher)
        store = PreferenceStore(backend: backend)
        store.issueHandler = { [reports] error in reports.errors.withLock { $0.append(error) } }
        _ = store.names
    }

    var damages: Int { errors.count { $0.code == .damaged } }

    /// The reported problems except damaged lines.
    var problems: [PreferenceError] { errors.filter { $0.code != .damaged } }

    private var errors: [PreferenceError] { reports.errors.withLock { $0 } }

    func set(_ value: PropertyListValue, for name: String) throws {
        try store.transaction { $0[name] = value }
    }

    /// Compacts, unless other processes prevent that at the moment.
    func compact() throws {
        do { try backend.compact() } catch {
            if error.code != .busy { throw error }
        }
    }
}
#endif
