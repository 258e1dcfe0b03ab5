import Foundation
import Testing

@testable import Preferences

/// Values of `register(defaults:)` and of the domain of all programs, which are a layer below the domain's own.
struct RegisteredDefaultsTests {
    private let defaults = ObservableDefaults()
    /// A name that no other test registers: all user defaults of a process share what is registered.
    private let name = "registered." + UUID().uuidString

    /// Programs whose user defaults have a known name, and one whose user defaults were made elsewhere.
    enum Domain: CaseIterable { case known, unknown }

    private func store(_ domain: Domain = .known, arguments: [String: PropertyListValue] = [:]) -> PreferenceStore {
        var shared = defaults.shared
        shared.arguments = arguments
        if domain == .unknown { shared.own = nil }
        let backend = UserDefaultsBackend(shared, runLater: { $1() }) { [watch = defaults.watch] _, deliver in
            watch.observer(deliver)
        }
        return PreferenceStore(backend)
    }

    private func register(_ value: Any) { defaults.register(defaults: [name: value]) }

    @Test(arguments: Domain.allCases)
    func registeredValueIsShownAndNotSet(domain: Domain) throws {
        register(7)
        let store = store(domain)
        let preference = Preference(name, default: 0, in: store)
        #expect(preference.value == 7)
        #expect(!preference.isSet)
        #expect(preference.source.name == "registered or global")
        #expect(store.names == [name])
        preference.value = 8
        #expect(preference.isSet)
        #expect(preference.source == .store)
        preference.reset()
        #expect(preference.value == 7)
        #expect(!preference.isSet)
        #expect(defaults.watch.writes == [name, name])
    }

    @Test(arguments: Domain.allCases)
    func ownValueThatEqualsTheRegisteredOneIsSet(domain: Domain) {
        register(7)
        let preference = Preference(name, default: 0, in: store(domain))
        preference.value = 7
        #expect(preference.isSet)
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        #expect(preference.isSet)
        #expect(Preference(name, default: 0, in: store()).isSet)
        preference.reset()
        #expect(!preference.isSet)
        #expect(!Preference(name, default: 0, in: store()).isSet)
    }

    /// It can't be told from the registered one, so it counts as that, and is removed nevertheless.
    @Test
    func resetOfAnUnknownDomainRemovesAnEqualValue() {
        register(7)
        defaults.set(7, forKey: name)
        let preference = Preference(name, default: 0, in: store(.unknown))
        #expect(!preference.isSet)
        preference.reset()
        register(9)
        #expect(defaults.integer(forKey: name) == 9)
    }

    @Test(arguments: Domain.allCases)
    func nilOverARegisteredValueIsStored(domain: Domain) throws {
        register("blue")
        let preference = Preference<String?>(name, in: store(domain))
        #expect(preference.value == "blue")
        preference.value = nil
        #expect(preference.value == nil)
        #expect(preference.isSet)
        #expect(defaults.dictionary(forKey: name) as? [String: Bool] == ["$unset": true])
        #expect(Preference<String?>(name, in: store(domain)).value == nil)
        preference.reset()
        #expect(preference.value == "blue")
        #expect(!preference.isSet)
    }

    @Test
    func removeAllLeavesRegisteredValues() throws {
        register(7)
        let store = store()
        let preference = Preference(name, default: 0, in: store)
        let other = Preference("other", default: 0, in: store)
        other.value = 1
        #expect(preference.value == 7)
        store.removeAll()
        #expect(preference.value == 7)
        #expect(defaults.watch.writes == ["other", "other"])
    }

    @Test
    func removeAllRemovesAValueThatMayBeTheDomains() {
        register(7)
        defaults.set(7, forKey: name)
        let store = store(.unknown)
        #expect(!Preference(name, default: 0, in: store).isSet)
        store.removeAll()
        register(9)
        #expect(defaults.integer(forKey: name) == 9)
    }

