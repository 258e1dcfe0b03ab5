import Preferences
import PreferencesTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A store with values of its own, in memory, whose next change can be made to fail.
struct Base {
    let store: PreferenceStore
    private let backend: FaultInjectingBackend?

    /// Creates an empty store.
    ///
    /// - Parameter canFail: Whether changes can be made to fail, and made outside of the store.
    init(canFail: Bool) {
        backend = canFail ? FaultInjectingBackend(over: MemoryBackend()) : nil
        store = backend.map { PreferenceStore(backend: $0) } ?? .inMemory()
    }

    var canFail: Bool { backend != nil }

    /// Whether a value that was kept is merged into the one that is found later.
    static let mergesKept = true

    /// Returns a store over a file.
    static func makeFileStore(at path: String) throws -> PreferenceStore { try .file(at: URL(filePath: path)) }

    /// Lets the next change fail, or none.
    func setFails(_ fails: Bool) {
        if fails { backend?.failNext(.apply) } else { backend?.failNext(.apply, count: 0) }
    }

    /// Changes a value as another process does; returns false if the store has no such place.
    func changeOutside(_ name: String, to value: PropertyListValue?) -> Bool {
        backend?.changeOutside([name: value])
        return backend != nil
    }
}

extension Preference {
    /// Waits until the main actor has signalled what it was to signal.
    func settle() async { await MainActor.run {} }
}
