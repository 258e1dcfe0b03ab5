import Preferences

/// A backend that returns only some of its values unless it is queried for the rest by name.
final class UnlistedBackend: PreferenceBackend {
    private struct State {
        var host: PreferenceBackendHost?
        var contents: [String: PropertyListValue]
        var queried: [String] = []
        var isFailing = false
    }

    let listsAllNames = false
    private let state: Lock<State>

    init(_ contents: [String: PropertyListValue]) {
        state = Lock(State(contents: contents))
    }

    var queried: [String] { state.withLock { $0.queried } }

    var stored: [String: PropertyListValue] { state.withLock { $0.contents } }

    func change(_ name: String, to value: PropertyListValue?) {
        let host = state.withLock { state in
            state.contents[name] = value
            return state.host
        }
        host?.changed([name: value])
    }

    /// Changes a value without a notification, and reports that any value may be stale.
    func changeSilently(_ name: String, to value: PropertyListValue?) {
        let host = state.withLock { state in
            state.contents[name] = value
            return state.host
        }
        host?.outdated()
    }

    func fail(_ isFailing: Bool) {
        let host = state.withLock { state in
            state.isFailing = isFailing
            return state.host
        }
        host?.changed()
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        let isFailing = state.withLock { state in
            state.host = host
            return state.isFailing
        }
        if isFailing { throw PreferenceError(.unavailable, "not now") }
        return [:]
    }

    func values(for names: Set<String>) -> [String: PropertyListValue] {
        state.withLock { state in
            state.queried += names
            return state.contents.filter { names.contains($0.key) }
        }
    }

    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        state.withLock { state in
            guard condition.holds(for: state.contents.filter { state.queried.contains($0.key) }) else {
                return PreferenceBackendCommit(isStored: false)
            }
            for (name, value) in changes {
                state.queried.append(name)
                state.contents[name] = value
            }
            return PreferenceBackendCommit(isStored: true)
        }
    }
}
