#if Configuration
import Configuration
import Preferences
import PreferencesConfiguration
import PreferencesTesting
import PreferencesValidation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LayerChangeTests {
    struct PlayerPreferences: PreferenceGroup {
        @Preference("volume") var volume = 5
        @Preference("theme") var theme = "system"
    }

    @Test
    func changesOfTheReaderAreChangesOfTheStore() async throws {
        let provider = WatchedProvider(["volume": 7])
        let layer = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self)
        let player = PlayerPreferences(in: .layered([.inMemory(), layer]))
        var volumes = player.$volume.updates.makeAsyncIterator()
        await same(volumes.next(), 7)
        provider.base.setValue(8, forKey: "volume")
        await same(volumes.next(), 8)
        same(player.volume, 8)
        provider.base.setValue("dark", forKey: "theme")
        provider.base.setValue(nil, forKey: "volume")
        await same(volumes.next(), 5)
        same(player.theme, "dark")
        same(player.$volume.source, .default)
        // The user's value hides the layer's changes.
        player.volume = 1
        await same(volumes.next(), 1)
        provider.base.setValue(9, forKey: "volume")
        player.volume = 2
        await same(volumes.next(), 2)
    }

    @Test
    func validatedStoreOverTheReaderShowsOnlyValidStates() async throws {
        struct Service: PreferenceGroup {
            @Preference("port", .range(1...65535)) var port = 8080
            @Preference("volume") var volume = 5
        }
        let provider = WatchedProvider(["port": 90, "volume": 7])
        let layer = PreferenceStore.configuration(ConfigReader(provider: provider), for: Service.self)
        let store = try PreferenceStore.validated(Service.self, over: .layered([.inMemory(), layer]))
        let (problems, report) = AsyncStream.makeStream(of: PreferenceError.self)
        store.issueHandler = { report.yield($0) }
        let service = Service(in: store)
        var states = PreferenceStore.updates(of: service.$port, service.$volume).makeAsyncIterator()
        #expect(await states.next() ?? (0, 0) == (90, 7))
        provider.base.setValue(0, forKey: "port")
        var reported = problems.makeAsyncIterator()
        await same(reported.next()?.code, .invalid)
        provider.base.setValue(8, forKey: "volume")
        provider.base.setValue(91, forKey: "port")
        #expect(await states.next() ?? (0, 0) == (91, 8))
        provider.base.setValue(0, forKey: "port")
        await same(reported.next()?.code, .invalid)
        #expect(throws: PreferenceProblems.self) {
            try PreferenceStore.validated(Service.self, over: .layered([.inMemory(), layer]))
        }
    }

    /// The watch may begin long after the store was opened.
    @Test
    func changeBeforeTheWatchBeginsIsNotMissed() async throws {
        let provider = WatchedProvider(["volume": 7])
        let store = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self)
        let player = PlayerPreferences(in: store)
        var volumes = player.$volume.updates.makeAsyncIterator()
        await same(volumes.next(), 7)
        provider.base.setValue(8, forKey: "volume")
        await same(volumes.next(), 8)
    }

    @Test
    func changesGoThroughBothDirections() async throws {
        let user = PreferenceStore.inMemory()
        let reader = ConfigReader(provider: PreferenceStoreProvider(user, for: PlayerPreferences.self))
        let shown = PreferenceStore.configuration(reader, for: PlayerPreferences.self)
        let (old, new) = (PlayerPreferences(in: user), PlayerPreferences(in: shown))
        var volumes = PreferenceStore.updates(of: new.$volume, new.$theme).makeAsyncIterator()
        #expect(await volumes.next() ?? (0, "") == (5, "system"))
        for volume in 6...20 {
            try await user.transaction { transaction in
                transaction[old.$volume] = volume
                transaction[old.$theme] = "\(volume)"
            }
            #expect(await volumes.next() ?? (0, "") == (volume, "\(volume)"))
        }
    }

    @Test
    func watchEndsWithTheStore() async throws {
        let provider = WatchedProvider(["volume": 7])
        weak var released: PreferenceStore?
        var events = provider.events.makeAsyncIterator()
        do {
            let layer = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self)
            let store = PreferenceStore.layered([.inMemory(), layer])
            released = layer
            same(PlayerPreferences(in: store).volume, 7)
            await same(events.next(), .began)
        }
        #expect(released == nil)
        await same(events.next(), .ended)
    }

    @Test
    func storeThatIsNotReadWatchesNothing() {
        let provider = WatchedProvider()
        do {
            let layer = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self)
            withExtendedLifetime(layer) {}
        }
        #expect("\(provider.base)".contains("0 watchers"))
    }

    @Test(.isolatedStores(["volume": 7]))
    func layerOverASharedStoreStaysInItsScope() async throws {
        let reader = ConfigReader(provider: PreferenceStoreProvider(.standard))
        let player = PlayerPreferences(in: .configuration(reader, for: PlayerPreferences.self))
        var volumes = player.$volume.updates.makeAsyncIterator()
        await same(volumes.next(), 7)
        PreferenceStore.standard["volume"] = 8
        await same(volumes.next(), 8)
    }

    @Test(arguments: [
        WatchedProvider(["volume": 7], failingWith: WatchedProvider.Failure()),
        WatchedProvider(["volume": 7], endsAtOnce: true),
    ])
    func watchThatFailsOrEndsIsReportedAndTheValuesStay(provider: WatchedProvider) async throws {
        let store = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self)
        let (issues, log) = AsyncStream<PreferenceError>.makeStream()
        store.issueHandler = { log.yield($0) }
        same(PlayerPreferences(in: store).volume, 7)
        var iterator = issues.makeAsyncIterator()
        let issue = try #require(await iterator.next())
        same(issue.code, .unavailable)
        #expect(issue.description.contains("can no longer be watched"))
        same(PlayerPreferences(in: store).volume, 7)
    }
}
#endif
