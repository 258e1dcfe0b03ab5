internal import DurableFile
internal import Synchronization

/// The options of one letter that preferences of a store have on the command line; guarded by the store's lock.
struct ShortNames: Sendable {
    private var names: [String: Character] = [:]
    private var unchecked: [String] = []

    /// All letters, as names of options.
    var all: Set<String> { Set(names.values.map(String.init)) }

    /// Records the letter of a preference; returns whether that is new.
    mutating func note(_ short: Character, of name: String) -> Bool {
        guard names.updateValue(short, forKey: name) != short else { return false }
        unchecked.append(name)
        return true
    }

    /// Returns the preferences whose letters were recorded since the last call.
    mutating func drainUnchecked() -> [(name: String, short: Character)] {
        guard !unchecked.isEmpty else { return [] }
        defer { unchecked = [] }
        return unchecked.compactMap { name in names[name].map { (name, $0) } }
    }
}

extension StoreCore {
    /// Records the option of one letter of a preference; creates no layers, because a declaration reads nothing.
    @inline(never)
    func noteShortName(_ short: Character, of name: String) {
        guard state.withLock({ $0.noteShortName(short, of: name) }) else { return }
        madeLayers?.isAttached.store(false, ordering: .releasing)
    }

    /// Gives the preferences whose letters the command line has a value, so that reads of their names find the options.
    ///
    /// Before the first read of these preferences, so no reader is notified. Call with the lock of the store.
    func useShortNames(_ names: [(name: String, short: Character)], in list: LayerList) {
        for layer in list.layers where !layer.source.options.isEmpty {
            for (name, short) in names { layer.source.addValue(of: layer.spelled(name), short: short) }
        }
    }
}

extension Source {
    /// Adds a value for a name whose option of one letter is on the command line.
    fileprivate func addValue(of name: String, short: Character) {
        guard values[name] == nil, let last = options.uses(of: name, short: short).last else { return }
        values.set(last.storedValue, for: name)
    }
}
