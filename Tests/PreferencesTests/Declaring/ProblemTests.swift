import FileTestSupport
import Foundation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct ProblemTests {
    typealias Mode = ServicePreferences.Mode

    /// A fault in one layer: the stored value, or its text in a layer of text.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let value: PropertyListValue
        let text: String
        let code: PreferenceError.Code
        var path: [String] = []
        let accepted: String
        var testDescription: String { "\(name) \(text)" }
    }

    static let faults: [Fault] = [
        .init(name: "port", value: "ninety", text: "80a80", code: .unreadable, accepted: "1...65535"),
        .init(name: "port", value: 99999, text: "99999", code: .invalid, accepted: "1...65535"),
        .init(name: "mode", value: "tall", text: "tall", code: .unreadable, accepted: "\"plain\", \"wide\""),
    ]
    static let places: [(layer: String, place: String)] = [
        ("managed", "managed layer"), ("arguments", "--port"), ("environment", "APP_PORT"), ("file", "line 2"),
        ("system", "system layer"),
    ]

    /// Returns a store with all layers, of which one has the values.
    static func store(_ layer: String, _ values: [String: PropertyListValue], in folder: TemporaryFolder) throws
        -> PreferenceStore
    {
        let texts = values.mapValues { value in if case .string(let text) = value { text } else { "\(value)" } }
        func only(_ name: String) -> [String: PropertyListValue] { name == layer ? values : [:] }
        let lines = values.map { name, value in "{\"\(name)\":\(value)}\n" }.joined()
        try folder.write("{\"host\":\"localhost\"}\n" + (layer == "file" ? lines : ""), to: "preferences.jsonl")
        return .layered([
            .arguments(layer == "arguments" ? texts.map { "--\($0)=\($1)" } : []),
            .environment(
                layer == "environment"
                    ? Dictionary(uniqueKeysWithValues: texts.map { ("APP_\($0.uppercased())", $1) }) : [:],
                prefix: "APP"
            ),
            PreferenceStore(backend: MemoryBackend(only("managed")), isManaged: true),
            try .file(at: URL(filePath: folder.path("preferences.jsonl"))),
            PreferenceStore(backend: MemoryBackend(only("system")), name: "system", isReadOnly: true),
        ])
    }

    @Test(arguments: places.map(\.layer), faults)
    func faultOfALayerIsAProblem(layer: String, fault: Fault) throws {
        let folder = try TemporaryFolder()
        let isText = ["arguments", "environment"].contains(layer)
        let value = isText ? .string(fault.text) : fault.value
        let store = try Self.store(layer, [fault.name: value], in: folder)
        let reports = store.recordIssues()
        let group = ServicePreferences(in: store)
        let problems = group.problems
        same(problems.count, 1)
        let problem = try #require(problems.first)
        #expect(problem.code == fault.code && problem.name == fault.name)
        let place = try #require(Self.places.first { $0.layer == layer }?.place)
        let spelled = place.replacing("port", with: fault.name).replacing("PORT", with: fault.name.uppercased())
        #expect(problem.description.contains(spelled), "\(problem)")
        #expect(problem.description.contains(fault.accepted), "\(problem)")
        #expect(throws: PreferenceProblems.self) { try group.check() }
        #expect(reports.elements.isEmpty, "a problem is returned, not reported")
        #expect(group.port == 8080 && group.mode == .plain, "a plain group shows the default")
    }

    @Test
    func valueBelowTheUsedOneIsNoProblem() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store("system", ["port": "ninety", "mode": "tall"], in: folder)
        store["port"] = 90
        store["mode"] = ["$unset": true]
        same(ServicePreferences(in: store).problems.map(\.description), [])
    }

    @Test
    func replacedMembersAndLeftOutElementsAreProblemsAndMissingOnesAreNone() throws {
        let store = PreferenceStore.inMemory(["host": "a"])
        let group = ServicePreferences(in: store)
        store["frame"] = ["width": 2, "later": true]
        #expect(group.problems.isEmpty)
        store["frame"] = ["width": "two", "modes": ["wide", "tall"]]
        same(group.problems.map(\.codingPath), [["width"], ["modes", "1"]])
    }

    @Test
    func requiredValueIsMissing() throws {
        let store = PreferenceStore.layered([.environment([:], prefix: "APP"), .inMemory(["port": 1])])
        let problems = ServicePreferences(in: store).problems
        #expect(problems.map(\.name) == ["host"] && problems.map(\.code) == [.invalid])
        same(
            problems.first?.message,
            "the preference needs a value and has none; set it in APP_HOST or the layer \"store\"; accepted: String"
        )
        store["server"] = "old"
        #expect(ServicePreferences(in: store).problems.isEmpty)
        // One that can't be used is one problem, not two.
        store["server"] = 5
        same(ServicePreferences(in: store).problems.map(\.code), [.unreadable])
    }

    @Test
    func formerNameOfAnotherStoresPreferenceIsAProblem() {
        struct Stores: PreferenceGroup {
            static let base = PreferenceStore.inMemory()
            @Preference("a.vol", in: base) var vol = 0
            @Preference("volume", .formerly("old", "vol"), in: base.scoped(prefix: "a.")) var volume = 5
            @Preference("a.volume", .formerly("a.old"), in: base) var same = 5
        }
        same(
            Stores().problems.map(\.message),
            [
                "the former name \"vol\" is that of the preference \"a.vol\" in another store, whose value a write would remove; "
                    + "remove one of the two"
            ]
        )
    }

    @Test
    func unknownNamesOfHandWrittenFilesAreProblemsWithTheirLines() throws {
        try withTemporaryFolder { folder in
            let settings = folder.appending(path: "settings.json")
            let text =
                "{\n  // Comment\n  \"$schema\": \"a.json\",\n  \"prot\": 80,\n  \"server\": \"a\",\n  \"me.port\": 1\n}"
            try Data(text.utf8).write(to: settings)
            let dropIn = folder.appending(path: "site.jsonl")
            try Data("{\"preferences.version\":1}\n{\"modus\":\"x\"}\n".utf8).write(to: dropIn)
            let files = DropIns(folders: [], files: [dropIn.path])
            let store = PreferenceStore.layered([
                .settingsFile(at: settings), PreferenceStore(.system(Source(DropInBackend(files)))),
                .inMemory(["unknown": 1]),
            ])
            // Of another group, in a scope.
            let scoped = ServicePreferences(in: store.scoped(prefix: "me."))
            same(scoped.port, 1)
            let problems = ServicePreferences(in: store).problems.map { problem in
                problem.message.replacing(folder.path, with: "…")
            }
            same(
                problems,
                [
                    "no preference is named \"modus\"; its value in the layer \"system\" (…/site.jsonl, line 2) is ignored; correct or remove it",
                    "no preference is named \"prot\"; its value in the layer \"settings\" (…/settings.json, line 4) is ignored; did you mean \"port\"?",
                ]
            )
        }
    }

    @Test
    func layerThatCantBeReadIsAProblem() throws {
        let backend = FaultInjectingBackend()
        backend.failNext(.load, count: 10)
        let store = PreferenceStore.layered([.inMemory(["host": "a"]), PreferenceStore(backend: backend)])
        store.issueHandler = { _ in }
        same(ServicePreferences(in: store).problems.map(\.code), [.unavailable])
    }

    @Test
    func secretIsNotShown() throws {
        struct Secrets: PreferenceGroup {
            @Preference("pin", .secret, .range(1...9)) var pin = 1
        }
        let store = PreferenceStore.inMemory(["pin": 4711])
        let problems = Secrets(in: store).problems
        #expect(problems.count == 1 && !"\(problems)".contains("4711"))
    }

    @Test
    func problemsArePrintedOneALine() throws {
        let group = ServicePreferences(in: .inMemory(["port": 0, "mode": "tall"]))
        let error = try #require(throws: PreferenceProblems.self) { try group.check() }
        #expect(error.count == 3 && error.map(\.name) == ["port", "mode", "host"])
        same(error.description.split(separator: "\n").count, 3)
        same(error.errorDescription, error.description)
        group.port = 5
        group.mode = .wide
        group.host = "a"
        try group.check()
    }
}
