import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

extension LayeredStoreTests {
    @Test
    func changeBelowWhatWasReadIsAConflict() throws {
        let layers = Layers()
        try set(3, for: "volume", in: layers.system)
        let volume = Preference("volume", default: 0, in: layers.store)
        let runs = Counter()
        try volume.update { value in
            if runs.next() == 1 { try set(5, for: "volume", in: layers.system) }
            value += 1
        }
        #expect(runs.value == 2 && layers.user["volume"] == 6)
        try layers.store.transaction { transaction in
            let count = transaction.names.count
            if runs.next() == 3 { try set(1, for: "other", in: layers.system) }
            transaction["count"] = .integer(Int64(count))
        }
        #expect(runs.value == 4 && layers.user["count"] == 2)
    }
}
