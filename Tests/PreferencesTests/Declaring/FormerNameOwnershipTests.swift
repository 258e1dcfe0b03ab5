import FileTestSupport
import Observation
import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

/// A former name belongs to one preference: in a store, in its layers and scopes, and in the store that replaces it in isolation.
struct FormerNameOwnershipTests {
    private let issues = Recorder<PreferenceError>()

    private func record(_ store: PreferenceStore) { store.issueHandler = { [issues] in issues.record($0) } }

    // MARK: One store

    @Test(arguments: [true, false])
    func nameOfAnotherPreferenceIsIgnored(isDeclaredFirst: Bool) {
        let store = PreferenceStore.inMemory(["b": 1])
        let issues = store.recordIssues()
        let other = isDeclaredFirst ? Preference("b", default: 0, in: store) : nil
        let preference = Preference("a", default: 5, .formerly("b"), in: store)
        if !isDeclaredFirst { same(preference.value, 1) }
        let later = other ?? Preference("b", default: 0, in: store)
        #expect(preference.value == 5 && later.value == 1)
        preference.value = 6
        #expect(later.value == 1 && store.contents == ["a": 6, "b": 1])
        #expect(issues.elements.map(\.code) == [.misuse] && issues.elements.map(\.name) == ["a"])
    }

    @Test
    func formerNameOfAnotherPreferenceIsIgnored() {
        let store = PreferenceStore.inMemory(["old": 1])
        let issues = store.recordIssues()
        let first = Preference("a", default: 5, .formerly("old"), in: store)
        let second = Preference("b", default: 5, .formerly("old"), in: store)
        #expect(first.value == 1 && second.value == 5)
        #expect(issues.elements.map(\.code) == [.misuse] && issues.elements.map(\.name) == ["b"])
    }

    @Test
    func nameOfAReleasedPreferenceMayBeAFormerOne() {
        let store = PreferenceStore.inMemory()
        store.issueHandler = { Issue.record($0) }
        Preference("vol", default: 0, in: store).value = 3
        same(Preference("volume", default: 5, .formerly("vol"), in: store).value, 3)
    }

    @Test
    func releasedPreferenceHasNoFormerNames() {
        let store = PreferenceStore.inMemory(["old": 1])
        store.issueHandler = { Issue.record($0) }
        same(Preference("a", default: 0, .formerly("old"), in: store).value, 1)
        let later = Preference("b", default: 0, .formerly("old"), in: store)
        #expect(later.value == 1 && store.core.formerNames(of: "a").isEmpty)
    }

    @Test
    func ignoredNameStaysIgnoredWhileBothAreDeclared() {
        let store = PreferenceStore.inMemory(["b": 1])
        record(store)
        let first = Preference("a", default: 5, .formerly("b", "c"), in: store)
        do {
            let other = Preference("b", default: 0, in: store)
            for _ in 0..<2 {
                let again = Preference("a", default: 5, .formerly("b", "c"), in: store)
                #expect(again.value == 5 && first.value == 5 && other.value == 1)
            }
            same(store.core.formerNames(of: "a"), ["c"])
        }
        // In the order of the declaration, although it is in use last.
        let again = Preference("a", default: 5, .formerly("b", "c"), in: store)
        #expect(again.value == 1 && store.core.formerNames(of: "a") == ["b", "c"])
        same(issues.elements.map(\.code), [.misuse])
    }

    @Test
    func ignoredNameOfASecretIsNoSecret() throws {
        let store = PreferenceStore.inMemory(["pin": 3])
        record(store)
        let pin = Preference("pin", default: 5, in: store)
        let token = Preference<String?>("token", .secret, .formerly("pin", "code"), in: store)
        #expect(!pin.isSecret && store.isSecret("code"), "before the first use")
        #expect(token.value == nil && !pin.isSecret && "\(pin)" == "pin = 3 (store)")
        #expect(store.isSecret("code") && issues.elements.map(\.code) == [.misuse])
    }

