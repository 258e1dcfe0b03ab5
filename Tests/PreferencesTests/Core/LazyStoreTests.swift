import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Stores whose layers are made when they are first used, as those of the shared stores.
struct LazyStoreTests {
    private let calls = Counter()
    private let source = Source(["volume": 7, "account.volume": 8])

    private func makeStore() -> PreferenceStore {
        PreferenceStore { [calls, source] in
            calls.next()
            return [Layer(source: source)]
        }
    }

    @Test
    func declarationsAndStoresOverItAreNoUse() throws {
        let store = makeStore()
        let stores = [
            store, .layered([.inMemory(), store]), store.scoped(prefix: "account."), store.readOnly(),
            .layered([.layered([store]), .inMemory()]),
        ]
        let preferences = stores.map { Preference("volume", default: 5, .formerly("old"), .secret, in: $0) }
        store.issueHandler = { _ in }
        same(calls.value, 0)
        same(preferences.map(\.value), [7, 7, 8, 7, 7])
        same(calls.value, 1)
        #expect(source.isSecret("volume") && source.isSecret("account.volume"))
        try preferences[1].write(3)
        same(preferences.map(\.value), [7, 3, 8, 7, 7])
    }

    @Test(arguments: ["read", "set", "write", "transaction", "observe", "contents", "managed", "writable"])
    func eachUseMakesTheLayers(_ use: String) throws {
        let store = makeStore()
        let volume = Preference("volume", default: 5, in: store)
        let seen = Recorder<Int>()
        var observation: PreferenceObservation?
        switch use {
        case "read": same(volume.value, 7)
        case "set": volume.value = 9
        case "write": try volume.write(9)
        case "transaction": try store.transaction { $0[volume] += 1 }
        case "observe":
            observation = volume.observe { seen.record($0.new) }
            volume.value = 9
            same(seen.elements, [9])
        case "contents": same(store.names, ["account.volume", "volume"])
        case "managed": #expect(!volume.isManaged)
        default: #expect(store.isWritable)
        }
        same(calls.value, 1)
        let isChanged = ["set", "write", "transaction", "observe"].contains(use)
        same(source.publishing.withLock { source.table["volume"] != 7 }, isChanged)
        withExtendedLifetime(observation) {}
    }

    @Test
    func threadsThatUseItFirstSeeTheSameLayers() async {
        for _ in 0..<rounds(300) {
            let store = PreferenceStore { [Layer(source: Source([:])), Layer(source: Source(["0": 7, "1": 7]))] }
            let (wrong, all) = (Counter(), (0..<2).map { Preference("\($0)", default: 0, in: store) })
            await onThreads(4) { thread in
                let own = Preference("\(thread % 2)", default: 0, in: store)
                if own.value != 7 || all[thread % 2].value != 7 { wrong.next() }
                Preference("own \(thread)", default: 0, in: store).value = thread
            }
            same(wrong.value, 0)
            same((0..<4).map { store["own \($0)"] }, (0..<4).map { .integer($0) })
        }
    }

    /// Any name might be managed.
    @Test
    func managedStoreThatCanNotBeOpenedBlocksAllSets() {
        let closed = Source(NoBackend(PreferenceError(.unavailable, "none")))
        let store = PreferenceStore.layered([PreferenceStore(.managed(closed)), .inMemory()])
        store.issueHandler = { _ in }
        let volume = Preference("volume", default: 5, in: store)
        #expect(volume.isManaged && !store.isWritable)
        same(#expect(throws: PreferenceError.self) { try volume.write(1) }?.code, .managed)
    }

    @Test
    func storeWithoutAPlaceKeepsWhatPropertiesSetAndThrows() {
        let cause = PreferenceError(.unavailable, "the home folder is unknown")
        let store = PreferenceStore { [Layer(source: Source(NoBackend(cause)))] }
        let issues = store.recordIssues()
        let volume = Preference("volume", default: 5, in: store)
        volume.value = 7
        #expect(volume.value == 7 && !store.isWritable)
        for call in [{ try store.load() }, { try volume.write(8) }, { try store.flush() }] {
            same(#expect(throws: PreferenceError.self) { try call() }?.message, cause.message)
        }
        same(issues.elements.map(\.message), [cause.message])
    }
}
