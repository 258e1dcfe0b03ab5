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

/// Waits until a condition holds.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

/// Repeats a call that may wait too long on a busy machine.
func insist(_ body: () throws -> Void) {
    while true {
        do { return try body() } catch PreferenceError.conflict {} catch PreferenceError.busy {} catch {
            Issue.record(error)
            return
        }
    }
}
