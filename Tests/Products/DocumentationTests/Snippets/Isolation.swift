import Preferences
import PreferencesTesting
import TestSupport
import Testing
import XCTest

// snippet: view model
@MainActor
final class LaunchModel {
    private let launches = Preference("launches", default: 0)
    private let nickname = Preference("nickname", default: "nobody")

    var greeting: String { "Hello \(nickname.value), launch \(launches.value)" }

    func launch() throws {
        try launches.update { $0 += 1 }
    }
}
// end

// snippet: view model test
@Suite(.isolatedStores)
struct LaunchModelTests {
    @Test(.isolatedStores(["nickname": "Ada", "launches": 41])) @MainActor
    func greetingCountsLaunches() throws {
        let model = LaunchModel()
        try model.launch()
        #expect(model.greeting == "Hello Ada, launch 42")
    }
}
// end

// snippet: xctest
class IsolatedTestCase: XCTestCase {
    override func invokeTest() {
        PreferenceStore.withIsolatedStores { super.invokeTest() }
    }
}
// end

final class IsolatedXCTests: IsolatedTestCase {
    private static let count = Preference("xctest.count", default: 0)

    override func setUp() {
        XCTAssertEqual(PreferenceStore.standard.contents, [:])
        Self.count.value = 1
    }

    func testScopeCountsForSetUpAndTest() {
        XCTAssertEqual(Self.count.value, 1)
        Self.count.value = 5
    }

    func testScopeCountsForAsynchronousTests() async throws {
        XCTAssertEqual(Self.count.value, 1)
        await Task.yield()
        try await Self.count.update { $0 += 1 }
        XCTAssertEqual(Self.count.value, 2)
    }
}

struct IsolationSnippets {
    @Test(.isolatedStores)
    func scopeIsTakenAlong() async throws {
        let launches = Preference("launches", default: 0)
        // snippet: isolation taken along
        let isolation = PreferenceStore.isolation
        let launch = Task.detached {
            try isolation.run { try launches.update { $0 += 1 } }
        }
        // end
        try await launch.value
        same(launches.value, 1)
    }

    // snippet: faults
    @Test
    func refusedLaunchIsNotCounted() {
        let backend = FaultInjectingBackend(["launches": 41])
        let launches = Preference("launches", default: 0, in: PreferenceStore(backend: backend))
        backend.failNext(.apply)
        #expect(throws: PreferenceError.self) { try launches.update { $0 += 1 } }
        #expect(launches.value == 41)
        backend.changeOutside(["launches": 100])
        #expect(launches.value == 100)
    }
    // end
}

private final class MyBackend: PreferenceBackend {
    let place = "mine"
    private let base = FaultInjectingBackend()

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
        try base.load(host: host, until: deadline)
    }

    func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges { try base.catchUp(until: deadline) }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        try base.change(until: deadline, body)
    }
}

struct ContractSnippets {
    // snippet: contract
    @Test
    func myBackendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify { MyBackend() }
    }
    // end
}
