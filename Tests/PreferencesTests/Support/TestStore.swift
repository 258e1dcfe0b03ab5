import Foundation
import Testing

@testable import Preferences

/// The kinds of store that the rules must hold for alike.
enum StoreKind: CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, file, layered

    var testDescription: String { "\(self)" }

    /// Runs `body` with a fresh store of the kind, in a folder of its own.
    ///
    /// If an object holds the store longer, it misses the folder; that isn't an issue of the test.
    func withStore<Result>(_ body: (PreferenceStore) throws -> Result) throws -> Result {
        try withTemporaryFolder { folder in
            let store = try makeStore(in: folder)
            defer { store.issueHandler = { _ in } }
            return try body(store)
        }
    }

    func withStore<Result>(_ body: (PreferenceStore) async throws -> Result) async throws -> Result {
        try await withTemporaryFolder { folder in
            let store = try makeStore(in: folder)
            defer { store.issueHandler = { _ in } }
            return try await body(store)
        }
    }

    func makeStore(in folder: URL) throws -> PreferenceStore {
        switch self {
        case .memory: .inMemory()
        case .file: try .file(at: folder.appending(path: "preferences.jsonl"))
        case .layered: .layered([try .file(at: folder.appending(path: "preferences.jsonl")), .inMemory()])
        }
    }
}

extension PreferenceStore {
    /// The number of stores that show names of the store's place.
    var storeCount: Int { core.layers.layers[0].source.cores.count }

    /// The number of observers of a name.
    func subscriptionCount(of name: String) -> Int {
        var batch = ChangeBatch(sequence: .max, origin: .local)
        batch.append(ChangeEntry(name: name, old: StoredCandidates(), new: StoredCandidates(1)))
        return core.state.withLock { [batch] in $0.subscribers(to: batch).count }
    }
}
