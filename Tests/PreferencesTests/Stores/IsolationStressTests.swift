import FileTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Preferences

private enum Prefs {
    static let flag = Preference("stress.flag", default: false)
    static let number = Preference("stress.number", default: 0)
    static let text = Preference("stress.text", default: "none")
    static let suite = Preference("stress.number", default: 0, in: .suite("isolation-stress"))
    static let layered = Preference("stress.number", default: 0, in: .layered([.suite("isolation-stress"), .standard]))
}

struct IsolationStressTests {
    /// Writes values that no other scope writes, and counts the values of other scopes that it then finds.
    private static func foreignValues(of identity: Int) async -> Int {
        var count = PreferenceStore.standard.contents.count + PreferenceStore.suite("isolation-stress").contents.count
        func note(_ isForeign: Bool) { if isForeign { count += 1 } }
        for step in 0..<3 {
            Prefs.flag.value = identity % 2 == 0
            Prefs.number.value = identity
            Prefs.text.value = "scope \(identity)"
            if step > 0 { note(Prefs.layered.value != -identity) }
            Prefs.suite.value = -identity
            await Task.yield()
            note(Prefs.flag.value != (identity % 2 == 0))
            note(Prefs.number.value != identity)
            note(Prefs.text.value != "scope \(identity)")
            note(Prefs.suite.value != -identity)
            async let child = Prefs.number.value
            note(await child != identity)
        }
        return count
    }

    @Test
    func twoHundredScopesAtOnceNeverMeet() async {
        for round in 0..<rounds(50) {
            let foreign = await withTaskGroup(of: Int.self) { group in
                for number in 1...200 {
                    group.addTask {
                        await PreferenceStore.withIsolatedStores { await Self.foreignValues(of: round * 200 + number) }
                    }
                }
                return await group.reduce(0, +)
            }
            same(foreign, 0)
        }
    }

    /// Values that are cached by reads outside of scopes, while scopes open and close on other threads, are never read in a
    /// scope, nor a scope's values outside of it. The shared store here is in memory and isolated as `.standard` is.
    @Test
    func readsOutsideOfScopesRaceWithOpeningAndClosing() async {
        let shared = PreferenceStore.isolatable(["stress.number": -1, "stress.text": "shared"])
        let number = Preference("stress.number", default: 0, in: shared)
        let text = Preference("stress.text", default: "default", in: shared)
        let race = Race()

        await withTaskGroup { group in
            group.addTask {
                while !race.isDone.load(ordering: .acquiring) {
                    race.note(number.value != -1 || text.value != "shared")
                    await Task.yield()
                }
            }
            await withTaskGroup { scopes in
                for _ in 0..<2 {
                    scopes.addTask {
                        for round in 1...rounds(2_000) {
                            PreferenceStore.withIsolatedStores {
                                race.note(number.value != 0 || text.value != "default")
                                number.value = round
                                race.note(number.value != round)
                            }
                            race.note(number.value != -1)
                            if round % 16 == 0 { await Task.yield() }
                        }
                    }
                }
            }
            race.isDone.store(true, ordering: .releasing)
        }
        same(race.mistakes.load(ordering: .relaxed), 0)
        same(shared.contents, ["stress.number": -1, "stress.text": "shared"])
    }
}

private final class Race: Sendable {
    let isDone = Atomic<Bool>(false)
    let mistakes = Atomic<Int>(0)

    func note(_ isMistake: Bool) {
        if isMistake { mistakes.wrappingAdd(1, ordering: .relaxed) }
    }
}
