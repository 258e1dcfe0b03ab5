import Foundation
import TestSupport
import Testing

@testable import Preferences

/// A store in memory accepts only what a file accepts, so that tests in memory find what would fail.
struct MemoryStoreTests {
    private static func nested(_ depth: Int) -> PropertyListValue {
        (0..<depth).reduce(.integer(1)) { value, level in
            level.isMultiple(of: 2) ? .array([value]) : .dictionary(["a": value])
        }
    }

    private static let values: [(String, PropertyListValue?)] = [
        ("", 1), ("", nil), ("a", 1), ("a", nested(128)), ("a", nested(129)),
        ("a", .data(Data(count: 48 << 20))), ("a", .string(String(repeating: "x", count: 64 << 20))),
        // Less than a line may have, but more if each byte had to be escaped.
        ("a", .string(String(repeating: "x", count: 11 << 20))),
    ]

    @Test(arguments: values.indices)
    func memoryAcceptsWhatAFileAccepts(_ index: Int) throws {
        let (name, value) = Self.values[index]
        func outcome(_ store: PreferenceStore) -> PreferenceError.Code? {
            do {
                try store.transaction {
                    $0[name] = value
                    $0["other"] = 1
                }
                return nil
            } catch { return PreferenceError(.unavailable, from: error).code }
        }
        let memory = PreferenceStore.inMemory()
        try withTemporaryFolder { folder in
            let file = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            let code = outcome(file)
            same(outcome(memory), code)
            same(memory["other"], code == nil ? 1 : nil)
        }
    }
}
