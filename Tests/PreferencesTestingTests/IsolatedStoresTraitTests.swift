import FileTestSupport
import Preferences
import PreferencesTesting
import TestSupport
import Testing

private enum Prefs {
    static let count = Preference("trait.count", default: 0)
    static let theme = Preference("trait.theme", default: "light", in: .suite("trait-tests"))
}

/// Created before the body of any test runs, like the properties of a suite.
private struct Model {
    let initial = Prefs.count.value

    func add(_ number: Int) async throws -> Int {
        for _ in 0..<number {
            try await Prefs.count.update { $0 += 1 }
            await Task.yield()
        }
        return Prefs.count.value
    }
}

/// Tests that write the same names at the same time, each as if it ran alone.
@Suite(.isolatedStores)
struct IsolatedStoresTraitTests {
    private let model = Model()

    @Test(arguments: 1...rounds(200))
    func eachCaseHasStoresOfItsOwn(number: Int) async throws {
        same(model.initial, 0)
        #expect(PreferenceStore.standard.contents.isEmpty)
        same(Prefs.theme.value, "light")
        Prefs.theme.value = "\(number)"
        try await same(model.add(number), number)
        same(Prefs.theme.value, "\(number)")
        same(PreferenceStore.standard.contents, ["trait.count": .integer(Int64(number))])
    }

    @Test(.isolatedStores(["trait.count": 7]))
    func traitOfATestCountsBeforeThatOfItsSuite() async throws {
        same(model.initial, 7)
        try await same(model.add(1), 8)
    }

    struct Nested {
        @Test
        func nestedSuiteHasTheTraitToo() {
            #expect(PreferenceStore.standard.contents.isEmpty)
            Prefs.count.value = 1
        }

        @Test
        func andSoHasItsNextTest() {
            #expect(PreferenceStore.standard.contents.isEmpty)
            Prefs.count.value = 2
        }
    }
}

@Suite(.isolatedStores(["trait.count": 3]))
struct PreparedStoresTraitTests {
    @Test(arguments: 1...3)
    func contentsAreThereForEachCase(number: Int) {
        same(PreferenceStore.standard.contents, ["trait.count": 3])
        Prefs.count.reset()
        same(Prefs.count.value, 0)
    }
}
