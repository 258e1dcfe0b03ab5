import Preferences
import Synchronization

/// A store with values of its own, in memory, whose next change can be made to fail.
struct Base {
    let store: PreferenceStore
    private let backend: FailingBackend?

    /// Creates an empty store.
    ///
    /// - Parameter canFail: Whether changes can be made to fail.
    init(canFail: Bool) {
        backend = canFail ? FailingBackend() : nil
        store = backend.map { PreferenceStore(Layer(source: Source($0))) } ?? .inMemory()
    }

    var canFail: Bool { backend != nil }

    /// Whether a value that was kept is merged into the one that is found later.
    static let mergesKept = false

    /// Returns a store over a file; in memory, until there are files.
    static func makeFileStore(at path: String) throws -> PreferenceStore { .inMemory() }

    /// Lets the changes fail, or none.
    func setFails(_ fails: Bool) { backend?.fails.store(fails, ordering: .relaxed) }

    /// Changes a value as another process does; returns false, as memory has no such place.
    func changeOutside(_ name: String, to value: PropertyListValue?) -> Bool { false }
}

/// A place that rejects changes while it is told so, for what they are: so nothing is kept.
private final class FailingBackend: Backend {
    let fails = Atomic<Bool>(false)
    let place = "a failing place"
    let mayWait = false

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { [] }
    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        let changes = try body(.none)
        if !changes.isEmpty, fails.load(ordering: .relaxed) {
            throw PreferenceError(.tooLarge, "the place is told to fail")
        }
    }
}

extension Preference {
    /// Waits until the main actor has signalled what it was to signal.
    func settle() async {
        while declaration.node.signal.isWaiting { await Task.yield() }
        await MainActor.run {}
    }
}
