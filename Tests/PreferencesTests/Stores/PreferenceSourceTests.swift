import TestSupport
import Testing

@testable import Preferences

struct PreferenceSourceTests {
    func source(_ layers: PreferenceStore...) -> PreferenceSource {
        Preference("volume", default: 0, in: .layered(layers)).source
    }

    private func layer(_ name: String, isManaged: Bool = false) -> PreferenceStore {
        let backend = MemoryBackend(["volume": 1])
        return PreferenceStore(backend: backend, name: name, isReadOnly: true, isManaged: isManaged)
    }

    @Test
    func layerOfAReservedNameIsNotEqualToThatSource() {
        same(source(.inMemory()), .default)
        same(source(.inMemory(["volume": 1])), .store)
        for name in ["default", "store"] {
            let odd = source(layer(name))
            #expect(odd.name == name && odd.description == name)
            #expect(odd != .default && odd != .store)
            same(Set([odd, .default, .store]).count, 3)
        }
        same(source(layer("a")), source(layer("a"), .inMemory()))
        #expect(source(layer("a")) != source(layer("b")))
        #expect(source(layer("a")) != source(layer("a", isManaged: true)))
    }

    /// The kind of the layer counts, not its name.
    @Test
    func managedIsWhatAManagedLayerShows() {
        for name in ["managed", "policy", "default"] {
            #expect(source(.inMemory(), layer(name, isManaged: true)).isManaged, "\(name)")
            #expect(!source(layer(name), .inMemory()).isManaged, "\(name)")
        }
        let scope = PreferenceStore.inMemory(["volume": 1]).readOnly(named: "managed")
        #expect(source(scope).name == "managed" && !source(scope).isManaged)
        let policy = layer("policy", isManaged: true).readOnly(named: "other")
        #expect(source(.inMemory(), policy).name == "policy" && source(.inMemory(), policy).isManaged)
        #expect(!PreferenceSource.default.isManaged && !PreferenceSource.store.isManaged)
    }

    /// User defaults do so for the values of a configuration profile.
    @Test
    func nameThatTheBackendReportsAsManagedIs() {
        let store = PreferenceStore(Layer(source: Source(ProfileBackend())))
        let volume = Preference("volume", default: 0, in: store)
        #expect(volume.source.isManaged && volume.source.name == "managed" && volume.isManaged)
        let other = Preference("other", default: 0, in: store)
        #expect(other.source == .store && !other.isManaged)
    }

    private final class ProfileBackend: Backend {
        let place = "profile"

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
            ["volume", "other"].map { StoredChange($0, 1) }
        }
        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }
        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {}
        func describe(_ name: String?) -> StoredPlace { StoredPlace(isManaged: name == "volume") }
    }
}
