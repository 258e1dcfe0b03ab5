import Foundation
import SwiftUI
import Testing

@testable import Preferences

@MainActor
struct AppStorageTests {
    private let defaults = ObservableDefaults()

    private enum Level: Int, Sendable {
        case low, high
    }

    /// Checks that both read what the other wrote.
    private func check<Value: Equatable & Sendable>(
        _ preference: Preference<Value>,
        _ first: Value,
        _ second: Value,
        _ wrapper: (Preference<Value>) -> AppStorage<Value>
    ) {
        let wrapper = wrapper(preference)
        #expect(wrapper.wrappedValue == preference.defaultValue)
        preference.value = first
        #expect(wrapper.wrappedValue == first)
        wrapper.wrappedValue = second
        #expect(preference.value == second)
    }

    @Test
    func wrapperAndPreferenceReadWhatTheOtherWrote() throws {
        let store = defaults.store()
        let url = try #require(URL(string: "https://example.com/a?b#c"))
        let other = try #require(URL(string: "mailto:jo@example.com"))
        let date = Date(timeIntervalSinceReferenceDate: 1)
        check(Preference("bool", default: false, in: store), true, false) { AppStorage($0) }
        check(Preference("int", default: 0, in: store), 1, 2) { AppStorage($0) }
        check(Preference("double", default: 0.5, in: store), 1.5, 2) { AppStorage($0) }
        check(Preference("string", default: "", in: store), "a", "b") { AppStorage($0) }
        check(Preference("data", default: Data(), in: store), Data([1]), Data([2])) { AppStorage($0) }
        check(Preference("date", default: date, in: store), date + 1, date + 2) { AppStorage($0) }
        check(Preference("url", default: other, coding: .archivedURL, in: store), url, other) { AppStorage($0) }
        let file = URL(fileURLWithPath: NSHomeDirectory()).appending(path: "a file")
        check(Preference("native url", default: other, in: store), url, file) { AppStorage($0) }
        check(Preference("file", default: other, in: store), file, url) { AppStorage($0) }
        check(Preference("level", default: Level.low, in: store), .high, .low) { AppStorage($0) }
        check(Preference("theme", default: Theme.system, in: store), .dark, .light) { AppStorage($0) }
        check(Preference("bool?", in: store) as Preference<Bool?>, true, false) { AppStorage($0) }
        check(Preference("int?", in: store) as Preference<Int?>, 1, 2) { AppStorage($0) }
        check(Preference("double?", in: store) as Preference<Double?>, 1.5, 2) { AppStorage($0) }
        check(Preference("string?", in: store) as Preference<String?>, "a", "b") { AppStorage($0) }
        check(Preference("data?", in: store) as Preference<Data?>, Data([1]), Data([2])) { AppStorage($0) }
        check(Preference("date?", in: store) as Preference<Date?>, date, date + 2) { AppStorage($0) }
        check(Preference("url?", coding: .archivedURL, in: store) as Preference<URL?>, url, other) { AppStorage($0) }
        check(Preference("native url?", in: store) as Preference<URL?>, file, other) { AppStorage($0) }
        check(Preference("level?", in: store) as Preference<Level?>, .high, .low) { AppStorage($0) }
        check(Preference("theme?", in: store) as Preference<Theme?>, .dark, .light) { AppStorage($0) }
    }

    @Test
    func urlsAsUserDefaultsKeepThemAreReadWithAnyCoding() throws {
        let url = try #require(URL(string: "https://example.com/a?b#c"))
        let archive = Preference("url", coding: .archivedURL, in: defaults.store()) as Preference<URL?>
        archive.value = url
        defaults.set("~/file", forKey: "home")
        defaults.set("/tmp/file", forKey: "path")
        defaults.set(Data([1]), forKey: "broken")
        let store = defaults.store()
        store.issueHandler = { _ in }
        let plain = Preference("url", in: store) as Preference<URL?>
        #expect(plain.value == url)
        let home = Preference("home", in: store) as Preference<URL?>
        #expect(home.value?.path == NSHomeDirectory() + "/file")
        let path = Preference("path", in: store) as Preference<URL?>
        #expect(path.value == URL(fileURLWithPath: "/tmp/file"))
        let broken = Preference("broken", in: store) as Preference<URL?>
        #expect(throws: PreferenceError.self) { try broken.read() }
        #expect(defaults.data(forKey: "broken") == Data([1]))
    }

    @Test
    func wrapperCanBeCreatedBeforeTheDeviceIsUnlocked() {
        let store = defaults.store(protection: DataProtection { true })
        let issues = Log<PreferenceError.Code>()
        store.issueHandler = { issues.append($0.code) }
        let wrapper = AppStorage(Preference("n", default: 7, in: store))
        #expect(wrapper.wrappedValue == 7)
        let layered = PreferenceStore.layered([.arguments([]), store])
        #expect(AppStorage(Preference("n", default: 8, in: layered)).wrappedValue == 8)
        #expect(issues.all.isEmpty)
    }

    /// An app that hosts its tests creates its views in the test process, where its stores are in memory.
    @Test(arguments: ["", "account.42."])
    func wrapperOfAnIsolatedStoreHasTheDefault(prefix: String) throws {
        let url = try #require(URL(string: "https://example.com/a?b#c"))
        let name = UUID().uuidString
        PreferenceStore.withIsolatedStores {
            for shared in [
                PreferenceStore.standard, .suite("com.example.suite"), .layered([.arguments([]), .standard]),
            ] {
                let store = prefix.isEmpty ? shared : shared.scoped(prefix: prefix)
                let number = Preference(name, default: 7, in: store)
                number.value = 1
                #expect(AppStorage(number).wrappedValue == 7)
                let archived = Preference(name + "b", default: url, coding: .archivedURL, in: store)
                #expect(AppStorage(archived).wrappedValue == url)
                #expect(AppStorage(Preference(name + "c", in: store) as Preference<String?>).wrappedValue == nil)
            }
        }
    }

    /// A value that a view sets reaches neither the store nor the program's own user defaults.
    @Test
    func setOfAWrapperOfAnIsolatedStoreReachesNoStore() {
        let theme = Preference(UUID().uuidString, default: Theme.system)
        let wrapper = AppStorage(theme)
        wrapper.wrappedValue = .dark
        #expect(wrapper.wrappedValue == .dark && theme.value == .system)
        #expect(UserDefaults.standard.object(forKey: theme.name) == nil)
    }

    @Test
    func urlMayHaveEitherCoding() throws {
        let url = try #require(URL(string: "https://example.com"))
        #expect(AppStorage(Preference("a", default: url, in: defaults.store())).wrappedValue == url)
        #expect(AppStorage(Preference("b", in: defaults.store()) as Preference<URL?>).wrappedValue == nil)
        let archived = Preference("c", default: url, coding: .archivedURL, in: defaults.store())
        #expect(AppStorage(archived).wrappedValue == url)
    }

    @Test
    func storeThatIsNotOverUserDefaultsIsRefused() async {
        await #expect(processExitsWith: .failure) {
            _ = AppStorage(Preference("n", default: 0, in: .inMemory()))
        }
    }

    /// User defaults of another program part would never see its values.
    @Test
    func storeInMemoryOverUserDefaultsIsRefused() async {
        await #expect(processExitsWith: .failure) {
            _ = AppStorage(Preference("n", default: 0, in: .layered([.inMemory(), .standard])))
        }
    }

    @Test
    func otherCodingIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let store = ObservableDefaults().store()
            _ = AppStorage(Preference("n", default: 0, coding: .json, in: store))
        }
    }
}
