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
