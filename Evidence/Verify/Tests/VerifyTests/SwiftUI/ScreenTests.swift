import Dispatch
import Foundation
import SwiftUI
import Testing

@testable import Preferences

@MainActor
struct ScreenTests {
    private let store = PreferenceStore.inMemory()
    private var preferences: AppPreferences { AppPreferences(in: store) }

    @Test
    func sidebarShowsAndSetsTheSelection() throws {
        let preferences = preferences
        let host = Host(MainScreen(preferences))
        #expect(host.texts == ["templates"])
        try #require(host.control("Sidebar", of: SidebarItem.self)).wrappedValue = .archive
        #expect(preferences.selectedItem == .archive)
        host.update()
        #expect(host.texts == ["archive"])
        #expect(host.bodies == ["MainScreen": 2])
        preferences.selectedItem = .inbox
        preferences.selectedItem = .inbox
        preferences.selectedItem = .templates
        host.update()
        host.update()
        #expect(host.texts == ["templates"])
        #expect(host.bodies == ["MainScreen": 3])
    }

    @Test
    func formSetsWhatItsControlsAreBoundTo() throws {
        let preferences = preferences
        let host = Host(SettingsScreen(preferences))
        try #require(host.control("Update", of: Bool.self)).wrappedValue = false
        host.update()
        try #require(host.control("Theme", of: Theme.self)).wrappedValue = .dark
        host.update()
        try #require(host.control("Name", of: String.self)).wrappedValue = "Jo"
        host.update()
        #expect(!preferences.automaticallyUpdate)
        #expect(preferences.theme == .dark)
        #expect(preferences.name == "Jo")
        #expect(host.bodies == ["SettingsScreen": 4])
        preferences.nickname = "not shown"
        preferences.name = "Jo"
        host.update()
        #expect(host.bodies == ["SettingsScreen": 4])
    }

    @Test
    func twoViewsOnOnePreferenceAreEachEvaluatedOnce() throws {
        let host = Host(TwoViews(preferences: preferences))
        try #require(host.control("Name", of: String.self)).wrappedValue = "Jo"
        host.update()
        #expect(host.texts == ["Jo"])
        #expect(host.bodies == ["TwoViews": 1, "NameLabel": 2, "NameField": 2])
    }

    @Test
    func transactionReachesWhatTheChangeUpdates() throws {
        let host = Host(SettingsScreen(preferences))
        let theme = try #require(host.control("Theme", of: Theme.self))
        theme.wrappedValue = .light
        host.update()
        #expect(host.animations.isEmpty)
        theme.animation(.default).wrappedValue = .dark
        host.update()
        #expect(host.animations == [.default])
    }

    @Test
    func everyFormOfDeclarationWorksAndFollowsTheEnvironmentsStore() throws {
        PreferenceStore.withIsolatedStores(["theme": "light", "count": 7]) {
            let host = Host(Declaring())
            #expect(host.texts == ["light Pitt 7 inbox 100 - - 100", "0 0 5 inbox"])
        }
        let preview = PreferenceStore.inMemory([
            "theme": "dark", "user.name": "Jo", "item": "archive", "other": "inbox",
        ])
        let host = Host(Declaring().preferenceStore(preview))
        #expect(host.texts == ["dark Jo 0 archive 100 - inbox 100", "0 0 5 inbox"])
        try #require(host.control("Theme", of: Theme.self)).wrappedValue = .light
        #expect(preview["theme"] == "light")
        preview["nickname"] = "Al"
        host.update()
        #expect(host.texts == ["light Jo 0 archive 100 Al inbox 100", "0 0 5 inbox"])
        #expect(host.bodies == ["Declaring": 2])
    }

    @Test
    func viewThatIsCreatedAgainShowsItsNewPreference() {
        let first = Preference("first", default: 1, in: store)
        let second = Preference("second", default: 2, in: store)
        let host = Host(Chosen(first))
        host.update(to: Chosen(second))
        #expect(host.texts == ["2"])
        first.value = 10
        host.update()
        #expect(host.bodies == ["Chosen": 2])
        second.value = 20
        host.update()
        #expect(host.texts == ["20"])
        #expect(host.bodies == ["Chosen": 3])
    }

    @Test
    func changeByAnotherThreadIsOneBodyMore() async {
        let preferences = preferences
        let host = Host(MainScreen(preferences))
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                preferences.selectedItem = .archive
                done.resume()
            }
        }
        host.update()
        #expect(host.texts == ["archive"])
        // The main actor repeats the signal.
        while preferences.$selectedItem.declaration.signal.isWaiting { await Task.yield() }
        host.update()
        #expect(host.bodies == ["MainScreen": 2])
    }

    /// A view whose body sets its own preference, before or after it has read it.
    private struct Launches: View {
        @PreferenceState<Int> var count: Int
        let setsFirst: Bool

        init(_ preference: Preference<Int>, setsFirst: Bool) {
            _count = PreferenceState(preference)
            self.setsFirst = setsFirst
        }

        var body: some View {
            if setsFirst { Text(counted()) }
            Text("\(count)")
            if !setsFirst { Text(counted()) }
        }

        private func counted() -> String {
            if count == 0 { count = 1 }
            return "counted"
        }
    }

    // A body installs its tracking when it returns, behind the change; the main actor repeats the notification.
    @Test(arguments: [false, true])
    func bodyThatSetsItsOwnPreferenceShowsTheNewValue(setsFirst: Bool) async {
        let launches = Preference("launches", default: 0, in: store)
        let host = Host(Launches(launches, setsFirst: setsFirst))
        while launches.declaration.signal.isWaiting { await Task.yield() }
        host.update()
        #expect(launches.value == 1)
        #expect(host.texts.contains("1"))
        #expect(!host.texts.contains("0"))
        while launches.declaration.signal.isWaiting { await Task.yield() }
        host.update()
        #expect(host.bodies == ["Launches": 2])
    }

    @Test
    func changeByOtherCodeEvaluatesOneBody() {
        let defaults = ObservableDefaults()
        let preferences = AppPreferences(in: defaults.store())
        let host = Host(TwoViews(preferences: preferences))
        defaults.set("Jo", forKey: "user.name")
        host.update()
        #expect(host.texts == ["Jo"])
        #expect(host.bodies == ["TwoViews": 1, "NameLabel": 2, "NameField": 2])
        defaults.set(1, forKey: "something.else")
        host.update()
        #expect(host.bodies == ["TwoViews": 1, "NameLabel": 2, "NameField": 2])
    }

    @Test
    func storeEndsWithTheViewsThatShowIt() {
        let defaults = ObservableDefaults()
        do {
            let preferences = AppPreferences(in: defaults.store())
            let host = Host(MainScreen(preferences))
            #expect(host.texts == ["templates"])
            #expect(defaults.watch.observerCount == 1)
        }
        #expect(defaults.watch.observerCount == 0)
    }
}
