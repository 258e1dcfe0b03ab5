import TestSupport
import Testing

@testable import Preferences

extension PreferenceSourceTests {
    /// User defaults do so for the values of a configuration profile.
    @Test
    func nameThatTheBackendReportsAsManagedIs() {
        let store = PreferenceStore(backend: ProfileBackend())
        let volume = Preference("volume", default: 0, in: store)
        #expect(volume.source.isManaged && volume.source.name == "managed" && volume.isManaged)
        let other = Preference("other", default: 0, in: store)
        #expect(other.source == .store && !other.isManaged)
    }

    struct ProfileBackend: PreferenceBackend {
        func load(host: PreferenceBackendHost) -> [String: PropertyListValue] { ["volume": 1, "other": 1] }
        func apply(
            _ changes: [String: PropertyListValue?],
            if condition: PreferenceCondition
        ) -> PreferenceBackendCommit { PreferenceBackendCommit(isStored: true) }
        func sync() {}
        func isManaged(_ name: String) -> Bool { name == "volume" }
    }
}
