import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

extension ScopedStoreTests {
    @Test
    func issuesOfAScopeHaveTheWholeNameAndComeOnce() throws {
        let backend = ReportingBackend(["a.count": "x", "b.count": 1])
        let store = PreferenceStore.layered([.arguments([]), PreferenceStore(backend: backend)])
        let issues = store.recordIssues()
        let (a, b) = (ScopedAccount(in: store.scoped(prefix: "a.")), ScopedAccount(in: store.scoped(prefix: "b.")))
        #expect(a.count == 0 && b.count == 1)
        same(issues.elements.map(\.name), ["a.count"])
        backend.report(PreferenceError(.damaged, "something"))
        same(issues.elements.map(\.code), [.unreadable, .damaged])
    }

    @Test
    func storeReturnsItsFile() throws {
        let folder = try TemporaryFolder()
        let url = URL(filePath: folder.path("preferences.jsonl"))
        let store = try PreferenceStore.file(at: url)
        same(store.location?.path, url.path)
        same(PreferenceStore.layered([.arguments([]), store]).location?.path, url.path)
        same(store.scoped(prefix: "a.").location?.path, url.path)
        same(PreferenceStore.inMemory().location, nil)
    }
}

private final class ReportingBackend: PreferenceBackend {
    let contents: [String: PropertyListValue]
    private let host = Lock<PreferenceBackendHost?>(nil)

    init(_ contents: [String: PropertyListValue]) { self.contents = contents }

    func report(_ error: PreferenceError) { host.withLock { $0 }?.report(error) }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        self.host.withLock { $0 = host }
        return contents
    }
    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        PreferenceBackendCommit(isStored: true)
    }
    func sync() {}
}
