import FileTestSupport
import Foundation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct ScopedAccount: PreferenceGroup {
    @Preference("theme") var theme = "system"
    @Preference("count") var count = 0
}

struct ScopedStoreTests {
    @Test(arguments: StoreKind.allCases)
    func scopeShowsItsNamesWithoutThePrefix(kind: StoreKind) throws {
        try kind.withStore { store in
            let account = ScopedAccount(in: store.scoped(prefix: "account.42."))
            let other = ScopedAccount(in: store.scoped(prefix: "account.7."))
            account.theme = "dark"
            other.count = 7
            store["theme"] = "light"
            store["account.42.count"] = 5
            same(account.count, 5)
            same(account.$theme.store.contents, ["theme": "dark", "count": 5])
            same(account.$theme.store.names, ["count", "theme"])
            same(store.names, ["account.42.count", "account.42.theme", "account.7.count", "theme"])
            #expect(account.$theme.isSet && account.$theme.source == .store)
            same("\(other.$theme)", "theme = system (default)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func changesReachBothSides(kind: StoreKind) throws {
        try kind.withStore { store in
            let scope = store.scoped(prefix: "a.")
            let whole = Preference("a.count", default: 0, in: store)
            let part = Preference("count", default: 0, in: scope)
            let seen = Recorder<String>()
            let observations = [
                whole.observe { seen.record("whole \($0.old) \($0.new)") },
                part.observe { seen.record("part \($0.old) \($0.new)") },
                part.observe(at: .willSet) { seen.record("will \($0.old) \($0.new)") },
                Preference("count", default: 0, in: store).observe { _ in seen.record("other") },
            ]
            whole.value = 1
            part.value = 2
            part.reset()
            store["b.count"] = 5
            same(
                seen.elements.sorted(),
                [
                    "part 0 1", "part 1 2", "part 2 0", "whole 0 1", "whole 1 2", "whole 2 0", "will 0 1", "will 1 2",
                    "will 2 0",
                ]
            )
            #expect(part.value == 0 && whole.value == 0)
            withExtendedLifetime(observations) {}
        }
    }

    @Test(arguments: StoreKind.allCases)
    func removeAllRemovesTheScopeAlone(kind: StoreKind) throws {
        try kind.withStore { store in
            store["x"] = 1
            store["a.x"] = 2
            store["a.y"] = 3
            store["ab"] = 4
            store.scoped(prefix: "a.").removeAll()
            same(store.contents, ["x": 1, "ab": 4])
        }
    }

    @Test
    func scopeOfALayeredStoreReadsTextBelowItsPrefix() throws {
        let user = PreferenceStore.inMemory()
        let layers = PreferenceStore.layered([
            .arguments(["-a.count", "3"]), .environment(["APP_A_THEME": "dark"], prefix: "APP"), user,
        ])
        let account = ScopedAccount(in: layers.scoped(prefix: "a."))
        #expect(account.count == 3 && account.theme == "dark")
        same(account.$count.source.name, "arguments")
        let issues = layers.recordIssues()
        account.count = 4
        #expect(account.count == 3 && user["a.count"] == 4)
        same(issues.elements.map(\.code), [.hidden])
    }

    @Test
    func oneScopeIsOneStoreWhileItIsHeld() throws {
        let store = PreferenceStore.inMemory()
        let scope = store.scoped(prefix: "a.")
        #expect(store.scoped(prefix: "a.") === scope && store.scoped(prefix: "b.") !== scope)
        same(ScopedAccount(in: store.scoped(prefix: "a.")).$count, ScopedAccount(in: scope).$count)
        try store.scoped(prefix: "a.").transaction { $0[ScopedAccount(in: scope).$count] = 4 }
        same(store["a.count"], 4)
    }

    @Test
    func valueInEachOfTwoLayersOfOneSourceIsReportedUntilItChanges() {
        let store = PreferenceStore.inMemory(["a.v": 50, "v": 60])
        let issues = Recorder<String>()
        let layered = PreferenceStore.layered([store.scoped(prefix: "a."), store])
        layered.issueHandler = { issues.record($0.message) }
        let volume = Preference("v", default: 5, .range(0...10), in: layered)
        same(volume.value, 5)
        same(issues.elements.count, 2)
        store["v"] = 70
        same(volume.value, 5)
        same(issues.elements.count, 3)
    }

    @Test(.timeLimit(.minutes(5)))
    func nameThatIsThePrefixAloneIsNotTheScopes() throws {
        let store = PreferenceStore.inMemory(["theme": "dark"])
        try store.scoped(prefix: "theme").transaction { transaction in
            #expect(transaction.contents.isEmpty)
            transaction["B"] = 2
        }
        same(store.contents, ["theme": "dark", "themeB": 2])
    }

    @Test
    func emptyNameOfAScopeIsInvalid() {
        let scope = PreferenceStore.inMemory().scoped(prefix: "a.")
        #expect(throws: PreferenceError.self) { try scope.write(1, for: "") }
        #expect(scope.contents.isEmpty)
    }

    @Test
    func prefixMatchesHoweverItsCharactersAreComposed() {
        let store = PreferenceStore.inMemory(["cafe\u{301}.x": 1])
        same(store.scoped(prefix: "caf\u{e9}.").contents, ["x": 1])
        same(store.scoped(prefix: "caf\u{e9}.")["x"], 1)
    }

    @Test
    func scopeOfASharedStoreIsIsolatedWithIt() {
        let scope = PreferenceStore.standard.scoped(prefix: "scoped-store-tests.")
        let count = Preference("count", default: 0, in: scope)
        PreferenceStore.withIsolatedStores(["scoped-store-tests.count": 4]) {
            same(count.value, 4)
            count.value = 5
            same(PreferenceStore.standard["scoped-store-tests.count"], 5)
        }
        same(count.value, 0)
    }

    @Test
    func severalPreferencesAreResetAsOneChange() async {
        let store = PreferenceStore.inMemory(["a": 1, "b": "x", "c": 1])
        let (a, b) = (Preference("a", default: 0, in: store), Preference("b", default: "", in: store))
        var changes = store.changes.makeAsyncIterator()
        store.reset(a, b)
        await same(changes.next()?.names, ["a", "b"])
        same(store.names, ["c"])
        let issues = store.recordIssues()
        store.reset(Preference("c", default: 0, in: store), Preference("d", default: 0, in: .inMemory()))
        same(issues.elements.map(\.code), [.wrongStore])
        same(store.names, ["c"])
    }

    @Test
    func subscriptSetsAndWriteThrows() throws {
        let store = PreferenceStore.inMemory()
        store["a"] = 1
        same(store["a"], 1)
        store["a"] = nil
        #expect(store.contents.isEmpty)
        try store.write("x", for: "b")
        same(store["b"], "x")
        let readOnly = PreferenceStore.layered([.arguments(["-a", "1"])])
        let issues = readOnly.recordIssues()
        #expect(throws: PreferenceError.self) { try readOnly.write(1, for: "a") }
        #expect(issues.elements.isEmpty)
        readOnly["a"] = 1
        same(issues.elements.map(\.code), [.readOnly])
        #expect(readOnly.issueHandler != nil)
        readOnly.issueHandler = nil
        #expect(readOnly.issueHandler == nil)
    }

    @Test
    func issuesOfAScopeHaveTheWholeNameAndComeOnce() throws {
        let backend = FaultInjectingBackend(["a.count": "x", "b.count": 1])
        let store = PreferenceStore.layered([.arguments([]), PreferenceStore(backend: backend)])
        let issues = store.recordIssues()
        let (a, b) = (ScopedAccount(in: store.scoped(prefix: "a.")), ScopedAccount(in: store.scoped(prefix: "b.")))
        #expect(a.count == 0 && b.count == 1)
        same(issues.elements.map(\.name), ["a.count"])
        #expect(throws: PreferenceError.self) { try a.$count.read() }
        same(issues.elements.count, 1)
    }

    @Test
    func storeReturnsItsFile() throws {
        let folder = try TemporaryFolder()
        let url = URL(filePath: folder.path("preferences.jsonl"))
        let store = try PreferenceStore.file(at: url)
        same(store.location?.path, url.path)
        same(PreferenceStore.layered([.arguments([]), store]).location?.path, url.path)
        same(store.scoped(prefix: "a.").location?.path, url.path)
        same(PreferenceStore.inMemory().location, nil)
    }

    @Test(arguments: StoreKind.allCases)
    func transactionOfAScopeConflictsWithItsOwnNamesAlone(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let scope = store.scoped(prefix: "a.")
            store["a.x"] = 1
            var runs = 0
            // Names of other scopes come and go while the transaction reads all of its own.
            try await scope.transaction { transaction in
                runs += 1
                same(transaction.contents, ["x": 1])
                store["b.x"] = .integer(Int64(runs))
            }
            same(runs, 1)
            try await scope.transaction { transaction in
                runs += 1
                transaction["names"] = .integer(Int64(transaction.names.count))
                if runs == 2 { store["a.x"] = 2 }
            }
            same(runs, 3)
            same(store.contents, ["a.x": 2, "a.names": 1, "b.x": 1])
        }
    }
}

struct ScopeIdentifierTests {
    private static let identifiers = [
        "a@example.com", "a@example.com.au", "a@example", "a", "a.", ".a", "", ".", "..", "%2E", "a%2Eb", "a.b",
        "ü.%",
    ]

    @Test
    func scopeOfAnIdentifierIsInNoOther() throws {
        let store = PreferenceStore.inMemory([:])
        for id in Self.identifiers { try store.scoped("account", id: id).write(.string(id), for: "name.of") }
        same(store.names.count, Self.identifiers.count)
        for id in Self.identifiers {
            same(store.scoped("account", id: id).contents, ["name.of": .string(id)])
        }
        for (index, id) in Self.identifiers.enumerated() {
            store.scoped("account", id: id).removeAll()
            same(store.names.count, Self.identifiers.count - index - 1)
        }
    }

    @Test
    func identifierIsInTheStoredNames() throws {
        let store = PreferenceStore.inMemory([:])
        try store.scoped("account", id: "a@example.com").write(1, for: "a.b")
        try store.scoped("account", id: "42").write(1, for: "a")
        same(store.names.sorted(), ["account.42.a", "account.a@example%2Ecom.a.b"])
        #expect(store.scoped("account", id: "42") === store.scoped(prefix: "account.42."))
    }
}
