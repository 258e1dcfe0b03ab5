import Observation
import Preferences
import TestSupport
import Testing

// Storage for any `Codable` value: instances with the same key have the same value, observers are notified, `nil` removes the value.

private struct Profile: Codable, Equatable, Sendable {
    var name = "Pitt"
    var tags: Set<String> = []
    var manager: [Profile] = []
}

private struct ProfileScreen {
    @Preference var profile: Profile?
    init(_ store: PreferenceStore) { _profile = Preference("profile", in: store) }
}

struct CodableStorageTests {
    private let store = PreferenceStore.inMemory()

    @Test
    func instancesWithTheSameKeyHaveTheSameValue() {
        let (first, second) = (ProfileScreen(store), ProfileScreen(store))
        first.profile = Profile(name: "Ada", tags: ["a", "b"], manager: [Profile()])
        same(second.profile, Profile(name: "Ada", tags: ["a", "b"], manager: [Profile()]))
        second.profile?.name = "Grace"
        same(first.profile?.name, "Grace")
    }

    @Test
    func nilRemoves() {
        let screen = ProfileScreen(store)
        screen.profile = Profile()
        same(store.names, ["profile"])
        screen.profile = nil
        same(store.names, [])
        same(screen.profile, nil)
    }

    @Test
    func readersRenderAgain() {
        let (screen, other) = (ProfileScreen(store), ProfileScreen(store))
        let rendered = Recorder<Profile?>()
        withObservationTracking {
            same(screen.profile, nil)
        } onChange: {
            rendered.record(screen.profile)
        }
        other.profile = Profile()
        same(rendered.elements, [Profile()])
    }

    @Test
    func codeWithoutViewsIsNotified() async {
        let screen = ProfileScreen(store)
        var values = screen.$profile.updates.makeAsyncIterator()
        await same(values.next(), .some(nil))
        screen.profile = Profile()
        await same(values.next(), Profile())
        screen.profile = nil
        await same(values.next(), .some(nil))
    }
}
