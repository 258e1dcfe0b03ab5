import DurableFile
import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Closures of a call that change what the call stores or has read: the call would run them again and again.
struct MisuseTests {
    private let store: PreferenceStore
    private let volume: Preference<Int>
    private let issues = Recorder<PreferenceError>()
    private let runs = Counter()

    init() {
        store = .inMemory(["volume": 3])
        store.issueHandler = { [issues] in issues.record($0) }
        volume = Preference("volume", default: 0, in: store)
    }

    private func expectMisuse(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: PreferenceError.self, sourceLocation: location) { try body() }
        #expect(error?.code == .misuse && error?.name == "volume", sourceLocation: location)
        #expect(runs.value == 1 && store["volume"] == 3, sourceLocation: location)
    }

    @Test
    func updateInsideAnUpdate() async {
        expectMisuse {
            try volume.update { value in
                runs.next()
                try volume.update { $0 += 10 }
                value += 1
            }
        }
        let error = await #expect(throws: PreferenceError.self) {
            try await volume.update { _ in try store.transaction { $0[volume] = 9 } }
        }
        #expect(error?.code == .misuse && store["volume"] == 3)
    }

    @Test
    func caughtMisuseOfTheBodyIsThrown() {
        expectMisuse {
            try volume.update { value in
                runs.next()
                do { try volume.update { $0 = 9 } } catch {}
                store.reset(volume)
                value += 1
            }
        }
        same(issues.elements.map(\.code), [.misuse])
    }

    @Test
    func otherNamesOfTheSameValueCount() {
        let scope = PreferenceStore.inMemory(["a.volume": 3])
        let inner = Preference("volume", default: 0, in: scope.scoped(prefix: "a."))
        let error = #expect(throws: PreferenceError.self) {
            try inner.update { _ in try scope.transaction { $0["a.volume"] = 9 } }
        }
        #expect(error?.code == .misuse && scope["a.volume"] == 3)
        let renamed = Preference("brightness", default: 0, .formerly("light"), in: store)
        #expect(throws: PreferenceError.self) { try renamed.update { _ in try store.transaction { $0["light"] = 9 } } }
        same(store.contents, ["volume": 3])
    }

    @Test
    func transactionThatReadsWhatItsBodySets() {
        expectMisuse {
            try store.transaction { t in
                runs.next()
                _ = t[volume]
                try volume.update { $0 = 9 }
            }
        }
    }

    @Test
    func transactionWhoseBodyHasSetWhatItReads() {
        for readsAll in [false, true] {
            let runs = Counter()
            let error = #expect(throws: PreferenceError.self) {
                try store.transaction { t in
                    runs.next()
                    try volume.update { $0 += 1 }
                    if readsAll { _ = t.contents } else { t[volume] += 1 }
                }
            }
            #expect(error?.code == .misuse && runs.value == 1)
        }
        same(store["volume"], 5, "the body's own sets aren't part of the transaction")
    }

    @Test
    func bodyMaySetWhatItDoesNotRead() throws {
        let other = Preference("other", default: 0, in: store)
        try volume.update { value in
            other.value = value
            value += 1
        }
        try store.transaction { t in
            try other.update { $0 += 1 }
            t[volume] += 1
        }
        same(store.contents, ["volume": 5, "other": 4])
        let elsewhere = Preference("volume", default: 0, in: .inMemory())
        try volume.update { value in
            try elsewhere.update { $0 += 1 }
            value += 1
        }
        #expect(volume.value == 6 && elsewhere.value == 1 && issues.elements.isEmpty)
    }

    @Test
    func observerOfWhatABodySetsMaySetAnything() throws {
        let other = Preference("other", default: 0, in: store)
        let observation = other.observe { [volume] change in if volume.value != change.new { volume.value = change.new }
        }
        let otherVolume = volume
        try store.transaction { t in
            if otherVolume.value != 9 { try other.write(9) }
            t["third"] = 1
        }
        same(store.contents, ["volume": 9, "other": 9, "third": 1])
        withExtendedLifetime(observation) {}
    }
}
