import FileTestSupport
import Foundation
import Preferences
import PreferencesTesting
import TestSupport
import Testing

/// The interface of `FileBackend` for backends of other packages.
struct FileBackendInterfaceTests {
    /// A backend that keeps each value as a text in a file.
    private final class TextBackend: PreferenceBackend {
        private let file: FileBackend

        init(at url: URL) throws(PreferenceError) { file = try FileBackend(at: url) }

        func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
            // The values of others are texts, too.
            let inner = PreferenceBackendHost(
                changed: { $0.isEmpty ? host.changed() : host.collect(Self.decoded($0)) },
                report: host.report
            )
            return Self.decoded(try file.load(host: inner)).compactMapValues { $0 }
        }

        func catchUp() throws(PreferenceError) { try file.catchUp() }

        func apply(
            _ changes: [String: PropertyListValue?],
            if condition: PreferenceCondition
        ) throws(PreferenceError) -> PreferenceBackendCommit {
            let condition = PreferenceCondition(
                values: try Self.encoded(condition.values),
                isComplete: condition.isComplete,
                prefix: condition.prefix
            )
            return try file.apply(try Self.encoded(changes), if: condition)
        }

        func sync() throws(PreferenceError) { try file.sync() }

        private static func encoded(
            _ values: [String: PropertyListValue?]
        ) throws(PreferenceError) -> [String: PropertyListValue?] {
            var texts: [String: PropertyListValue?] = [:]
            for (name, value) in values {
                guard let value else {
                    texts.updateValue(nil, forKey: name)
                    continue
                }
                texts[name] = .string(try value.json())
            }
            return texts
        }

        private static func decoded(_ values: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
            values.mapValues { value in
                guard case .string(let text) = value else { return value }
                return try? PropertyListValue(json: text)
            }
        }
    }

    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = URL(filePath: folder.path("preferences.jsonl"))
    }

    @Test
    func backendAroundAFileKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            let folder = try TemporaryFolder()
            let url = URL(filePath: folder.path("preferences.jsonl"))
            // Keeps the folder while the place is in use.
            return PreferenceBackendPlace { try withExtendedLifetime(folder) { try TextBackend(at: url) } }
        }
        let store = PreferenceStore(backend: try TextBackend(at: url))
        Preference("volume", default: 5, in: store).wrappedValue = 8
        try same(folder.read("preferences.jsonl"), "{\"volume\":\"8\"}\n")
    }

    @Test
    func urlOfTheWebIsRefused() throws {
        let error = #expect(throws: PreferenceError.self) {
            try FileBackend(at: try #require(URL(string: "https://a/b")))
        }
        same(error?.code, .invalidName)
    }

    @Test
    func caughtErrorGoesToTheHandler() {
        let store = PreferenceStore.inMemory()
        let problems = Lock<[PreferenceError]>([])
        store.issueHandler = { problem in problems.withLock { $0.append(problem) } }
        store.report(PreferenceError(.unavailable, "the storage isn't there yet"))
        same(problems.withLock { $0.map(\.code) }, [.unavailable])
    }
}