    @Test
    func emptyNameIsReportedAndIgnored() throws {
        let store = PreferenceStore.inMemory(["a.": 4])
        record(store)
        let scope = store.scoped(prefix: "a.")
        for _ in 0..<2 {
            let scoped = Preference("volume", default: 5, .formerly("", "vol"), in: scope)
            #expect(scoped.value == 5 && AnyPreference(scoped).formerNames == ["vol"])
        }
        let volume = Preference("volume", default: 5, .formerly(""), in: store)
        try volume.write(6)
        #expect(volume.value == 6 && issues.elements.map(\.name) == ["a.volume", "volume"])
        #expect(issues.elements.allSatisfy { $0.code == .misuse && $0.message.hasPrefix("an empty former name") })
    }

    // MARK: Names that are declared late

    @Test(arguments: [true, false])
    func lateDeclarationNotifiesOfWhatItChanges(isOfTheFormerName: Bool) async {
        let store = PreferenceStore.inMemory(["b": 1])
        store.issueHandler = { _ in }
        let plain = Preference("a", default: 5, in: store)
        let first = isOfTheFormerName ? Preference("a", default: 5, .formerly("b"), in: store) : plain
        let (old, new) = isOfTheFormerName ? (1, 5) : (5, 1)
        let (seen, tracked) = (Recorder<String>(), Recorder<Int>())
        let observation = first.observe { seen.record("\($0.old) → \($0.new)") }
        var updates = plain.updates.makeAsyncIterator()
        await same(updates.next(), old)
        withObservationTracking {
            _ = first.value
        } onChange: {
            tracked.record(1)
        }
        let later =
            isOfTheFormerName
            ? Preference("b", default: 0, in: store) : Preference("a", default: 5, .formerly("b"), in: store)
        #expect(first.value == new && plain.value == new)
        await same(updates.next(), new)
        await eventually { seen.elements.count == 1 && tracked.elements.count == 1 }
        same(seen.elements, ["\(old) → \(new)"])
        // The thread that notified may still be about to stop delivering, and then also delivers this change.
        first.value = 7
        await eventually { seen.elements.count == 2 }
        same(seen.elements, ["\(old) → \(new)", "\(new) → 7"])
        withExtendedLifetime((observation, later)) {}
    }

    @Test
    func threadKnowsTheNamesThatItDeclared() async {
        let names = (0..<500).map { "name\($0)" }
        let store = PreferenceStore.inMemory(Dictionary(uniqueKeysWithValues: names.map { ("former.\($0)", 3) }))
        let seen = Recorder<Int>()
        let isDone = Counter()
        await onThreads(2) { thread in
            if thread == 0 {
                for name in names {
                    seen.record(Preference(name, default: 5, .formerly("former.\(name)"), in: store).value)
                }
                _ = isDone.next()
            } else {
                // This thread often checks what the other one has declared, and must not let it go on before that is done.
                while isDone.value == 0 { _ = store["other"] }
            }
        }
        #expect(seen.elements.filter { $0 != 3 }.isEmpty)
    }

    // MARK: Several stores over one source

    @Test
    func samePreferenceInTwoStoresKeepsItsFormerName() {
        let base = PreferenceStore.inMemory(["vol": 3])
        let layered = PreferenceStore.layered([.arguments([]), base])
        for store in [base, layered] { store.issueHandler = { Issue.record($0) } }
        let volumes = [base, layered].map { Preference("volume", default: 5, .formerly("vol"), in: $0) }
        for _ in 0..<2 { same(volumes.map(\.value), [3, 3]) }
        volumes[1].value = 6
        #expect(volumes.map(\.value) == [6, 6] && base.contents == ["volume": 6])
    }

    // MARK: Isolated stores

