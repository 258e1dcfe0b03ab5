#if canImport(Glibc)
import DurableFile
import Preferences

/// A store on a file as a program has it, what it compacts with, and what it reported.
struct OpenStore {
    let store: PreferenceStore
    let backend: FileBackend
    private let reports = Reports()

    private final class Reports: Sendable {
        let errors = Lock<[PreferencesError]>([])
    }

    /// `load` comes first, so that nothing is read later than asked.
    init(_ path: String, watcher: Watcher? = .shared) {
        backend = FileBackend(path: path, watcher: watcher)
        store = PreferenceStore(backend: backend)
        store.issueHandler = { [reports] error in reports.errors.withLock { $0.append(error) } }
        _ = store.names
    }

    var damages: Int { errors.count { $0.code == .damaged } }

    /// What was reported but for damaged lines.
    var problems: [PreferencesError] { errors.filter { $0.code != .damaged } }

    private var errors: [PreferencesError] { reports.errors.withLock { $0 } }

    func set(_ value: PropertyListValue, for name: String) throws {
        try store.transaction { $0[name] = value }
    }

    /// Compacts unless others keep it from that just now.
    func compact() throws {
        do { try backend.compact() } catch {
            if error.code != .busy { throw error }
        }
    }
}
#endif
