import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// The text of a secret value, which must not be shown anywhere.
let planted = "hunter2-planted"

private struct Account: Codable, Sendable, Equatable {
    var token = planted
    var count = 1
}

/// Returns the texts that a program may print of a value.
private func texts(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(reflecting: value), "\([value])", "\(Optional(value) as Any)", dumped]
}

/// The ways in which a preference becomes a secret.
private enum Secrecy: CaseIterable {
    case declaration, otherDeclaration, store, layerOfStore, scope, layeredStore, none

    /// Returns the preference's store, whether its declaration makes it a secret, and the objects to keep until it is used.
    func make() -> (store: PreferenceStore, isSecret: Bool, kept: [Any]) {
        let store = PreferenceStore.inMemory()
        func declared(in store: PreferenceStore, as name: String = "token") -> Preference<Int> {
            let other = Preference(name, default: 0, .secret, in: store)
            _ = other.isSet
            return other
        }
        switch self {
        case .declaration: return (store, true, [])
        case .otherDeclaration: return (store, false, [declared(in: store)])
        case .store: return (PreferenceStore(backend: MemoryBackend(), isSecret: true), false, [])
        case .layerOfStore:
            let keyring = PreferenceStore(backend: MemoryBackend(), isSecret: true)
            return (.layered([.environment(prefix: "SECRETS"), keyring.scoped(prefix: "app.")]), false, [])
        case .scope: return (store.scoped(prefix: "app."), false, [declared(in: store, as: "app.token")])
        case .layeredStore: return (store, false, [declared(in: .layered([.arguments([]), store]))])
        case .none: return (store, false, [])
        }
    }
}

struct SecretTests {
    private struct Credentials: PreferenceGroup {
        @Preference("token") var token = planted
        @Preference("volume") var volume = 5
    }

    @Test(arguments: Secrecy.allCases)
    private func describedSecretIsRedacted(secrecy: Secrecy) async throws {
        let (store, isSecret, kept) = secrecy.make()
        let token = Preference<String?>("token", .choices([planted]), isSecret ? .secret : .title(""), in: store)
        let whole = Preference("token", default: Account(), isSecret ? .secret : .title(""), in: store)
        let group = Credentials(in: store)
        let changes = Recorder<PreferenceChange<String?>>()
        let observation = token.observe(includingCurrent: true) { changes.record($0) }
        var storeChanges = store.changes.makeAsyncIterator()
        var shown = texts(of: token) + texts(of: group) + texts(of: whole[\.token])
        token.value = planted
        group.volume = 7
        try await store.transaction { transaction in
            same(transaction[token], planted)
            transaction[token] = nil
            transaction["token"] = .string(planted)
            shown += texts(of: transaction)
        }
        token.reset()
        shown += texts(of: token)
        token.value = planted
        shown +=
            texts(of: token) + texts(of: AnyPreference(token)) + AnyPreference(token).rules.flatMap { texts(of: $0) }
        shown += texts(of: group) + texts(of: group.preferences) + texts(of: store) + texts(of: token.updates)
        shown += texts(of: observation) + texts(of: store.changes)
        for change in changes.elements { shown += texts(of: change) }
        let count = changes.elements.count
        same(count, 4)
        var names: Set<String> = []
        for _ in 0..<4 {
            let change = try #require(await storeChanges.next())
            names.formUnion(change.names)
            shown += texts(of: change)
        }
        same(names, ["token", "volume"])
        if secrecy == .none {
            #expect(shown.contains("token = \(planted) (store)") && shown.contains("\"\(planted)\""))
            #expect(shown.contains("token: nil → \(planted) (local)"))
            #expect(shown.contains("token: nil → \"\(planted)\" (local)"))
        } else {
            for text in shown { #expect(!text.contains("planted")) }
            #expect(shown.contains("token = <redacted> (store)") && shown.contains("token = <redacted> (default)"))
            #expect(shown.contains("token: <redacted> → <redacted> (local)"))
            #expect(shown.contains("token: nil → <redacted> (local)"))
        }
        #expect(token.isSecret == (secrecy != .none) && AnyPreference(token).isSecret == token.isSecret)
        // The caller still gets the value itself.
        #expect(token.value == planted && store["token"] == .string(planted) && changes.elements[3].new == planted)
        withExtendedLifetime(kept) {}
    }

    @Test
    func otherNamesOfTheStoreAreShown() async throws {
        let store = PreferenceStore.inMemory()
        let token = Preference("token", default: "", .secret, in: store)
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        let changes = Recorder<String>()
        let observation = volume.observe { changes.record("\($0)") }
        var storeChanges = store.changes.makeAsyncIterator()
        try await store.transaction { transaction in
            transaction[token] = planted
            transaction[volume] = 7
        }
        #expect("\(volume)" == "volume = 7 (store)" && "\(AnyPreference(volume).rules)" == "[0...10]")
        same(changes.elements, ["volume: 5 → 7 (local)"])
        let change = try #require(await storeChanges.next())
        same("\(change)", "token: nil → <redacted>, volume: nil → 7 (local)")
        #expect(texts(of: change).allSatisfy { !$0.contains("planted") })
        same(texts(of: change).last?.contains("volume"), true)
        observation.cancel()
    }

    @Test
    func secretOfASharedStoreIsASecretInItsIsolatedStore() async throws {
        let suite = PreferenceStore.suite("secrets-\(#line)")
        _ = Preference("token", default: "", .secret, in: suite)
        try await PreferenceStore.withIsolatedStores {
            var changes = suite.changes.makeAsyncIterator()
            suite["token"] = .string(planted)
            let change = try #require(await changes.next())
            #expect(texts(of: change).allSatisfy { !$0.contains("planted") })
            #expect(Preference("token", default: "", in: suite).isSecret)
        }
    }

    @Test
    func memberAndBoundPreferenceOfASecretAreSecrets() {
        let account = Preference("account", default: Account(), .secret, in: .inMemory())
        #expect(account[\.token].isSecret && account.bound(to: .inMemory()).isSecret)
        let kept = Preference(
            "account",
            default: Account(),
            in: PreferenceStore(backend: MemoryBackend(), isSecret: true)
        )
        #expect(kept.isSecret && !kept.bound(to: .inMemory()).isSecret)
    }
}

// MARK: Errors

private struct PlantedError: Error { let value: String }

/// A reason for which reading or setting a value fails.
private enum Fault: CaseIterable, Sendable {
    case type, member, key, rawValue, argument, variable, ownDecoding, ownEncoding, collection
    case choices, range, check, throwingCheck, optionalChoices

