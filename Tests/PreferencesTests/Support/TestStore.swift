import DurableFile
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

    /// The number of stored values that a name may be read as.
    func candidateCount(of name: String) -> Int { core.candidates(for: name).1.count }

    /// Changes the first layer as another program would, even one that is read-only in this store.
    func setFromOutside(_ name: String, to value: PropertyListValue?) throws {
        let source = try #require(core.attachedLayers.layers.first).source
        _ = try source.commit(.one(name, value), if: nil, ChangeContext(origin: .local, announcedUpTo: .max))
    }

    /// Returns a store over a backend that is isolated as `.standard` is.
    static func isolatable(_ contents: [String: PropertyListValue]) -> PreferenceStore {
        let layer = Layer(source: Source(MemoryBackend(contents)))
        let store = PreferenceStore(layer, replacement: .memory(isStandard: false))
        SharedStores.register(layered: store)
        return store
    }
}

/// Repeats the call that another process's changes prevented.
func insist(_ body: () throws -> Void) {
    while true {
        do {
            return try body()
        } catch let error as PreferenceError where error.code == .conflict {
            continue
        } catch {
            Issue.record(error)
            return
        }
    }
}