    @Test
    func setMergesWithWhatIsRegistered() throws {
        struct Frame: Codable, Equatable { var x = 0 }
        register(["x": 1, "later": true])
        let store = store()
        let frame = Preference(name, default: Frame(), in: store)
        #expect(frame.value == Frame(x: 1))
        frame.value.x = 2
        #expect(store[name] == ["x": 2, "later": true])
        #expect(frame.isSet)
    }

    @Test
    func observerSeesWhatAResetUncovers() {
        register(7)
        let preference = Preference(name, default: 0, in: store())
        let changes = Log<[Int]>()
        let observation = preference.observe { changes.append([$0.old, $0.new]) }
        preference.value = 8
        // User defaults don't notify of it, as their own value hides it.
        register(9)
        preference.reset()
        // The last known value, and then what is read.
        #expect(changes.all == [[7, 8], [8, 7], [7, 9]])
        #expect(preference.value == 9)
        observation.cancel()
    }

    @Test
    func registrationIsSeenAfterANotification() {
        let preference = Preference(name, default: 0, in: store())
        let changes = Log<[Int]>()
        let observation = preference.observe { changes.append([$0.old, $0.new]) }
        #expect(preference.value == 0)
        register(7)
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        #expect(changes.all == [[0, 7]])
        #expect(preference.value == 7)
        #expect(!preference.isSet)
        observation.cancel()
    }

    @Test
    func firstReadOfARegisteredValueIsNoChange() {
        register(7)
        let store = store()
        let changes = Log<Set<String>>()
        let observation = store.subscribe { changes.append(Set(PreferenceStoreChange($0).names)) }
        #expect(Preference(name, default: 0, in: store).value == 7)
        #expect(changes.all == [])
        observation.cancel()
    }

    /// On Linux, Foundation looks for them elsewhere than on Apple's platforms.
    @Test
    func valueOfAllProgramsIsWeaker() {
        var shared = defaults.shared
        shared.weaker = GlobalDefaults([name: 7])
        defaults.watch.show(7, below: name)
        let preference = Preference(
            name,
            default: 0,
            in: PreferenceStore(
                UserDefaultsBackend(shared) { [watch = defaults.watch] _, deliver in watch.observer(deliver) }
            )
        )
        #expect(preference.value == 7)
        #expect(!preference.isSet)
        #expect(preference.source.name == "registered or global")
        preference.value = 7
        #expect(preference.isSet)
        #expect(defaults.watch.writes == [name])
    }