    /// Returns the errors that all ways to read and set the value throw and report.
    func errors(isSecret: Bool) async -> [PreferenceError] {
        let stored = PropertyListValue.string(planted)
        switch self {
        case .type: return await errors(stored, 0, isSecret: isSecret)
        case .member:
            let account: PropertyListValue = ["token": "x", "count": stored]
            return await errors(account, Account(), isSecret: isSecret)
        case .key: return await errors([planted: "x"], ["": 1], isSecret: isSecret)
        case .rawValue:
            enum Look: String { case dark }
            let store = PreferenceStore.inMemory(["token": stored])
            return await errors(
                Preference("token", default: Look.dark, isSecret ? .secret : .title(""), in: store)
            )
        case .argument:
            let store = PreferenceStore.layered([.arguments(["-token", planted]), .inMemory()])
            return await errors(Preference("token", default: 0, isSecret ? .secret : .title(""), in: store))
        case .variable:
            let store = PreferenceStore.layered([.environment(["P_TOKEN": planted], prefix: "P"), .inMemory()])
            return await errors(Preference<Int?>("token", isSecret ? .secret : .title(""), in: store))
        case .ownDecoding:
            let coding = PreferenceCoding<String>("own") {
                .string($0)
            } decode: {
                throw PlantedError(value: "\($0)")
            }
            let store = PreferenceStore.inMemory(["token": stored])
            return await errors(
                Preference("token", default: "", coding: coding, isSecret ? .secret : .title(""), in: store)
            )
        case .ownEncoding:
            let coding = PreferenceCoding<String>("own") { value in
                throw PreferenceError(
                    .tooLarge,
                    "too large: \(value)",
                    codingPath: [value],
                    cause: PlantedError(value: value)
                )
            } decode: {
                try String(storedValue: $0)
            }
            let preference = Preference(
                "token",
                default: "",
                coding: coding,
                isSecret ? .secret : .title(""),
                in: .inMemory()
            )
            return await errors(preference, setting: planted)
        case .collection: return await errors([1, stored], [0], isSecret: isSecret)
        case .choices: return await errors(stored, "a", .choices(["a", "planted-too"]), planted, isSecret: isSecret)
        case .range: return await errors(stored, "a", .range("a"..."b"), planted, isSecret: isSecret)
        case .check: return await errors(stored, "a", .check { $0.count == 1 }, planted, isSecret: isSecret)
        case .throwingCheck:
            let rule = PreferenceOption<String>.check { throw PlantedError(value: $0) }
            return await errors(stored, "a", rule, planted, isSecret: isSecret)
        case .optionalChoices:
            return await errors(stored, "a", PreferenceOption<String?>.choices(["a"]), planted, isSecret: isSecret)
        }
    }

