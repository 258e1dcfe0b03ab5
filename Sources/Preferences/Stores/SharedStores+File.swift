#if !canImport(Darwin)
extension SharedStore {
    /// Where the store keeps its values: the user's file, under what an administrator imposes and over the system's
    /// defaults.
    func makeSource() -> any StoreSource {
        LayeredSource {
            do throws(PreferencesError) {
                let location = try location()
                let managed = PreferenceStore(file: location.managedPath, role: .managed)
                let user = FileStores.store(at: location.userPath, isFallingBack: true)
                return [managed, user] + location.systemPaths.map { PreferenceStore(file: $0, role: .system) }
            } catch {
                return [PreferenceStore(source: BackendSource { _ in FallbackBackend(because: error) })]
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
#endif
