import Preferences
import TestSupport
import Testing

// Wrappers for plain and `Codable` values with an injected store, in a class that is easy to test.

private struct Account: Codable, Equatable, Sendable {
    var name: String
    var visits: [String: Int] = [:]
}

private final class Session: Sendable {
    private let _isFirstLaunch: Preference<Bool>
    private let _account: Preference<Account?>

    var isFirstLaunch: Bool {
        get { _isFirstLaunch.value }
        set { _isFirstLaunch.value = newValue }
    }

    var account: Account? {
        get { _account.value }
        set { _account.value = newValue }
    }

    init(store: PreferenceStore = .standard) {
        _isFirstLaunch = Preference("isFirstLaunch", default: true, in: store)
        _account = Preference("account", in: store)
    }

    func signIn(_ name: String) {
        isFirstLaunch = false
        account = Account(name: name)
    }
}

private struct Screen {
    @Preference var title: String
    @Preference var account: Account

    init(store: PreferenceStore) {
        _title = Preference("title", default: "Untitled", in: store)
        _account = Preference("account", default: Account(name: "nobody"), in: store)
    }
}

struct InjectedStoreTests {
    @Test
    func plainValueIsKeptInTheInjectedStore() {
        let store = PreferenceStore.inMemory()
        let session = Session(store: store)
        #expect(session.isFirstLaunch)
        session.signIn("Ada")
        #expect(!session.isFirstLaunch)
        same(store["isFirstLaunch"], false)
    }

    @Test
    func codableValueIsKeptInTheInjectedStore() {
        let store = PreferenceStore.inMemory()
        Session(store: store).signIn("Ada")
        same(Session(store: store).account, Account(name: "Ada"))
        same(Session(store: .inMemory()).account, nil, "another test's store is another store")
    }

    @Test
    func storeIsPreparedByTheTest() {
        let session = Session(
            store: .inMemory(["isFirstLaunch": false, "account": ["name": "Grace", "visits": ["monday": 3]]])
        )
        #expect(!session.isFirstLaunch)
        same(session.account, Account(name: "Grace", visits: ["monday": 3]))
    }

    @Test
    func wrapperTakesTheStoreInItsInitializer() {
        let store = PreferenceStore.inMemory()
        let screen = Screen(store: store)
        screen.title = "Notes"
        screen.account.visits["monday", default: 0] += 1
        same(Screen(store: store).title, "Notes")
        same(Screen(store: store).account.visits, ["monday": 1])
    }
}