    private func errors<Value: PreferenceValue>(
        _ stored: PropertyListValue,
        _ value: Value,
        _ rule: PreferenceOption<Value> = .description(""),
        _ bad: Value? = nil,
        isSecret: Bool
    ) async -> [PreferenceError] {
        let store = PreferenceStore.inMemory(["token": stored])
        return await errors(
            Preference("token", default: value, rule, isSecret ? .secret : .title(""), in: store),
            setting: bad
        )
    }

    private func errors(
        _ stored: PropertyListValue,
        _ value: Account,
        isSecret: Bool
    ) async -> [PreferenceError] {
        let store = PreferenceStore.inMemory(["token": stored])
        let whole = Preference("token", default: value, isSecret ? .secret : .title(""), in: store)
        return await errors(whole, setting: nil) + errors(whole[\.count], setting: 2)
    }

    private func errors<Value>(
        _ preference: Preference<Value>,
        setting bad: Value? = nil
    ) async -> [PreferenceError] {
        let store = preference.store
        let found = store.recordIssues()
        func note(_ body: () throws -> Void) {
            do { try body() } catch { found.record(PreferenceError(.conflict, from: error)) }
        }
        let (value, stored) = (preference.defaultValue, preference.storedValue)
        _ = preference.value
        note { _ = try preference.read() as Any }
        note { try preference.update { $0 = bad ?? value } }
        note { try store.transaction { transaction in _ = transaction[preference] } }
        note { try AnyPreference(preference).write(stored) }
        if let bad {
            preference.value = bad
            note { try preference.write(bad) }
            note { try store.transaction { transaction in transaction[preference] = bad } }
            do { try await preference.write(bad) } catch { found.record(error) }
        }
        // Moves it to a store with the same handler, unchanged and with a mapping.
        let target = PreferenceStore.inMemory()
        target.issueHandler = { found.record($0) }
        Preference("moved", default: value, coding: preference.declaration.coding, in: target).migrate(from: preference)
        Preference("mapped", default: "", in: target).migrate(from: preference) {
            throw PlantedError(value: "\($0)\(planted)")
        }
        return found.elements
    }
}

struct SecretErrorTests {
    @Test(arguments: Fault.allCases)
    private func errorOfASecretDoesNotShowIt(fault: Fault) async {
        let errors = await fault.errors(isSecret: true)
        // An element that can't be decoded is only reported: the rest of the value is read.
        #expect(errors.count >= (fault == .key || fault == .collection ? 1 : 3))
        for error in errors {
            for text in texts(of: error) + [error.errorDescription ?? ""] { #expect(!text.contains("planted")) }
            #expect(error.name == "token" || error.code == .hidden, "\(error)")
        }
        #expect(errors.contains { $0.message.contains("<redacted>") } || fault == .ownEncoding)
    }

    @Test(arguments: Fault.allCases)
    private func errorOfAValueThatIsNotASecretShowsIt(fault: Fault) async {
        let errors = await fault.errors(isSecret: false)
        #expect(errors.contains { "\($0)".contains("planted") }, "\(errors)")
        same(errors.count { $0.message.contains("<redacted>") }, 0)
        let codes = await fault.errors(isSecret: true).map(\.code)
        same(errors.map(\.code), codes)
    }

    @Test
    func messageSaysThatTheStoredValueIsKept() throws {
        let store = PreferenceStore.layered([.arguments(["-token", "x"]), .inMemory(["token": "y"])])
        let issues = Recorder<String>()
        store.issueHandler = { issues.record("\($0)") }
        let token = Preference("token", default: 0, .range(0...9), .secret, in: store)
        same(token.value, 0)
        same(
            issues.elements,
            [
                #"preference "token": <redacted>, from the layer "arguments" (--token), can't be used: "#
                    + "expected Int, found <redacted>; the default is used",
                #"preference "token": expected Int, found <redacted>; the default is used and the stored value is kept"#,
            ]
        )
        let error = try #require(throws: PreferenceError.self) { try token.write(10) }
        same(error.code, .invalid)
        same(error.message, "<redacted> is rejected by the preference's rule; nothing was changed")
    }

    @Test(arguments: [true, false])
    func valueThatMovesToASecretIsNotShown(isSourceSecret: Bool) {
        let store = PreferenceStore.inMemory(["former": .string(planted)])
        let target = PreferenceStore(backend: MemoryBackend(), isSecret: !isSourceSecret)
        let issues = target.recordIssues()
        let token = Preference("token", default: 0, in: target)
        token.migrate(from: Preference("former", default: 0, isSourceSecret ? .secret : .title(""), in: store))
        let text = Preference("former", default: "", .choices(["planted-too"]), in: store)
        token.migrate(from: text) { _ in 0 }
        let other = Preference("former", default: "", in: store)
        token.migrate(from: other) { throw PreferenceError(.managed, "not \($0)") }
        same(issues.elements.map(\.code), [.unreadable, .invalid, .unencodable])
        for error in issues.elements {
            #expect(texts(of: error).allSatisfy { !$0.contains("planted") })
            #expect(error.message.contains("nothing was changed"))
        }
        same(store["former"], .string(planted))
    }

    @Test
    func versionOfASecretStoreIsNotShown() async throws {
        let backend = MemoryBackend(["preferences.version": .string(planted)])
        let store = PreferenceStore(backend: backend, isSecret: true)
        let error = await #expect(throws: PreferenceError.self) { try await store.migrate(to: 1, steps: []) }
        same(error.map(texts)?.allSatisfy { !$0.contains("planted") }, true)
        try await store.write(nil, for: "preferences.version")
        let change = try await store.migrate(
            to: 1,
            steps: [.init(1, onNewStores: true) { $0["token"] = .string(planted) }]
        )
        #expect(texts(of: change).allSatisfy { !$0.contains("planted") } && change.new["token"] == .string(planted))
    }
}

/// Tests of the issue that is reported for a secret that is stored as plain text.
struct PlainTextSecretTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func message(of name: String, in path: String) -> String {
        "preference \"\(name)\": the preference is a secret, but \(path) stores it as plain text; nothing was changed. Declare it "
            + "with in: .keyring, from the product PreferencesKeyring"
    }

