#if Configuration
import ConfigurationTesting
import FileTestSupport
import Foundation
import Preferences
import PreferencesConfiguration
import Testing

/// The provider under the test that swift-configuration has for all providers.
struct CompatibilityTests {
    static let contents: [String: PropertyListValue] = [
        "string": "Hello", "other.string": "Other Hello",
        "int": 42, "other.int": 24,
        "double": 3.14, "other.double": 2.72,
        "bool": true, "other.bool": false,
        "bytes": .data(magic), "other.bytes": .data(magic2),
        "stringy.array": ["Hello", "World"], "other.stringy.array": ["Hello", "Swift"],
        "inty.array": [42, 24], "other.inty.array": [16, 32],
        "doubly.array": [3.14, 2.72], "other.doubly.array": [0.9, 1.8],
        "booly.array": [true, false], "other.booly.array": [false, true, true],
        "byteChunky.array": [.data(magic), .data(magic2)],
        "other.byteChunky.array": [.data(magic), .data(magic2), .data(magic)],
    ]
    // As in `ConfigurationTestingInternal`, which isn't a product.
    private static let magic = Data("magic".utf8)
    private static let magic2 = Data("magic2".utf8)

    @Test
    func storeInMemoryIsCompatible() async throws {
        try await ProviderCompatTest(provider: PreferenceStoreProvider(.inMemory(Self.contents))).runTest()
    }

    @Test
    func fileStoreIsCompatible() async throws {
        let folder = try TemporaryFolder()
        let store = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        for (name, value) in Self.contents { try await store.write(value, for: name) }
        try await ProviderCompatTest(provider: PreferenceStoreProvider(store)).runTest()
    }

    @Test
    func layeredStoreIsCompatible() async throws {
        let (below, above) = (Self.contents.filter { $0.key.hasPrefix("other.") }, PreferenceStore.inMemory())
        for (name, value) in Self.contents where below[name] == nil { above[name] = value }
        let store = PreferenceStore.layered([above, .inMemory(below)])
        try await ProviderCompatTest(provider: PreferenceStoreProvider(store)).runTest()
    }
}
#endif
