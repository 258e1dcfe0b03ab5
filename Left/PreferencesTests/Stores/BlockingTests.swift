import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// The blocking forms of the calls that also have an `async` form: for `App.init()` and a synchronous `main`.
@Suite(.timeLimit(.minutes(2)))
struct BlockingTests {
    /// The stores that the forms must work over.
    enum Kind: CaseIterable, Sendable {
        case memory, file, slow, layered

        func makeStore(in folder: TemporaryFolder, _ backend: GateBackend) throws -> PreferenceStore {
            switch self {
            case .memory: .inMemory(["volume": 3])
            case .file: try .file(at: URL(filePath: folder.path("preferences.jsonl")))
            case .slow: PreferenceStore(backend: backend)
            case .layered:
                .layered([
                    try .file(at: URL(filePath: folder.path("preferences.jsonl"))),
                    PreferenceStore(backend: backend, isReadOnly: true),
                ])
            }
        }
    }

    /// Returns the reports of a store.
    private func issues(of store: PreferenceStore) -> Recorder<PreferenceError> {
        let issues = store.recordIssues()
        return issues
    }

    /// Runs `body` on a thread that isn't one of Swift's tasks; the tests themselves are tasks.
    private func outsideTasks<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result
    {
        let result = Lock<Swift.Result<Result, any Error>?>(nil)
        await onThreads(1) { _ in
            let new = Swift.Result { try body() }
            result.withLock { $0 = new }
        }
        return try #require(result.withLock { $0 }).get()
    }

    private static let steps: [PreferenceMigration] = [.init(1) { $0["moved"] = $0["volume"] }]

    @Test(arguments: Kind.allCases)
    func eachFormReturnsAfterItsWorkOutsideOfTasks(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"volume\":3}\n", to: "preferences.jsonl")
        let backend = GateBackend(["volume": 3])
        let store = try kind.makeStore(in: folder, backend)
        let issues = issues(of: store)
        let volume = Preference("volume", default: 5, in: store)
        try await outsideTasks {
            try store.load()
            try same(volume.read(), 3)
            let dry = try store.migrate(to: 1, steps: Self.steps, dryRun: true)
            #expect(dry.names == ["moved", "preferences.version"] && store["moved"] == nil)
            let change = try store.migrate(to: 1, steps: Self.steps)
            #expect(change.names == dry.names && store["moved"] == 3)
            #expect(try store.migrate(to: 1, steps: Self.steps).names.isEmpty)
            try store.load()
            volume.value = 4
            try store.flush()
            try same(volume.read(), 4)
        }
        #expect(issues.elements.isEmpty)
        if kind == .slow { #expect(backend.applied.count == 2 && backend.deadline(of: .sync) != nil) }
    }

    @Test
    func errorsAreThoseOfTheAsyncForms() async throws {
        let backend = GateBackend(["volume": "loud"])
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let volume = Preference("volume", default: 5, in: store)
        backend.failLoads(with: PreferenceError(.unavailable, "not now"))
        try await outsideTasks {
            same(Self.code { try store.load() }, .unavailable)
            same(Self.code { try store.migrate(to: 1, steps: Self.steps) }, .unavailable)
            backend.failLoads(with: nil)
            try store.load()
            same(Self.code { _ = try volume.read() }, .unreadable)
            same(Self.code { try store.migrate(to: 1, steps: Self.steps + Self.steps) }, .misuse)
        }
    }

    /// Returns the code of the error that `body` throws.
    private static func code(of body: () throws -> Void) -> PreferenceError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? PreferenceError)?.code }
    }

    @Test
    func allLayersAreOpenedBeforeTheFirstErrorIsThrown() async throws {
        let (first, second) = (GateBackend(["a": 1]), GateBackend(["b": 2]))
        first.failLoads(with: PreferenceError(.unavailable, "not now"))
        let store = PreferenceStore.layered([PreferenceStore(backend: first), PreferenceStore(backend: second)])
        store.issueHandler = { _ in }
        try await outsideTasks {
            same(Self.code { try store.load() }, .unavailable)
        }
        #expect(store.core.layers.layers[1].source.isOpen)
    }

    /// A call of a store, which also gets another store, in memory, and the preference `volume` of the first.
    private typealias Call = @Sendable (PreferenceStore, PreferenceStore, Preference<Int>) async throws -> Void

    /// Calls that use the backend of a store more than once, at least to open it.
    private static let calls: [String: Call] = [
        "load": { store, _, _ in try store.load() },
        "load, async": { store, _, _ in try await store.load() },
        "write": { _, _, volume in try volume.write(7) },
        "write, async": { _, _, volume in try await volume.write(7) },
        "value": { _, _, volume in volume.value = 7 },
        "reset": { _, _, volume in volume.reset() },
        "update": { _, _, volume in try volume.update { $0 += 1 } },
        "update, async": { _, _, volume in try await volume.update { $0 += 1 } },
        "transaction": { store, _, volume in try store.transaction { $0[volume] += 1 } },
        "transaction, async": { store, _, volume in try await store.transaction { $0[volume] += 1 } },
        "removeAll": { store, _, _ in store.removeAll() },
        "migrate": { store, _, _ in try store.migrate(to: 2, steps: twoSteps) },
        "migrate, async": { store, _, _ in try await store.migrate(to: 2, steps: twoSteps) },
        "migrate in the store": { _, _, volume in volume.migrate(from: "former") },
        "migrate from the store": { _, other, volume in
            Preference("volume", default: 5, in: other).migrate(from: volume)
        },
        "migrate to the store": { store, other, _ in
            Preference("new", default: 5, in: store).migrate(from: Preference("volume", default: 5, in: other))
        },
    ]

    private static let twoSteps: [PreferenceMigration] = steps + [.init(2) { $0["moved"] = nil }]

    /// The first use of the backend and the last have the same deadline.
    @Test
    func callHasOneDeadlineHoweverOftenItUsesTheBackend() async throws {
        for (name, call) in Self.calls {
            let backend = GateBackend(["volume": 3, "former": 4])
            let store = PreferenceStore(backend: backend)
            let other = PreferenceStore.inMemory(["volume": 6])
            (store.issueHandler, other.issueHandler) = ({ _ in }, { _ in })
            try await call(store, other, Preference("volume", default: 5, in: store))
            let deadlines = backend.deadlines
            #expect(deadlines.count == 1 && !deadlines.contains(nil), "\(name): \(deadlines)")
        }
    }

    /// Waiting for another call counts, and so does the backend's own work, which ends at the deadline.
    @Test
    func deadlineOfTheCallHoldsOnTheCallersThread() async throws {
        let backend = GateBackend(timeout: .milliseconds(100))
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        try await persist { try await store.load() }
        backend.close(.catchUp)
        #expect(Pool.startThread { backend.notify() })
        await backend.reached(.catchUp)
        try await outsideTasks {
            same(Self.code { try store.load() }, .unavailable)
            let before = ContinuousClock.now
            try store.flush()
            same(backend.deadline(of: .sync).map { $0 >= before + .milliseconds(100) }, true)
        }
        backend.open(.catchUp)
    }

    @Test
    func threadThatMustNotBeBlockedIsNot() async throws {
        let backend = GateBackend()
        let store = PreferenceStore(backend: backend)
        try await store.load()
        backend.forbidBlocking()
        try await outsideTasks {
            same(Self.code { try store.flush() }, .misuse)
            same(Self.code { try store.load() }, .misuse)
        }
        try await store.flush()
    }
}
