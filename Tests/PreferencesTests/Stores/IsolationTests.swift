import Observation
import TestSupport
import Testing

@testable import Preferences

private enum Prefs {
    static let count = Preference("isolation.count", default: 0)
    static let title = Preference("isolation.title", default: "none")
    static let theme = Preference("isolation.theme", default: "light", in: .suite("isolation-tests"))
    static let other = Preference("isolation.theme", default: "light", in: .suite("isolation-tests-other"))
}

/// Created at the first use, and so before the scopes of the tests that use it a second time.
private let overStandard = PreferenceStore.layered([.inMemory(["isolation.layer": 1]), .standard])

struct IsolationTests {
    @Test
    func scopeBeginsWithItsContentsAndEndsWithItsBody() {
        PreferenceStore.withIsolatedStores(["isolation.count": 7]) {
            same(Prefs.count.value, 7)
            same(PreferenceStore.standard.contents, ["isolation.count": 7])
            Prefs.count.value = 8
            same(Prefs.count.value, 8)
            PreferenceStore.withIsolatedStores {
                same(Prefs.count.value, 0, "the inner scope counts")
                Prefs.count.value = 1
            }
            same(Prefs.count.value, 8)
            Prefs.count.reset()
            #expect(PreferenceStore.standard.contents.isEmpty)
        }
    }

    @Test
    func stateIsIsolatedFromTheStandardStoreAndFromOtherScopes() {
        let launches = Preference("isolation.launches", default: 0, in: .state)
        PreferenceStore.withIsolatedStores(["isolation.launches": 1]) {
            same(launches.value, 0)
            launches.value = 7
            same(PreferenceStore.state.contents, ["isolation.launches": 7])
            same(PreferenceStore.standard["isolation.launches"], 1)
            PreferenceStore.withIsolatedStores { same(launches.value, 0) }
        }
        PreferenceStore.withIsolatedStores { same(launches.value, 0) }
    }

    @Test
    func everySuiteHasItsOwnStore() {
        PreferenceStore.withIsolatedStores(["isolation.theme": "blue"]) {
            Prefs.theme.value = "dark"
            same(Prefs.other.value, "light")
            same(PreferenceStore.suite("isolation-tests").contents, ["isolation.theme": "dark"])
            same(PreferenceStore.standard["isolation.theme"], "blue")
        }
    }

