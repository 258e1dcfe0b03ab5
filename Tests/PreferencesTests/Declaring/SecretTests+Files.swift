import FileTestSupport
import Foundation
import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

extension SecretTests {
    @Test
    func schemaHasOnlyTheTypeOfASecret() throws {
        struct Group: PreferenceGroup {
            @Preference("token", .secret, .choices([planted]), .description("For the server")) var token = planted
            @Preference("limit", .secret, .range(3...)) var limit = 7
        }
        let schema = try Group(in: .inMemory()).jsonSchema()
        #expect(schema.contains(#""token":{"description":"For the server","type":"string","writeOnly":true}"#))
        #expect(schema.contains(#""limit":{"type":"integer","writeOnly":true}"#) && !schema.contains(planted))
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

    @Test(arguments: [false, true])
    func isReportedBelowALayerOfSecretsIfItIsStored(isStored: Bool) throws {
        let path = folder.path("preferences.jsonl")
        if isStored { try Data("{\"token\":\"a\"}\n".utf8).write(to: URL(filePath: path)) }
        let credentials = PreferenceStore(backend: MemoryBackend(), isReadOnly: true, isSecret: true)
        let store = PreferenceStore.layered([credentials, try .file(at: path)])
        let issues = store.recordIssues()
        let token = Preference<String?>("token", default: nil, .secret, in: store)
        same(token.value, isStored ? "a" : nil)
        same(issues.elements.map(\.code), isStored ? [.misuse] : [])
    }
}