    @Test
    func isolatedStoreKnowsThemAtItsFirstUse() throws {
        let volume = Preference("own.volume", default: 5, .formerly("own.vol"))
        let reads: [(PreferenceStore) throws -> Bool] = [
            { _ in volume.value == 3 }, { _ in volume.isSet }, { _ in volume.storedValue == 3 },
            { _ in volume.source == .store }, { _ in try volume.read() == 3 },
            { store in try store.transaction { $0[volume] == 3 } },
        ]
        for read in reads {
            let isKnown = try PreferenceStore.withIsolatedStores(["own.vol": 3]) { try read(.standard) }
            #expect(isKnown)
        }
        let gain = Preference("own.gain", default: 0)
        let changes: [(expected: [String: PropertyListValue], change: (PreferenceStore) throws -> Void)] = [
            (["own.volume": 4], { _ in volume.value = 4 }),
            (["own.volume": 4], { _ in try volume.update { $0 += 1 } }),
            (["own.volume": 4], { store in try store.transaction { $0[volume] += 1 } }),
            ([:], { _ in volume.reset() }), ([:], { store in store.reset(volume) }),
            ([:], { _ in try AnyPreference(volume).write(nil) }),
            (["own.gain": 3], { _ in gain.migrate(from: volume) }),
            (["own.volume": 3], { _ in volume.migrate(from: "own.vol") }),
            (
                ["own.volume": 30, "preferences.version": 1],
                { store in try store.migrate(to: 1, steps: [.init(1) { $0[volume]? *= 10 }]) }
            ),
        ]
        for (expected, change) in changes {
            let contents = try PreferenceStore.withIsolatedStores(["own.vol": 3]) {
                try change(.standard)
                return PreferenceStore.standard.contents
            }
            same(contents, expected)
        }
    }

    @Test
    func isolatedStoreKnowsThoseDeclaredLaterAndInItsScopes() throws {
        try PreferenceStore.withIsolatedStores(["late.vol": 3, "late.a.vol": 4]) { () throws in
            let store = PreferenceStore.standard
            same(store.contents.count, 2)
            let volume = Preference("late.volume", default: 5, .formerly("late.vol"))
            let value = try store.transaction { $0[volume] }
            same(value, 3)
            let scope = store.scoped(prefix: "late.a.")
            let scoped = Preference("volume", default: 5, .formerly("vol"), in: scope)
            let scopedValue = try scope.transaction { $0[scoped] }
            same(scopedValue, 4)
            let layered = PreferenceStore.layered([.arguments([]), store])
            let other = Preference("late.gain", default: 5, .secret, .formerly("late.secret"), in: layered)
            #expect(layered.isSecret("late.secret") && !other.isSet)
        }
    }

    @Test
    func isolatedStoreIgnoresTheNameOfAnotherPreference() {
        let issues = issues
        let other = Preference("taken", default: 0)
        let volume = Preference("taken.volume", default: 5, .formerly("taken"))
        PreferenceStore.withIsolatedStores(["taken": 1]) {
            PreferenceStore.standard.issueHandler = { issues.record($0) }
            for _ in 0..<2 { #expect(volume.value == 5 && other.value == 1) }
            volume.value = 6
            volume.reset()
            same(other.value, 1)
        }
        same(issues.elements.map(\.code), [.misuse])
    }

    @Test
    func isolatedStoreKeepsThemWithManyNames() {
        let volume = Preference("many.volume", default: 5, .formerly("many.vol"))
        PreferenceStore.withIsolatedStores(["many.vol": 3]) {
            for number in 0..<200 { _ = Preference("many.\(number)", default: 1).value }
            #expect(volume.value == 3 && volume.isSet)
            volume.reset()
            #expect(PreferenceStore.standard.contents.isEmpty)
        }
    }

    @Test
    func ignoredNameIsNotInTheSchema() throws {
        struct Chain: PreferenceGroup {
            @Preference("a", .formerly("b", "c")) var a = 1
            @Preference("b", .formerly("d")) var b = 2
        }
        let store = PreferenceStore.inMemory()
        store.issueHandler = { _ in }
        let schema = try Chain(in: store).jsonSchema()
        #expect(schema.contains(#""x-formerly":["c"]"#) && schema.contains(#""x-formerly":["d"]"#))
    }
}
