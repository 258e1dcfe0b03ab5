import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

extension TransactionTests {
    @Test
    func updatesOfTwoStoresOverOneFileAddUp() async throws {
        let folder = try TemporaryFolder()
        let stores = (0..<2).map { _ in PreferenceStore(backend: FileBackend(path: folder.path("preferences.jsonl"))) }
        await onThreads(4) { thread in
            let count = Preference("count", default: 0, in: stores[thread % 2])
            for _ in 0..<500 { insist { try count.update { $0 += 1 } } }
        }
        // A write of another name also reads the values that the other store wrote last.
        for (index, store) in stores.enumerated() { store["end \(index)"] = 1 }
        same(stores.map { $0["count"] }, [2_000, 2_000])
    }
}
