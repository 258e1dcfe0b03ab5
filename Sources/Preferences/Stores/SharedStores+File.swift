#if !canImport(Darwin)
extension SharedStore {
    /// The store over the user's file, under what an administrator imposes and over the system's defaults.
    func makeStore(standIn: StandIn?) -> PreferenceStore {
        PreferenceStore(standIn: standIn) {
            do throws(PreferencesError) {
                let location = try location()
                let user = FileStores.store(at: location.userPath, isRecovering: true)
                return [.managed(file: location.managedPath)] + user.asLayers
                    + location.systemPaths.map { .system(file: $0) }
            } catch {
                let source = Source(NoBackend(because: error))
                source.recover()
                return [Layer(source: source)]
            }
        }
    }

    /// Every name that a folder can have can be a suite's.
    static func checkSuite(_ name: String) throws(PreferencesError) {}

    func location() throws(PreferencesError) -> SuiteLocation {
        switch self {
        case .standard: try SuiteLocation(ApplicationIdentifier.fix())
        case .suite(let name): try SuiteLocation(name)
        }
    }
}

extension Layer {
    static func managed(file: String) -> Layer { .managed(Source(FileBackend(path: file, isReadOnly: true))) }
    static func system(file: String) -> Layer { .system(Source(FileBackend(path: file, isReadOnly: true))) }
}

/// What stands for a file whose path can't be told.
private struct NoBackend: PreferenceBackend {
    let error: PreferencesError

    init(because error: PreferencesError) { self.error = error }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] { throw error }
    func refresh() throws(PreferencesError) -> [String: PropertyListValue?] { throw error }
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit { throw error }
    func flush() throws(PreferencesError) { throw error }
}
#endif
