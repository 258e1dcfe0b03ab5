import FileTestSupport
import PreferencesEditing
import PreferencesTesting
import PreferencesValidation
import TestSupport
import Testing

@testable import Preferences

struct ValidatedStoreTests {
    typealias Service = ServicePreferences

    static let valid: [String: PropertyListValue] = ["host": "a", "port": 90]

    /// A layer whose values change while the program runs.
    enum Place: CaseIterable { case network, managed, system, memory, file }

    /// A store with one layer of the kind, and what changes it from outside.
    struct Fixture {
        let store: PreferenceStore
        let change: (String, PropertyListValue) throws -> Void

        init(_ store: PreferenceStore, _ change: @escaping (String, PropertyListValue) throws -> Void) {
            (self.store, self.change) = (store, change)
        }

        init(_ place: Place) throws {
            let backend = FaultInjectingBackend(valid)
            let outside: (String, PropertyListValue) -> Void = { backend.changeOutside([$0: $1]) }
            switch place {
            case .memory:
                let memory = PreferenceStore.inMemory(valid)
                self.init(memory) { memory[$0] = $1 }
            case .file:
                let folder = try TemporaryFolder()
                try folder.write("{\"host\":\"a\",\"port\":90}\n", to: "a.jsonl")
                self.init(fileStore(folder.path("a.jsonl"))) { try folder.append("{\"\($0)\":\($1)}\n", to: "a.jsonl") }
            case .network: self.init(PreferenceStore(backend: backend), outside)
            case .managed:
                self.init(.layered([.inMemory(), PreferenceStore(backend: backend, isManaged: true)]), outside)
            case .system:
                let system = PreferenceStore(backend: backend, name: "system", isReadOnly: true)
                self.init(.layered([.inMemory(), system]), outside)
            }
        }
    }

    static let faults: [(name: String, value: PropertyListValue)] = [
        ("port", "ninety"), ("port", 0), ("mode", "tall"), ("frame", ["mode": "tall"]), ("frame", ["modes": ["tall"]]),
        ("host", 5),
    ]

    @Test(arguments: Place.allCases, faults.indices)
    func faultLeavesTheLastValidState(place: Place, fault: Int) async throws {
        try await Self.checkFault(Self.faults[fault], Fixture(place))
    }

    static func checkFault(_ fault: (name: String, value: PropertyListValue), _ fixture: Fixture) async throws {
        let (name, value) = fault
        let issues = Recorder<PreferenceError>()
        let plain = Service(in: fixture.store)
        let store = try PreferenceStore.validated(Service.self, over: fixture.store)
        let service = Service(in: store)
        let seen = Recorder<Int>()
        let observation = service.$port.observe { seen.record($0.new) }
        store.issueHandler = { issues.record($0) }
        try fixture.change(name, value)
        await eventually { issues.elements.contains { $0.message.contains("a restart reads the stored ones") } }
        #expect(service.port == 90 && service.mode == .plain && service.frame == .init() && service.host == "a")
        await eventually { fixture.store[name] == value }
        // In the same run a plain group shows the default.
        switch name {
        case "port": same(plain.port, 8080)
        case "host": same(plain.host, nil)
        default: #expect(plain.mode == .plain && plain.frame == .init())
        }
        // A valid change waits for the faulty one to be corrected; then both are shown.
        try fixture.change(name == "port" ? "host" : "port", name == "port" ? "b" : 91)
        await eventually { fixture.store[name == "port" ? "host" : "port"] == (name == "port" ? "b" : 91) }
        #expect(service.port == 90 && service.host == "a" && seen.elements.isEmpty)
        let corrected: PropertyListValue = ["port": 91, "mode": "wide", "host": "b"][name] ?? ["width": 4]
        try fixture.change(name, corrected)
        // Observers are called after the values are shown.
        await eventually { seen.elements == [91] }
        #expect(store[name] == corrected && service.port == 91 && store["host"] == fixture.store["host"])
        let reported = issues.elements.filter { $0.message.contains("a restart reads the stored ones") }
        same(reported.count, 1, "\(reported)")
        withExtendedLifetime(observation) {}
    }

    @Test
    func problemThatMovesToAnotherLineIsReportedOnce() async throws {
        let fixture = try Fixture(.file)
        let store = try PreferenceStore.validated(Service.self, over: fixture.store)
        let issues = store.recordIssues()
        for value in ["ninety", "ninety", 0] as [PropertyListValue] {
            try fixture.change("port", value)
            try await fixture.store.load()
            // The validated store looks when it is notified, and so might never see a state that is soon replaced.
            await eventually { !issues.elements.isEmpty }
        }
        // Reported after what was found before it.
        await eventually { issues.elements.contains { $0.code == .invalid } }
        same(issues.elements.filter { $0.message.contains("found string") }.count, 1, "\(issues.elements)")
    }

