import Foundation
import Testing

@testable import Preferences
@testable import PreferencesCloud

struct CloudBackendTests {
    private let cloud = FakeCloud(["theme": "dark"])
    private let issues = Log<PreferenceError>()

    private func makeStore(_ limits: CloudLimits = CloudLimits()) -> PreferenceStore {
        let store = PreferenceStore(Layer(source: Source(CloudBackend(cloud, limits: limits))))
        store.issueHandler = { [issues] in issues.append($0) }
        return store
    }

    @Test
    func valuesAreReadSetAndRemoved() {
        let store = makeStore()
        #expect(store.contents == ["theme": "dark"])
        store["n"] = 1
        store["theme"] = nil
        #expect(cloud.stored == ["n": 1])
        #expect(issues.all.isEmpty)
    }

    @Test
    func firstAndLaterValuesOfTheCloudAreExternalChanges() {
        let store = makeStore()
        let theme = Preference("theme", default: "light", in: store)
        let changes = Log<[String]>()
        let observation = theme.observe { changes.append([$0.old, $0.new, "\($0.origin)"]) }
        #expect(cloud.synchronizeCount == 1)
        cloud.receive(["theme": "blue", "other": 1])
        cloud.receive(["theme": nil])
        #expect(changes.all == [["dark", "blue", "external"], ["blue", "light", "external"]])
        #expect(store["other"] == 1)
        observation.cancel()
    }

    @Test
    func ownSetsDoNotComeBack() {
        let store = makeStore()
        let changes = Log<PreferenceChangeOrigin>()
        let observation = store.subscribe { changes.append($0.origin) }
        store["n"] = 2.0
        cloud.receive([:])
        cloud.receive(["n": 2])
        store["n"] = 2.0
        #expect(changes.all == [.local])
        #expect(store["n"] == 2.0)
        #expect(cloud.sets == ["n"])
        observation.cancel()
    }

    /// The cost of a set doesn't depend on the number of names.
    @Test
    func setsReadTheirNamesAlone() throws {
        let store = makeStore()
        let number = Preference("n", default: 0, in: store)
        #expect(number.value == 0)
        #expect(cloud.copyCount == 1)
        for value in 1...10 { number.value = value }
        try number.update { $0 += 1 }
        #expect(cloud.copyCount == 1)
        #expect(cloud.stored == ["theme": "dark", "n": 11])
        cloud.receive(["n": 20, "theme": "blue"])
        #expect(cloud.copyCount == 2)
        #expect(store.contents == ["theme": "blue", "n": 20])
    }

    @Test
    func valueThatArrivesBeforeASetIsChangedFirst() {
        let store = makeStore()
        let theme = Preference("theme", default: "light", in: store)
        let changes = Log<[String]>()
        let observation = theme.observe { changes.append([$0.old, $0.new, "\($0.origin)"]) }
        cloud.set("blue", for: "theme")
        theme.value = "green"
        #expect(changes.all == [["dark", "blue", "external"], ["blue", "green", "local"]])
        observation.cancel()
    }

    @Test
    func tooLongANameTooManyAndTooLargeAreRefused() throws {
        let store = makeStore(CloudLimits(nameSize: 8, nameCount: 3, size: 200))
        func code(_ body: (inout PreferenceTransaction) -> Void) throws -> PreferenceError.Code? {
            do {
                try store.transaction(body)
                return nil
            } catch let error as PreferenceError {
                return error.code
            }
        }
        #expect(try code { $0["éééé"] = 1 } == nil)
        #expect(try code { $0["ééééé"] = 1 } == .invalidName)
        #expect(try code { $0["ééééé"] = nil } == nil)
        #expect(
            try code {
                $0["a"] = 1; $0["b"] = 2
            } == .tooLarge
        )
        #expect(try code { $0["a"] = .data(Data(count: 200)) } == .tooLarge)
        #expect(try code { $0["a"] = .data(Data(count: 100)) } == nil)
        #expect(Set(cloud.stored.keys) == ["theme", "éééé", "a"])
    }

    @Test
    func limitsAreApples() {
        let limits = CloudLimits()
        #expect(limits.nameSize == 64)
        #expect(limits.nameCount == 1024)
        #expect(limits.size == 1_048_576)
    }

    @Test
    func storeThatIsAboveTheLimitsCanShrink() {
        cloud.receive(["big": .data(Data(count: 500))])
        let store = makeStore(CloudLimits(size: 200))
        store["big"] = .data(Data(count: 300))
        #expect(issues.all.isEmpty)
        store["big"] = .data(Data(count: 301))
        #expect(issues.all.map(\.code) == [.tooLarge])
    }

    @Test
    func usedUpRoomAndChangeOfAccountAreReported() {
        let store = makeStore()
        #expect(store["theme"] == "dark")
        cloud.receive([:], .quotaExceeded)
        cloud.receive(["theme": "other", "n": 1], .accountChanged)
        #expect(issues.all.map(\.code) == [.tooLarge, .accountChanged])
        #expect(store.contents == ["theme": "other", "n": 1])
    }

    @Test
    func flushThrowsIfTheCloudCanNotBeReached() async throws {
        let store = makeStore()
        store["n"] = 1
        try await store.flush()
        cloud.removeEntitlement()
        await #expect(throws: PreferenceError.self) { try await store.flush() }
    }

    @Test
    func observersEndWithTheStore() {
        do {
            let store = makeStore()
            #expect(store["theme"] == "dark")
            #expect(cloud.observerCount == 1)
        }
        #expect(cloud.observerCount == 0)
    }
}
