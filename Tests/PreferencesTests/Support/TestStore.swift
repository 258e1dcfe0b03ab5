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

extension PreferenceStore {
    /// The number of stores that show names of the store's place.
    var storeCount: Int {
        let source = core.layers[0].source
        var cores: Set<ObjectIdentifier> = []
        source.publishing.withLock {
            source.table.forEach { for (node, _) in $0.nodes { cores.insert(ObjectIdentifier(node.core)) } }
        }
        return cores.count
    }

    /// The number of observers of a name.
    func subscriptionCount(of name: String) -> Int {
        let node = core.node(name)
        return core.publishing.withLock { node.subscriptions.all.filter { $0 != nil }.count }
    }

    /// The number of stored values that a name may be read as.
    func candidateCount(of name: String) -> Int {
        let node = core.node(name)
        return core.publishing.withLock { node.candidates().count }
    }

    /// Changes the first layer as another program would, even one that is read-only in this store.
    func setFromOutside(_ name: String, to value: PropertyListValue?) throws {
        try core.layers[0].source.change(until: .never) { _ in ([StoredChange(name, value)], .max) }
    }

    /// Returns a store over a backend that is isolated as `.standard` is.
    static func isolatable(_ contents: [String: PropertyListValue]) -> PreferenceStore {
        let layer = Layer(source: Source(custom: MemoryBackend(contents)))
        return PreferenceStore(layer, replacement: .memory(isStandard: false))
    }
}

extension StoreCore {
    func formerNames(of name: String) -> [String] { formerNames(of: node(name)) }
}

extension MemoryBackend {
    convenience init(_ contents: [String: PropertyListValue]) {
        self.init(contents.map { StoredChange($0.key, $0.value) })
    }
}