    @Test
    func unknownNamesAndMissingMembersAreNoFaults() throws {
        let store = PreferenceStore.layered([
            .arguments(["--prot=1"]), .inMemory(["host": "a", "frame": ["width": 3], "other": 1]),
        ])
        let service = Service(in: try .validated(Service.self, over: store))
        #expect(service.frame.width == 3 && service.port == 8080)
        #expect(service.problems.map(\.message).joined().contains("no preference is named \"prot\""))
    }

    @Test
    func textLayersAreRead() throws {
        let store = PreferenceStore.layered([
            .arguments(["--port=70"]), .environment(["APP_HOST": "b", "APP_MODE": "wide"], prefix: "APP"),
            .inMemory(Self.valid),
        ])
        let service = Service(in: try .validated(Service.self, over: store))
        #expect(service.port == 70 && service.host == "b" && service.mode == .wide)
        #expect(service.$port.source.name == "arguments" && service.$mode.source.name == "environment")
        same("\(service.$port)", "port = 70 (arguments)")
    }

    @Test
    func formerNamesScopesAndDraftsWorkOverIt() async throws {
        let base = PreferenceStore.inMemory(["server": "a", "a.port": 1])
        let store = try PreferenceStore.validated(Service.self, over: base)
        let service = Service(in: store)
        same(service.host, "a")
        service.host = "b"
        same(base.contents, ["host": "b", "a.port": 1])
        let scope = store.scoped(prefix: "a.")
        try await Service(in: scope).$port.update { $0 += 1 }
        #expect(base["a.port"] == 2 && scope["port"] == 2)
        let draft = store.draft()
        Service(in: draft.store).port = 5
        try await draft.apply()
        #expect(service.port == 5 && base["port"] == 5)
        store.removeAll()
        same(base["host"], "b", "removing the required value is a problem")
    }

    @Test
    func statesOfSeveralLayersAreShownInOneStep() async throws {
        let backends = (0..<2).map { _ in FaultInjectingBackend(Self.valid) }
        let base = PreferenceStore.layered([
            PreferenceStore(backend: backends[0]),
            PreferenceStore(backend: backends[1], name: "system", isReadOnly: true),
        ])
        let store = try PreferenceStore.validated(Service.self, over: base)
        let changes = Recorder<PreferenceStoreChange>()
        let issues = store.recordIssues()
        let observation = store.subscribe { changes.record(PreferenceStoreChange($0)) }
        backends[0].changeOutside(["port": "ninety"])
        await eventually { !issues.elements.isEmpty }
        backends[1].changeOutside(["mode": "wide"])
        backends[0].changeOutside(["port": 91])
        await eventually { !changes.elements.isEmpty }
        same(changes.elements.map(\.names), [["port", "mode"]])
        withExtendedLifetime(observation) {}
    }

    @Test
    func storeNeverWaitsForIt() async throws {
        struct Slow: PreferenceGroup {
            static let gate = Condition(false)
            @Preference("port", .check { $0 != 7 || Slow.gate.wait { $0 ? .done(true) : .until(nil) } }) var port = 1
        }
        let base = PreferenceStore.inMemory()
        let store = try PreferenceStore.validated(Slow.self, over: base)
        let slow = Slow(in: store)
        base["port"] = 7
        base["port"] = 8
        same(base["port"], 8)
        Slow.gate.signal { $0 = true }
        await eventually { slow.port == 8 }
    }

