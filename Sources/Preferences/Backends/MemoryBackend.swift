internal import DurableFile

/// Keeps values in memory, for tests and previews; they end with the store.
package final class MemoryBackend: PreferenceBackend {
    private let contents: Lock<[String: PropertyListValue]>

    package init(_ contents: [String: PropertyListValue] = [:]) {
        self.contents = Lock(contents)
    }

    package func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        contents.withLock { $0 }
    }

    package func refresh() -> [String: PropertyListValue?] { [:] }

    package func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        try contents.withLock { contents throws(PreferencesError) in
            guard condition.holds(for: contents) else { return PreferenceBackendCommit(isStored: false) }
            // What a file would reject, so that a test in memory shows it.
            try JSONLine.check(.several(changes))
            for (name, value) in changes { contents[name] = value }
            return PreferenceBackendCommit(isStored: true)
        }
    }

    package func sync() {}
}
