import Preferences
import TestSupport
import Testing

// A concise wrapper: publishers with `didSet` and `willSet` timing, suites, several instances with the same key, mocks.

private struct User: PreferenceGroup {
    @Preference("user.name") var name = "Pitt"
    @Preference("user.age") var age: Int?
}

struct ConciseWrapperTests {
    private let user = User(in: .inMemory())

    @Test
    func severalInstancesWithTheSameKeyShareTheirValue() {
        let other = Preference("user.name", default: "somebody", in: user.$name.store)
        user.name = "François"
        same(other.value, "François")
        other.reset()
        same(user.name, "Pitt")
        same(other.value, "somebody", "each declaration has its own default")
    }

    @Test
    func nilGivesTheDefaultAgain() {
        user.age = 42
        user.age = nil
        same(user.age, nil)
        #expect(!user.$age.isSet)
    }

    @Test
    func removalIsPublished() {
        let seen = Recorder<String>()
        let observation = user.$name.observe { seen.record("\($0.old) → \($0.new)") }
        user.name = "François"
        user.$name.reset()
        same(seen.elements, ["Pitt → François", "François → Pitt"])
        withExtendedLifetime(observation) {}
    }

    @Test
    func onePreferenceIsMocked() {
        let mock = user.$name.bound(to: .inMemory(["user.name": "Mock"]))
        same(mock.value, "Mock")
        mock.value = "Changed"
        mock.reset()
        same(mock.value, "Pitt")
        #expect(user.$name.store.contents.isEmpty, "the real store is never touched")
    }

    @Test
    func allAreMocked() {
        let mock = User(in: .inMemory(["user.name": "Mock", "user.age": 7]))
        same(mock.name, "Mock")
        same(mock.age, 7)
        same(user.name, "Pitt")
    }

    private struct Screen {
        @Preference var title: String
        @Preference var visits: [String: Int]

        init(store: PreferenceStore) {
            _title = Preference("title", default: "Untitled", in: store)
            _visits = Preference("visits", default: [:], in: store)
        }
    }

    @Test
    func wrapperGetsItsStoreInAnInitializer() {
        let store = PreferenceStore.inMemory()
        let screen = Screen(store: store)
        screen.title = "Notes"
        screen.visits["monday", default: 0] += 1
        #expect(Screen(store: store).title == "Notes" && Screen(store: store).visits == ["monday": 1])
    }
}
