import FileTestSupport
import Foundation
import PreferencesTesting
import PreferencesValidation
import TestSupport
import Testing

@testable import Preferences

/// Validated stores over files.
struct ValidatedFileTests {
    private typealias Service = ServicePreferences
    private typealias Fixture = ValidatedStoreTests.Fixture

    /// Returns a store over a file, and what appends to the file.
    private static func fixture(in folder: TemporaryFolder) throws -> Fixture {
        try folder.write("{\"host\":\"a\",\"port\":90}\n", to: "preferences.jsonl")
        return Fixture(try .file(at: URL(filePath: folder.path("preferences.jsonl")))) {
            try folder.append("{\"\($0)\":\($1)}\n", to: "preferences.jsonl")
        }
    }

    @Test(arguments: ValidatedStoreTests.faults.indices)
    func faultLeavesTheLastValidState(fault: Int) async throws {
        let folder = try TemporaryFolder()
        try await ValidatedStoreTests.checkFault(ValidatedStoreTests.faults[fault], Self.fixture(in: folder))
    }

    @Test
    func problemThatMovesToAnotherLineIsReportedOnce() async throws {
        let folder = try TemporaryFolder()
        let fixture = try Self.fixture(in: folder)
        let store = try PreferenceStore.validated(Service.self, over: fixture.store)
        let issues = store.recordIssues()
        try fixture.change("port", "ninety")
        try await store.load()
        try fixture.change("port", "ninety")
        try await store.load()
        // Reported after what was found before it.
        try fixture.change("port", 0)
        try await store.load()
        await eventually { issues.elements.contains { $0.message.contains("is out of range") || $0.code == .invalid } }
        same(issues.elements.filter { $0.message.contains("found string") }.count, 1, "\(issues.elements)")
    }

    @Test(arguments: ProblemTests.places.map(\.layer), ProblemTests.faults)
    func faultAtTheStartIsThrown(layer: String, fault: ProblemTests.Fault) throws {
        let folder = try TemporaryFolder()
        let value = ["arguments", "environment"].contains(layer) ? .string(fault.text) : fault.value
        let store = try ProblemTests.store(layer, [fault.name: value], in: folder)
        let problems = try #require(throws: PreferenceProblems.self) {
            try PreferenceStore.validated(Service.self, over: store)
        }
        #expect(problems.map(\.name) == [fault.name] && problems.map(\.code) == [fault.code])
    }

    @Test
    func writesGoToTheStoreAndAreShownAtOnce() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"host\":\"a\",\"port\":90}\n", to: "preferences.jsonl")
        let file = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        let store = try PreferenceStore.validated(Service.self, over: file)
        let issues = store.recordIssues()
        let service = Service(in: store)
        service.port = 91
        #expect(service.port == 91 && file["port"] == 91)
        service.frame.width = 2
        try await service.$mode.write(.wide)
        try await service.$port.update { $0 += 1 }
        try await store.transaction { $0[service.$host] = "b" }
        try await store.flush()
        #expect(service.port == 92 && service.mode == .wide && service.host == "b" && service.frame.width == 2)
        #expect(file.contents == store.contents && service.$port.source == .store && service.$port.isSet)
        // One that would make a problem is rejected, however it is written.
        let before = file.contents
        #expect(throws: PreferenceError.self) { try store.write("ninety", for: "port") }
        #expect(throws: PreferenceError.self) { try store.transaction { $0["frame"] = ["mode": "tall"] } }
        #expect(throws: PreferenceError.self) { try store.write(nil, for: "host") }
        service.$host.reset()
        #expect(issues.elements.map(\.code) == [.invalid] && file.contents == before && service.host == "b")
        // An own write lies over a state that isn't valid, and update reads the stored value.
        try folder.append("{\"mode\":\"tall\"}\n", to: "preferences.jsonl")
        await eventually { issues.elements.count > 1 }
        service.port = 70
        try await service.$port.update { $0 += 1 }
        #expect(service.port == 71 && service.mode == .wide && file["port"] == 71)
        #expect(throws: PreferenceError.self) { try service.$mode.update { $0 = .plain } }
        service.mode = .plain
        await eventually { store.contents == file.contents }
        #expect(service.mode == .plain && issues.elements.count == 2)
    }

    @Test
    func taskIsSuspendedWhileAFileIsWaitedFor() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"host\":\"a\"}\n", to: "preferences.jsonl")
        let file = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        let store = try PreferenceStore.validated(Service.self, over: file)
        #expect(store.core.beginSuspendingCall() != nil)
        let issues = store.recordIssues()
        try await Service(in: store).$port.write(91)
        #expect(file["port"] == 91 && issues.elements.isEmpty)
    }

    @Test
    func descriptionOfTheStoreNamesTheCopy() throws {
        let store = PreferenceStore.layered([.arguments([]), .inMemory(["host": "a"])])
        let service = Service(in: try .validated(Service.self, over: store))
        same("\(service.$port.store)", "arguments; store, ValidatedBackend")
    }
}