    @Test
    func isReportedOnceAtTheNextUse() throws {
        let path = folder.path("preferences.jsonl")
        let store = try PreferenceStore.file(at: URL(filePath: path))
        let issues = Recorder<String>()
        store.issueHandler = { issues.record("\($0)") }
        let token = Preference("token", default: "", .secret, in: store)
        _ = Preference("token", default: "", .secret, in: store)
        same(issues.elements, [], "a declaration calls no issue handler")
        token.value = "a"
        same(issues.elements, [message(of: "token", in: path)])
        #expect(token.value == "a" && store["token"] == "a")
        let later = Preference("later", default: "", .secret, in: store)
        _ = Preference("other", default: "", in: store)
        same(issues.elements.count, 1)
        #expect(later.value == "" && token[\.self].value == "a")
        same(issues.elements, [message(of: "token", in: path), message(of: "later", in: path)])
    }

    @Test
    func handlerMayUseThePreference() throws {
        let store = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        let seen = Recorder<String>()
        let token = Preference("token", default: "none", .secret, in: store)
        store.issueHandler = { _ in
            token.value += "!"
            seen.record(token.value)
        }
        same(token.value, "none!")
        same(seen.elements, ["none!"])
    }

    @Test
    func scopeReportsTheWholeName() throws {
        let path = folder.path("preferences.jsonl")
        let store = try PreferenceStore.file(at: URL(filePath: path))
        let issues = Recorder<String>()
        store.issueHandler = { issues.record("\($0)") }
        let token = Preference("token", default: "", .secret, in: store.scoped(prefix: "app."))
        same(token.value, "")
        same(issues.elements, [message(of: "app.token", in: path)])
    }

    @Test
    func isNotReportedForOtherStores() throws {
        let file = PreferenceStore(.system(FilePlaces(files: [folder.path("system.jsonl")])))
        let keyring = PreferenceStore(backend: MemoryBackend(), isSecret: true)
        for store in [.inMemory(), keyring, .layered([.environment([:], prefix: "P"), file, keyring])] {
            let issues = store.recordIssues()
            let token = Preference("token", default: "", .secret, in: store)
            token.value = "a"
            #expect(token.value == "a" && issues.elements.isEmpty)
        }
    }
}