    /// An observer of the plain store is called by the set in the validated one.
    /// Also by a change that it doesn't take over.
    @Test
    func readersOfWhetherAPreferenceIsSetAreNotified() async throws {
        let base = PreferenceStore.inMemory(["host": "localhost"])
        base.issueHandler = { _ in }
        let service = Service(in: try .validated(Service.self, over: base))
        let notified = countSignals { #expect(!service.$port.isSet) }
        base["port"] = "none"
        await eventually { service.$port.isSet && notified.value == 1 }
    }

    @Test
    func observersOfTheStoreMaySetSomethingInIt() throws {
        let base = PreferenceStore.inMemory(Self.valid)
        let store = try PreferenceStore.validated(Service.self, over: base)
        let (service, plain) = (Service(in: store), Service(in: base))
        let issues = base.recordIssues()
        let observation = plain.$port.observe { change in service.frame.width = change.new }
        service.port = 91
        #expect(service.frame.width == 91 && plain.frame.width == 91 && issues.elements.isEmpty)
        // Also if the set itself stores nothing.
        #expect(throws: PreferenceError.self) { try service.$port.write(0) }
        plain.port = 92
        same(service.frame.width, 92)
        withExtendedLifetime(observation) {}
    }

    @Test
    func scopesAreCheckedAndOtherStoresOnce() async throws {
        struct Database: PreferenceGroup {
            @Preference("port", .range(1...9)) var port = 5
        }
        struct Whole: PreferenceGroup {
            static let base = PreferenceStore.inMemory(["port": 90, "db.port": 4])
            static let other = PreferenceStore.inMemory(["token": "a"])
            @Preference("port", .range(1...65535)) var port = 8080
            @Preference("token", .required, in: other) var token: String?
            let database = Database(in: base.scoped(prefix: "db."))
        }
        let base = Whole.base
        let store = try PreferenceStore.validated(Whole.self, over: base)
        let issues = store.recordIssues()
        let whole = Whole(in: store)
        base["db.port"] = 10
        base["port"] = 91
        await eventually { !issues.elements.isEmpty }
        same(whole.port, 90)
        base["db.port"] = 6
        await eventually { whole.port == 91 }
        Whole.other["token"] = nil
        #expect(throws: PreferenceProblems.self) { try PreferenceStore.validated(Whole.self, over: base) }
    }

    @Test
    func refreshShowsWhatItFinds() throws {
        let backend = FaultInjectingBackend(Self.valid)
        let base = PreferenceStore(backend: backend)
        base.issueHandler = { _ in }
        let store = try PreferenceStore.validated(Service.self, over: base)
        backend.failNext(.refresh, count: .max)
        backend.changeOutside(["port": 91])
        backend.failNext(.refresh, count: 0)
        try store.load()
        same(Service(in: store).port, 91)
        #expect(store.isWritable)
        let fixed = PreferenceStore.inMemory(Self.valid).readOnly()
        #expect(try !PreferenceStore.validated(Service.self, over: fixed).isWritable)
    }

    @Test
    func isolatedCodeSeesAReplacement() throws {
        let shared = PreferenceStore(Layer(source: Source(Self.valid)), replacement: .memory(isStandard: false))
        let service = Service(in: try .validated(Service.self, over: shared))
        try PreferenceStore.withIsolatedStores {
            same(service.port, 8080)
            service.port = 92
            #expect(service.port == 92 && shared["port"] == 92)
            // One that is created inside is checked.
            try shared.write("a", for: "host")
            let inner = Service(in: try .validated(Service.self, over: shared))
            inner.port = 93
            #expect(throws: PreferenceError.self) { try inner.$host.write(nil) }
            #expect(inner.port == 93 && shared["port"] == 93)
        }
        #expect(service.port == 90 && shared["port"] == 90)
        service.port = 91
        same(shared["port"], 91)
    }

    // MARK: A model

    @Test
    func anyProgramShowsValidStatesAndItsOwnWrites() async throws {
        for seed in 0..<UInt64(rounds(1000)) {
            var random = SeededGenerator(seed: seed)
            let backend = FaultInjectingBackend(Self.valid)
            let base = PreferenceStore.layered([
                PreferenceStore(backend: backend), PreferenceStore.inMemory(["port": 3]).readOnly(named: "system"),
            ])
            base.issueHandler = { _ in }
            let store = try PreferenceStore.validated(Service.self, over: base)
            let service = Service(in: store)
            let plain = Service(in: base)
            var log: [String] = []
            for _ in 0..<Int.random(in: 1...10, using: &random) {
                let outside: [(String, PropertyListValue?)] = [
                    ("port", "junk"), ("port", 5), ("port", 0), ("host", "b"), ("host", nil), ("mode", "tall"),
                    ("mode", "wide"),
                    ("frame", ["mode": "tall"]), ("frame", ["mode": "wide"]), ("frame", nil),
                ]
                switch ["outside", "outside", "write", "update", "reset", "host"].pick(&random) {
                case "outside":
                    let (name, value) = outside.pick(&random)
                    log.append("\(name) = \(value.map { "\($0)" } ?? "nil") outside")
                    backend.changeOutside([name: value])
                case "write":
                    let port = Int.random(in: 1...9, using: &random)
                    log.append("port = \(port)")
                    service.port = port
                    #expect(service.port == port && base["port"] == .integer(Int64(port)), "\(seed) \(log)")
                case "update":
                    log.append("update")
                    do { try await service.$port.update { $0 = $0 % 9 + 1 } } catch let error as PreferenceError {
                        #expect(
                            [.unreadable, .invalid].contains(error.code) && plain.port != 5,
                            "\(seed) \(log) \(error)"
                        )
                    }
                case "reset":
                    log.append("reset")
                    service.$port.reset()
                    same(service.port, 3, "\(seed) \(log)")
                default:
                    log.append("host")
                    service.host = "c"
                    same(service.host, "c", "\(seed) \(log)")
                }
                let shown = Service(in: .inMemory(store.contents)).problems
                #expect(shown.isEmpty, "\(seed) \(log) \(shown)")
            }
            guard plain.problems.isEmpty else { continue }
            await eventually { store.contents == base.contents }
        }
    }
}
