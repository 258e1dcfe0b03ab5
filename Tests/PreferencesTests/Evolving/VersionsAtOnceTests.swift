import Foundation
import Testing

@testable import Preferences

struct VersionsAtOnceTests {
    private struct Old: Codable {
        var x = 0, y = 0
        var note: String?
    }

    private struct New: Codable {
        var x = 0, z = 5
        var names = ["x": 1]
    }

    /// Sets at once, by programs of both versions, over one store and, as two processes do, over one file: members that only one of them
    /// knows have its last value.
    @Test(arguments: [false, true])
    func programsOfTwoVersionsAtOnceLoseNothing(isFile: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "shared.jsonl").path
            let memory = PreferenceStore.inMemory()
            let stores = (0..<2).map { _ in isFile ? fileStore(path) : memory }
            try await stores[0].write(["later": ["a": 1]], for: "value")
            await onThreads(2) { thread in
                if thread == 0 {
                    let old = Preference("value", default: Old(), in: stores[0])
                    for number in 1...50 { insist { try old[\.y].write(number) } }
                } else {
                    let new = Preference("value", default: New(), in: stores[1])
                    for number in 1...50 { insist { try new.update { $0.z = number } } }
                }
            }
            for store in stores { try await store.flush() }
            try await stores[0].load()
            let value = stores[0]["value"]
            #expect(value?[member: "y"] == 50 && value?[member: "z"] == 50 && value?[member: "later"] == ["a": 1])
        }
    }
}
