import DurableFile
import Preferences

/// A memory backend whose values another hand may change, as another process does with a file's.
final class OutsideBackend: PreferenceBackend {
    private struct State {
        var contents: [String: PropertyListValue]
        /// The values that the store was told of, of names that have others now.
        var untold: [String: PropertyListValue?] = [:]
        var host: PreferenceBackendHost?
        var failingLoads: Int
    }

    private let state: Lock<State>

    init(_ contents: [String: PropertyListValue] = [:], failingLoads: Int = 0) {
        state = Lock(State(contents: contents, failingLoads: failingLoads))
    }

    /// Changes a value behind the store's back.
    func changeOutside(_ name: String, to value: PropertyListValue?, isTelling: Bool = true) {
        let host = state.withLock { state in
            if state.untold[name] == nil { state.untold[name] = .some(state.contents[name]) }
            state.contents[name] = value
            return state.host
        }
        if isTelling { host?.changed() }
    }

    /// Says that something changed, whether or not it did.
    func tell() { state.withLock { $0.host }?.changed() }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        try state.withLock { state throws(PreferenceError) in
            guard state.failingLoads == 0 else {
                state.failingLoads -= 1
                throw PreferenceError(.unavailable, "not yet")
            }
            state.host = host
            state.untold = [:]
            return state.contents
        }
    }

    func catchUp() { state.withLock { Self.passOutside(&$0) } }

    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        state.withLock { state in
            Self.passOutside(&state)
            guard condition.holds(for: state.contents) else { return PreferenceBackendCommit(isStored: false) }
            for (name, value) in changes { state.contents[name] = value }
            return PreferenceBackendCommit()
        }
    }

    private static func passOutside(_ state: inout State) {
        defer { state.untold = [:] }
        var changes: [String: PropertyListValue?] = [:]
        for (name, told) in state.untold where told != state.contents[name] {
            changes.updateValue(state.contents[name], forKey: name)
        }
        state.host?.collect(changes)
    }
}
