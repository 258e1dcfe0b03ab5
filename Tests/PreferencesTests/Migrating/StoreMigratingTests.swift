import Foundation
import TestSupport
import Testing

@testable import Preferences

struct StoreMigratingTests {
    private struct Broken: Error {}

    let steps: [PreferenceMigration] = [
        .init(1) { transaction in
            transaction["theme"] = transaction["color"]
            transaction["color"] = nil
        },
        .init(3) { transaction in
            guard case .integer(let volume) = transaction["volume"] else { return }
            transaction["volume"] = .integer(volume * 10)
        },
    ]

    @Test
    func failedStepLeavesTheStateBeforeIt() async throws {
        let store = PreferenceStore.inMemory(["color": "dark", "volume": 3])
        let failing =
            steps + [
                .init(4) { transaction in
                    transaction["volume"] = nil
                    throw Broken()
                }
            ]
        await #expect(throws: Broken.self) { try await store.migrate(to: 4, steps: failing) }
        same(store.contents, ["theme": "dark", "volume": 30, "preferences.version": 3])
    }

    @Test(arguments: [.integer(9), "3", .integer(-1)] as [PropertyListValue])
    func versionThatIsNewerOrNoneIsAnError(stored: PropertyListValue) async throws {
        let store = PreferenceStore.inMemory(["color": "dark", "preferences.version": stored])
        let error = await #expect(throws: PreferenceError.self) { try await store.migrate(to: 3, steps: steps) }
        same(error?.code, stored == .integer(9) ? .newerVersion : .unreadable)
        same(store["color"], "dark")
    }

    @Test(arguments: [[2, 1], [1, 1], [0], [4]])
    func stepsOutOfOrderAreMisuse(versions: [Int]) async throws {
        let error = await #expect(throws: PreferenceError.self) {
            try await PreferenceStore.inMemory().migrate(to: 3, steps: versions.map { .init($0) { _ in } })
        }
        same(error?.code, .misuse)
    }

    /// A migration changes own values only, whatever other layers show, and the dry run says the same.
    @Test
    func resultHasTheOwnValuesOverOtherLayers() async throws {
        struct Player: PreferenceGroup {
            @Preference("volume") var volume = 5
            @Preference("name") var name: String?
        }
        let weaker = PreferenceStore.inMemory(["name": "weak", "volume": 1]).readOnly()
        func store() -> PreferenceStore {
            .layered([
                PreferenceStore.inMemory(["volume": 1, "preferences.version": 1]).readOnly(),
                .inMemory(["volume": 3, "name": "x"]), weaker,
            ])
        }
        for isTrial in [true, false] {
            let (first, second) = (store(), store())
            func steps(_ store: PreferenceStore) -> [PreferenceMigration] {
                let player = Player(in: store)
                return [.init(1) { $0[player.$volume]? *= 10 }, .init(2) { $0[player.$name] = nil }]
            }
            func blocking() throws -> PreferenceStoreChange {
                try first.migrate(to: 2, steps: steps(first), dryRun: isTrial)
            }
            let changes = [
                try blocking(), try await second.migrate(to: 2, steps: steps(second), dryRun: isTrial),
            ]
            for change in changes {
                same(change.names, ["volume", "name", "preferences.version"])
                same(change.old, ["volume": 3, "name": "x"])
                same(change.new, ["volume": 30, "preferences.version": 2])
            }
        }
    }

    /// Several steps that together change nothing, but for the version.
    @Test(arguments: [true, false])
    func stepsThatUndoEachOtherChangeNothing(isTrial: Bool) throws {
        let store = PreferenceStore.inMemory(["a": 1])
        let steps: [PreferenceMigration] = [
            .init(1) { $0.move(from: "a", to: "b") }, .init(2) { $0.move(from: "b", to: "a") },
        ]
        let change = try store.migrate(to: 2, steps: steps, dryRun: isTrial)
        same(change.names, ["preferences.version"])
    }

    @Test
    func programsThatStartAtOnceRunEachStepOnce() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "preferences.jsonl").path
            // Two stores over two backends stand for two processes: they share only the file.
            let stores = (0..<4).map { _ in fileStore(path, timeout: .seconds(3_600)) }
            try await stores[0].write(0, for: "runs")
            await withTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask {
                        do {
                            try await store.migrate(
                                to: 20,
                                steps: (1...20).map { version in
                                    .init(version) { transaction in
                                        guard case .integer(let runs) = transaction["runs"] else { return }
                                        transaction["runs"] = .integer(runs + 1)
                                    }
                                }
                            )
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
            try await stores[0].load()
            same(stores[0]["runs"], 20)
            same(stores[0]["preferences.version"], 20)
        }
    }
}
