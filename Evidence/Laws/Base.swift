import Preferences
import PreferencesTesting

/// A store with values of its own, in memory, whose changes can be made to fail.
struct Base {
    let store: PreferenceStore
    private let backend: FaultInjectingBackend?

    /// Creates an empty store.
    ///
    /// - Parameter canFail: Whether changes can be made to fail, and made outside of the store.
    init(canFail: Bool) {
        backend = canFail ? FaultInjectingBackend() : nil
        store = backend.map { PreferenceStore(backend: $0) } ?? .inMemory()
    }

    var canFail: Bool { backend != nil }

    /// Lets the changes fail for what they are, so that nothing is kept, or none.
    func setFails(_ fails: Bool) {
        backend?.failNext(
            .apply,
            count: fails ? .max : 0,
            with: PreferenceError(.tooLarge, "the place is told to fail")
        )
    }

    /// Changes a value as another process does; returns false if the store has no such place.
    func changeOutside(_ name: String, to value: PropertyListValue?) -> Bool {
        backend?.changeOutside([name: value])
        return backend != nil
    }
}

extension Preference {
    /// Waits until the main actor has signalled what it was to signal.
    func settle() async {
        while declaration.node.signal.isWaiting { await Task.yield() }
        await MainActor.run {}
    }
}