    @Test
    func errorOfTheBodyPassesThroughWithItsType() async {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try PreferenceStore.withIsolatedStores { () throws(Refusal) in throw Refusal() }
        }
        await #expect(throws: Refusal.self) {
            try await PreferenceStore.withIsolatedStores { () async throws(Refusal) in throw Refusal() }
        }
    }

    @Test
    func childTasksInheritTheScope() async {
        await PreferenceStore.withIsolatedStores {
            Prefs.count.value = 5
            async let inherited = Prefs.count.value
            await same(inherited, 5)
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { try? Prefs.count.update { $0 += 1 } } }
            }
            same(Prefs.count.value, 13)
        }
    }

    @Test
    func taskThatOutlivesTheScopeStaysInIt() async {
        let (mayGoOn, resume) = AsyncStream.makeStream(of: Void.self)
        let straggler = PreferenceStore.withIsolatedStores {
            Task {
                for await _ in mayGoOn { break }
                Prefs.count.value = 99
                return (Prefs.count.value, PreferenceStore.standard.isolated == nil)
            }
        }
        resume.finish()
        let (value, isShared) = await straggler.value
        same(value, 99)
        #expect(!isShared, "what a test leaves running must not reach the user's store")
    }

    @Test
    func updatesIteratorGoesOnWithItsScope() async {
        var iterator = PreferenceStore.withIsolatedStores {
            let iterator = Prefs.count.updates.makeAsyncIterator()
            Prefs.count.value = 1
            return iterator
        }
        await PreferenceStore.withIsolatedStores {
            Prefs.count.value = 2
            await same(iterator.next(), 0)
            await same(iterator.next(), 1)
        }
    }

    @Test
    func observersHearOfTheirScopeAlone() {
        let recorder = Recorder<Int>()
        PreferenceStore.withIsolatedStores {
            let observation = Prefs.count.observe { recorder.record($0.new) }
            PreferenceStore.withIsolatedStores { Prefs.count.value = 1 }
            Prefs.count.value = 2
            observation.cancel()
        }
        same(recorder.elements, [2])
    }

    /// On the main actor: on another thread the repeated signal of the first set may be pending, and would deliver the second
    /// set, too.
    @Test
    @MainActor
    func observationTracksTheStoreOfTheScope() {
        let recorder = Recorder<String>()
        PreferenceStore.withIsolatedStores {
            for read in [{ _ = Prefs.count.value }, { _ = try? Prefs.count.read() }] {
                withObservationTracking(read) { recorder.record("changed") }
                Prefs.count.value += 1
            }
        }
        same(recorder.elements, ["changed", "changed"])
    }

    @Test
    func transactionUsesTheScopeAndIsUndoneInIt() throws {
        struct Refusal: Error {}
        try PreferenceStore.withIsolatedStores(["isolation.count": 1]) {
            try PreferenceStore.standard.transaction { transaction in
                transaction[Prefs.count] += 1
                transaction[Prefs.title] = "two"
            }
            #expect(throws: Refusal.self) {
                try PreferenceStore.standard.transaction { transaction in
                    transaction[Prefs.count] += 1
                    throw Refusal()
                }
            }
            same(PreferenceStore.standard.contents, ["isolation.count": 2, "isolation.title": "two"])
        }
    }

    @Test
    func boundPreferenceFollowsTheStoreItIsBoundTo() {
        PreferenceStore.withIsolatedStores {
            let mock = PreferenceStore.inMemory()
            Prefs.count.bound(to: mock).value = 3
            same(Prefs.count.value, 0)
            Prefs.theme.bound(to: .standard).value = "dark"
            same(PreferenceStore.standard.names, ["isolation.theme"])
            same(mock["isolation.count"], 3)
        }
    }

    @Test
    func issueHandlerBelongsToTheScope() {
        let recorder = Recorder<PreferenceError.Code>()
        PreferenceStore.withIsolatedStores(["isolation.count": "many"]) {
            PreferenceStore.standard.issueHandler = { recorder.record($0.code) }
            same(Prefs.count.value, 0)
            same(Prefs.count.value, 0)
            PreferenceStore.withIsolatedStores { PreferenceStore.standard.issueHandler = nil }
            Prefs.title.value = "none"
            PreferenceStore.standard["isolation.title"] = 1
            same(Prefs.title.value, "none")
        }
        same(recorder.elements, [.unreadable, .unreadable])
    }

    @Test(arguments: 0..<2)
    func layeredStoreOverASharedOneIsIsolatedToo(_: Int) {
        let count = Preference("isolation.count", default: 0, in: overStandard)
        let layer = Preference("isolation.layer", default: 0, in: overStandard)
        PreferenceStore.withIsolatedStores(["isolation.count": 4]) {
            same(count.value, 4)
            same(layer.value, 1, "the program's own layers aren't replaced")
            Prefs.count.value = 5
            same(count.value, 5)
            let nested = PreferenceStore.layered([overStandard])
            same(nested["isolation.count"], 5)
        }
    }

    @Test
    func layeredStoreMadeInAScopeIsNotTiedToIt() {
        let layered = PreferenceStore.withIsolatedStores(["isolation.count": 4]) {
            let layered = PreferenceStore.layered([.suite("isolation-tests"), .standard])
            same(layered["isolation.count"], 4)
            return layered
        }
        PreferenceStore.withIsolatedStores {
            same(layered["isolation.count"], nil)
            layered["isolation.flag"] = true
            same(PreferenceStore.suite("isolation-tests").contents, ["isolation.flag": true])
        }
    }
}