    /// An absent name is read once and any other at most three times, however many names are registered.
    @Test
    func readsDoNotDependOnTheNumberOfNames() {
        let names = (0..<300).map { "\(name).\($0)" }
        defaults.register(defaults: Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
        let asked = Log<String>()
        var shared = defaults.shared
        shared.own = { name in
            asked.append(name)
            return nil
        }
        let store = PreferenceStore(
            UserDefaultsBackend(shared, runLater: { _, _ in }) { [watch = defaults.watch] _, deliver in
                watch.observer(deliver)
            }
        )
        let preferences = names.map { Preference($0, default: 0, in: store) }
        #expect(preferences.allSatisfy { $0.value == 1 })
        #expect(asked.all == names)
        #expect(defaults.watch.reads == 300)
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        #expect(preferences[3].value == 1)
        #expect(asked.all.count == 301)
        #expect(defaults.watch.reads == 301)
    }

    // MARK: Arguments

    /// An argument hides the suite's value in user defaults, also from their notifications.
    @Test(arguments: Domain.allCases)
    func valueUnderAnArgumentStays(domain: Domain) {
        let store = store(domain, arguments: [name: "7"])
        let preference = Preference(name, default: 0, in: store)
        preference.value = 5
        hide(by: "7")
        for _ in 0..<2 {
            NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
            #expect(preference.value == 5)
            #expect(preference.isSet)
        }
        hide(by: nil)
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        #expect(preference.value == 5)
    }

    @Test(arguments: Domain.allCases)
    func nilUnderAnArgumentHidesARegisteredValue(domain: Domain) {
        register("blue")
        hide(by: "red")
        Preference<String?>(name, in: store(domain, arguments: [name: "red"])).value = nil
        hide(by: nil)
        #expect(Preference<String?>(name, in: store(domain)).value == nil)
        #expect(defaults.dictionary(forKey: name) as? [String: Bool] == ["$unset": true])
    }

    private func argumentStore(_ arguments: [String: Any], options: [String]? = nil) -> PreferenceStore {
        var shared = defaults.shared
        shared.arguments = shared.shown(ofArguments: arguments)
        let backend = UserDefaultsBackend(shared) { [watch = defaults.watch] _, deliver in watch.observer(deliver) }
        return PreferenceStore(
            backend,
            arguments: .arguments(above: shared, options: options.map { CommandLineValues(parsing: $0) })
        )
    }

    /// For a suite, no other forms of options, such as `--count 5`.
    @Test
    func suiteShowsTheArgumentDomainAlone() {
        let store = argumentStore(["count": "7", "-count": "5", "list": ["a", "b"]])
        let count = Preference("count", default: 0, in: store)
        #expect(count.value == 7)
        #expect(count.source.name == "arguments")
        #expect(Preference("list", default: [String](), in: store).value == ["a", "b"])
        #expect(store.names.isEmpty)
    }

    /// The command line's options, and what only user defaults have: a property list, and what the program put there.
    @Test
    func standardStoreShowsTheOptionsAndTheArgumentDomain() {
        let options = ["-list", "(a, b)", "--count", "5", "-volume", "3", "--tags", #"["x","y"]"#, "--sound", "file"]
        let store = argumentStore(["list": ["a", "b"], "volume": "4", "title": "new"], options: options)
        #expect(Preference("list", default: [String](), in: store).value == ["a", "b"])
        #expect(Preference("count", default: 0, in: store).value == 5)
        #expect(Preference("volume", default: 0, in: store).value == 4)
        #expect(Preference("tags", default: [String](), in: store).value == ["x", "y"])
        #expect(Preference("sound", default: false, in: store).value)
        #expect(Preference("title", default: "", in: store).value == "new")
    }

    @Test(arguments: ["-sound", "--sound"])
    func forcedValueOutranksAnArgument(option: String) {
        defaults.set(true, forKey: "sound")
        defaults.watch.force("sound")
        for store in [
            argumentStore(["sound": "NO"]), argumentStore(["sound": "NO"], options: [option, "no", "--count", "5"]),
        ] {
            let sound = Preference("sound", default: false, in: store)
            #expect(sound.value)
            #expect(sound.isManaged)
            #expect(sound.source.name == "managed")
        }
    }

    // MARK: Other domains

    @Test
    func valueThatOtherCodeRemovedUncoversTheRegisteredOne() {
        register(7)
        let preference = Preference(name, default: 0, in: store(.unknown))
        preference.value = 8
        defaults.removeObject(forKey: name)
        #expect(preference.value == 7)
        #expect(!preference.isSet)
    }

    @Test
    func valueThatOtherCodeRemovedIsWrittenAgain() {
        register(7)
        let preference = Preference(name, default: 0, in: store(.unknown))
        preference.value = 7
        defaults.removeObject(forKey: name)
        preference.value = 7
        register(9)
        #expect(defaults.integer(forKey: name) == 7)
        #expect(preference.value == 7)
    }

    private func hide(by argument: String?) { defaults.watch.argue(argument, for: name) }
}

/// The domain of all programs alone.
private final class GlobalDefaults: UserDefaults {
    private let values: [String: Int]

    init(_ values: [String: Int]) {
        self.values = values
        // Nil only for names that stand for other domains.
        // swift-format-ignore: NeverForceUnwrap
        super.init(suiteName: SharedUserDefaults.emptyDomain)!
    }

    override func object(forKey name: String) -> Any? { values[name] }
}
