import Foundation
import TestSupport
import Testing

@testable import Preferences

extension StoreMigratingTests {
    @Test
    func programsThatStartAtOnceRunEachStepOnce() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "preferences.jsonl").path
            // Two stores over two backends stand for two processes: they share only the file.
            let stores = (0..<4).map { _ in PreferenceStore(backend: FileBackend(path: path)) }
            stores[0]["runs"] = 0
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
            stores[0]["other"] = 0
            same(stores[0]["runs"], 20)
            same(stores[0]["preferences.version"], 20)
        }
    }
}
