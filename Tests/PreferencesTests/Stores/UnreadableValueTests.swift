import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Stored values that can't be read: the default is used, the error says why, and the bytes are kept.
struct UnreadableValueTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func store(_ text: String) throws -> (PreferenceStore, Recorder<PreferenceError>) {
        try folder.write(text, to: "preferences.jsonl")
        let store = fileStore(folder.path("preferences.jsonl"))
        let issues = store.recordIssues()
        return (store, issues)
    }

    private func check<Value: PreferenceValue>(
        _ json: String,
        as defaultValue: Value,
        _ expected: String,
        found: String,
        at path: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = "{\"first\":1}\n{\"name\":\(json)}\n"
        let (store, issues) = try store(text)
        let preference = Preference("name", default: defaultValue, in: store)
        for _ in 1...3 {
            #expect(try preference.value.storedValue() == defaultValue.storedValue(), sourceLocation: sourceLocation)
        }
        let error = try #require(throws: PreferenceError.self, sourceLocation: sourceLocation) {
            try preference.read()
        }
        same(error.code, .unreadable)
        same(error.name, "name")
        #expect(error.codingPath == path, "\(error)", sourceLocation: sourceLocation)
        #expect(
            error.message.contains(expected) && error.message.contains(found),
            "\(error)",
            sourceLocation: sourceLocation
        )
        #expect(
            issues.elements.map(\.description)
                == [error.description.replacing("; the", with: "; the default is used and the")],
            "once, not per read",
            sourceLocation: sourceLocation
        )
        #expect(throws: PreferenceError.self) { try preference.update { _ in Issue.record("the body ran") } }
        #expect(preference.isSet && preference.source == .default)
        store["other"] = 2
        #expect(try folder.read("preferences.jsonl") == text + "{\"other\":2}\n", sourceLocation: sourceLocation)
        // Another unreadable value is another issue, a readable value isn't one.
        store["name"] = .unknownForm(#"{"$later":1}"#)
        try same(preference.value.storedValue(), defaultValue.storedValue())
        try preference.write(defaultValue)
        same(preference.source, .store)
        #expect(issues.elements.count == 2, "\(issues.elements)", sourceLocation: sourceLocation)
    }

    @Test
    func confusedTypesGiveTheDefault() throws {
        try check("\"text\"", as: 7, "Int", found: "string \"text\"")
        try check("\"blue\"", as: Theme.dark, "Theme", found: "\"blue\"")
        try check("{}", as: [1], "Array", found: "dictionary")
    }

    /// A value whose type decodes its own parts, so that none can be left out or read from a default.
    @Test
    func errorsNameTheWayInside() throws {
        struct Whole: Codable, PreferenceValue {
            var points = [Point(), Point()]
            init() {}
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                points = try [container.decode(Point.self), container.decode(Point.self)]
            }
            func encode(to encoder: any Encoder) throws { try points.encode(to: encoder) }
        }
        try check("[{\"x\":1,\"y\":2},{\"x\":true,\"y\":2}]", as: Whole(), "Int", found: "true", at: ["1", "x"])
        try check("[{\"x\":1,\"y\":2},{\"x\":1}]", as: Whole(), "missing key", found: "\"y\"", at: ["1"])
    }

    @Test
    func messageNamesTheLayerAndTheFile() throws {
        try folder.write("{\"volume\":\"loud\"}\n", to: "preferences.jsonl")
        let path = folder.path("preferences.jsonl")
        let file = try PreferenceStore.file(at: URL(filePath: path))
        let kept = "and the stored value is kept"
        func messages(in store: PreferenceStore) throws -> [String] {
            let issues = store.recordIssues()
            let volume = Preference("volume", default: 5, .check { $0 < 10 }, in: store)
            _ = volume.value
            if volume.source == .default {
                let error = try #require(throws: PreferenceError.self) { try volume.read() }
                let reported = error.description.replacing("; the", with: "; the default is used and the")
                    .replacing("; correct or remove it", with: "; the default is used")
                same(reported, issues.elements.first?.description)
            }
            return issues.elements.map(\.description)
        }
        let user =
            #"preference "volume": expected Int, found string "loud" (user layer, \#(path), line 1); the default is used \#(kept)"#
        try same(messages(in: file), [user])
        try same(
            messages(in: .layered([.arguments(["-volume", "high"]), file])),
            [
                #"preference "volume": "high", from the layer "arguments" (--volume), can't be used: "#
                    + #"expected Int, found string "high"; the default is used"#,
                user,
            ]
        )
        let system = PreferenceStore(.system(FilePlaces(files: [path])))
        try same(
            messages(in: .layered([.inMemory(["volume": 11]), system, .inMemory(["volume": 7])])),
            [
                "preference \"volume\": the value is not allowed: 11 is rejected by the preference's rule; "
                    + "the next layer's value is used \(kept)",
                #"preference "volume": expected Int, found string "loud" (system layer, \#(path), line 1); "#
                    + "the next layer's value is used \(kept)",
            ]
        )
    }

    @Test
    func messageNamesTheVariableAndTheLine() throws {
        try folder.write("{\"notes.limit\":1}\n{\"notes.limit\":700,\"b\":1}\n{\"b\":2}\n", to: "preferences.jsonl")
        let path = folder.path("preferences.jsonl")
        let file = PreferenceStore(.system(FilePlaces(files: [path])))
        let environment = PreferenceStore.environment(["NOTES_LIMIT": "800"], prefix: "NOTES")
        let arguments = PreferenceStore.arguments(["--limit=many"])
        let store = PreferenceStore.layered([arguments, environment, .inMemory(), file.scoped(prefix: "notes.")])
        let issues = Recorder<String>()
        store.issueHandler = { issues.record($0.description) }
        let limit = Preference("limit", default: 5, .range(0...100), in: store)
        same(limit.value, 5)
        let messages = issues.elements
        same(messages.count, 3)
        #expect(messages.contains { $0.contains(#""many", from the layer "arguments" (--limit), can't be used"#) })
        #expect(messages.contains { $0.contains(#""800", from the layer "environment" (NOTES_LIMIT), can't be used"#) })
        #expect(messages.contains { $0.contains("(system layer, \(path), line 2)") })
        for message in messages where !message.contains(path) {
            #expect(!message.contains("stored value"), "\(message)")
        }
        let secret = Preference(
            "limit",
            default: 5,
            .range(0...100),
            .secret,
            in: .layered([file.scoped(prefix: "notes.")])
        )
        let error = #expect(throws: PreferenceError.self) { try secret.read() }
        same(error?.message.contains("(system layer, \(path), line 2)"), true)
        same(error?.message.replacing(path, with: "").contains("700"), false)
    }

    @Test
    func descriptionOfAStoreSaysItsLayersAndPlaces() throws {
        let path = folder.path("preferences.jsonl")
        let store = PreferenceStore.layered([
            .arguments([]), .environment([:], prefix: "NOTES"), try .file(at: URL(filePath: path)),
            PreferenceStore.inMemory(["volume": 7]).scoped(prefix: "a.").readOnly(named: "fallback"),
        ])
        same("\(store)", "arguments; environment, NOTES_*; store, \(path); fallback, in memory, a.*")
    }

    @Test
    func valueIsReportedOnceByDeclarationsThatDiffer() throws {
        let (store, issues) = try store("{\"volume\":\"loud\",\"level\":11}\n")
        let updates = Recorder<Int>()
        let observation = Preference("volume", default: 1, in: store).observe { updates.record($0.new) }
        defer { observation.cancel() }
        for limit in 1...3 {
            same(Preference("volume", default: 5, in: store).value, 5)
            same(Preference<Int?>("volume", in: store).value, nil)
            same(Preference("volume", default: 5, coding: .propertyList, in: store).value, 5)
            same(Preference("volume", default: 5, .range(0...limit), in: store).value, 5)
            same(Preference("volume", default: 5, .check { $0 < limit }, in: store).value, 5)
            same(Preference("level", default: 5, .range(0...limit), in: store).value, 5)
            same(Preference<Int?>("level", default: 5, .range(0...limit), in: store).value, 5)
        }
        same(issues.elements.map(\.code), [.unreadable, .invalid])
        store["volume"] = "high"
        same(Preference("volume", default: 5, in: store).value, 5)
        #expect(updates.elements.isEmpty, "the default is shown as before")
        same(issues.elements.map(\.code), [.unreadable, .invalid, .unreadable], "another value is another issue")
        store["volume"] = 3
        store["volume"] = "high"
        same(Preference("volume", default: 5, in: store).value, 5)
        same(issues.elements.count, 4, "it was readable in between")
    }

    @Test
    func valueIsReportedOnceWhileOtherLayersChange() throws {
        let user = PreferenceStore.inMemory()
        let layers = PreferenceStore.layered([.arguments(["-volume", "high"]), user, .inMemory(["volume": "low"])])
        let issues = Recorder<String>()
        layers.issueHandler = { issues.record(String($0.message.prefix { $0 != ";" })) }
        let volume = Preference("volume", default: 5, in: layers)
        for number in 1...3 {
            same(volume.value, 5)
            user["volume"] = .integer(Int64(number))
            same(volume.value, number)
            volume.reset()
        }
        same(volume.value, 5)
        same(
            issues.elements,
            [
                #""high", from the layer "arguments" (--volume), can't be used: expected Int, found string "high""#,
                #"expected Int, found string "low" (store layer)"#,
            ]
        )
    }

    @Test
    func valueIsReportedOnceToEachHandlerOfStoresThatShareIt() throws {
        let (file, _) = try store("{\"volume\":\"loud\"}\n")
        file.issueHandler = nil
        let (first, second) = (Recorder<PreferenceError.Code>(), Recorder<PreferenceError.Code>())
        let layered = PreferenceStore.layered([.inMemory(), file])
        layered.issueHandler = { first.record($0.code) }
        for store in [layered, file, layered] {
            same(Preference("volume", default: 5, in: store).value, 5)
        }
        same(first.elements, [.unreadable], "the file's store has no handler, and its issues reach the same one")
        let other = PreferenceStore.layered([.inMemory(), file])
        other.issueHandler = { second.record($0.code) }
        for store in [other, file, layered] {
            same(Preference("volume", default: 5, in: store).value, 5)
        }
        #expect(first.elements == [.unreadable] && second.elements == [.unreadable])
    }
}
