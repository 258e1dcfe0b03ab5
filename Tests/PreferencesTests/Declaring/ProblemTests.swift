import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// What `problems` has of the values of each layer, and of names that nobody declares.
struct ProblemTests {
    typealias Mode = ServicePreferences.Mode

    /// A fault in one layer: the stored value, or its text in a layer of text.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let value: PropertyListValue
        let text: String
        let code: PreferenceError.Code
        let accepted: String
        var testDescription: String { "\(name) \(text)" }
    }

    static let faults: [Fault] = [
        .init(name: "port", value: "ninety", text: "80a80", code: .unreadable, accepted: "1...65535"),
        .init(name: "port", value: 99999, text: "99999", code: .invalid, accepted: "1...65535"),
        .init(name: "mode", value: "tall", text: "tall", code: .unreadable, accepted: "\"plain\", \"wide\""),
    ]
    static let places: [(layer: String, place: String)] = [
        ("managed", "managed layer"), ("arguments", "--port"), ("environment", "APP_PORT"),
        ("file", "user layer, /etc/app, line 4"), ("system", "system layer"),
    ]

    /// Returns a store with all layers, of which one has the values.
    private static func store(_ layer: String, _ values: [String: PropertyListValue]) -> PreferenceStore {
        let texts = values.mapValues { value in if case .string(let text) = value { text } else { "\(value)" } }
        func only(_ name: String) -> [String: PropertyListValue] { name == layer ? values : [:] }
        return .layered([
            .arguments(layer == "arguments" ? texts.map { "--\($0)=\($1)" } : []),
            .environment(
                layer == "environment"
                    ? Dictionary(uniqueKeysWithValues: texts.map { ("APP_\($0.uppercased())", $1) }) : [:],
                prefix: "APP"
            ),
            PreferenceStore(backend: MemoryBackend(only("managed")), isManaged: true),
            PreferenceStore(Layer(source: Source(PlaceBackend(["host": "a"].merging(only("file")) { $1 })))),
            PreferenceStore(backend: MemoryBackend(only("system")), name: "system", isReadOnly: true),
        ])
    }

    @Test(arguments: places.map(\.layer), faults)
    func faultOfALayerIsAProblem(layer: String, fault: Fault) throws {
        let isText = ["arguments", "environment"].contains(layer)
        let store = Self.store(layer, [fault.name: isText ? .string(fault.text) : fault.value])
        let reports = store.recordIssues()
        let group = ServicePreferences(in: store)
        same(group.problems.count, 1)
        let problem = try #require(group.problems.first)
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
    func valueBelowTheUsedOneIsNoProblem() {
        let store = Self.store("system", ["port": "ninety", "mode": "tall"])
        store["port"] = 90
        store["mode"] = ["$unset": true]
        same(ServicePreferences(in: store).problems.map(\.description), [])
    }

    @Test
    func replacedMembersAndLeftOutElementsAreProblemsAndMissingOnesAreNone() {
        let store = PreferenceStore.inMemory(["host": "a"])
        let group = ServicePreferences(in: store)
        store["frame"] = ["width": 2, "later": true]
        #expect(group.problems.isEmpty)
        store["frame"] = ["width": "two", "modes": ["wide", "tall"]]
        same(group.problems.map(\.codingPath), [["width"], ["modes", "1"]])
    }

    @Test
    func requiredValueIsMissing() {
        let file = PreferenceStore(Layer(source: Source(PlaceBackend())))
        let store = PreferenceStore.layered([.environment([:], prefix: "APP"), file, .inMemory(["port": 1])])
        let problems = ServicePreferences(in: store).problems
        #expect(problems.map(\.name) == ["host"] && problems.map(\.code) == [.invalid])
        same(
            problems.first?.message,
            "the preference needs a value and has none; set it in APP_HOST or /etc/app or the layer \"store\"; accepted: String"
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
    func secretIsNotShown() {
        struct Secrets: PreferenceGroup {
            @Preference("pin", .secret, .range(1...9)) var pin = 1
        }
        let problems = Secrets(in: .inMemory(["pin": 4711])).problems
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

    // MARK: Layers that can't be read

    @Test
    func layerThatCantBeReadIsAProblemIfItMightHaveAValueThatIsUsed() {
        let backend = FaultInjectingBackend()
        backend.failNext(.load, count: .max)
        let failing = PreferenceStore(backend: backend)
        failing.issueHandler = { _ in }
        func codes(_ layers: [PreferenceStore]) -> [PreferenceError.Code] {
            let store = PreferenceStore.layered(layers)
            store.issueHandler = { _ in }
            return ServicePreferences(in: store).problems.map(\.code)
        }
        same(codes([.inMemory(["host": "a"]), failing]), [.unavailable])
        let all: [String: PropertyListValue] = ["host": "a", "port": 1, "mode": "wide", "frame": ["width": 2]]
        same(codes([.inMemory(all), failing]), [])
        same(codes([failing, .inMemory(all)]), [.unavailable])
    }

    // MARK: Names

    private func unknown(_ variables: [String: String], _ arguments: [String] = []) -> [String] {
        let store = PreferenceStore.layered([
            .arguments(arguments), .environment(variables, prefix: "APP"), .inMemory(["host": "a", "prot": 1]),
        ])
        return ServicePreferences(in: store).problems.map(\.message)
    }

    @Test
    func variableIsAProblemIfItIsNearlyAPreferences() {
        same(unknown(["APP_HOME": "/opt", "APP_VERSION": "1.2", "APP_LOG_LEVEL": "3", "APP_SERVER": "b"]), [])
        same(
            unknown(["APP_PROT": "1", "OTHER_PORT": "x"]),
            [
                #"no preference is named "APP_PROT"; its value in the layer "environment" is ignored; did you mean "APP_PORT"?"#
            ]
        )
    }

    /// Kubernetes sets such variables for each service of a namespace, also for one that has the program's name.
    @Test(arguments: ["10.0.48.9", "fd00::9"])
    func variablesOfAServiceAreNoValues(host: String) {
        let address = host.contains(":") ? "[\(host)]" : host
        let variables = [
            "APP_PORT": "tcp://\(address):80", "APP_SERVICE_HOST": host, "APP_SERVICE_PORT": "80",
            "APP_PORT_80_TCP": "tcp://\(address):80", "APP_PORT_80_TCP_ADDR": host, "APP_PORT_80_TCP_PORT": "80",
        ]
        same(unknown(variables), [])
        let store = PreferenceStore.layered([.environment(variables, prefix: "APP"), .inMemory(["port": 9000])])
        same(ServicePreferences(in: store).port, 9000)
        same(PreferenceStore.environment(["APP_PORT": "81", "APP_SERVICE_HOST": host], prefix: "APP")["port"], "81")
    }

    @Test
    func emptyVariableIsNoValue() {
        let store = PreferenceStore.layered([
            .environment(["APP_PORT": "", "APP_HOST": ""], prefix: "APP"), .inMemory(),
        ])
        let group = ServicePreferences(in: store)
        #expect(group.port == 8080 && group.host == nil)
        same(group.problems.map(\.code), [.invalid], "the required one is missing")
    }

    @Test
    func namesOfThePreferencesInOtherStoresAreKnown() {
        struct Notes: PreferenceGroup {
            static let variables = ["NOTES_LIMIT": "3", "NOTES_LIMITS": "4"]
            static let other = PreferenceStore.layered([.environment(variables, prefix: "NOTES"), .inMemory()])
            @Preference("limit") var limit = 20
            @Preference("limits", in: other) var limits: Int?
        }
        let store = PreferenceStore.layered([.environment(Notes.variables, prefix: "NOTES"), .inMemory()])
        let notes = Notes(in: store)
        #expect(notes.limit == 3 && notes.limits == 4 && notes.problems.isEmpty)
    }

    @Test
    func nameInAFileOfAPersonIsAProblemIfItIsNearlyAPreferences() {
        let file = PlaceBackend(["prot": 1, "proxy": 2, "server": "a", "me.port": 1], isWrittenByHand: true)
        let layer = Layer(source: Source(file), name: "settings", isReadOnly: true)
        let store = PreferenceStore.layered([PreferenceStore(layer), .inMemory(["unknown": 1])])
        // Of another group, in a scope.
        let scoped = ServicePreferences(in: store.scoped(prefix: "me."))
        same(scoped.port, 1)
        same(
            ServicePreferences(in: store).problems.map(\.message),
            [
                #"no preference is named "prot"; its value in the layer "settings" (/etc/app, line 4) is ignored; did you mean "port"?"#
            ]
        )
    }
}

/// A place with a path and lines.
private final class PlaceBackend: Backend {
    let place = "/etc/app"
    private let contents: [String: PropertyListValue]
    private let isWrittenByHand: Bool

    init(_ contents: [String: PropertyListValue] = [:], isWrittenByHand: Bool = false) {
        (self.contents, self.isWrittenByHand) = (contents, isWrittenByHand)
    }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        contents.map { StoredChange($0.key, $0.value) }
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        _ = try body(.none)
    }

    func describe(_ name: String?) -> StoredPlace {
        StoredPlace(path: place, line: name == nil ? nil : 4, isWrittenByHand: isWrittenByHand)
    }
}
