internal import Preferences
internal import PreferencesSchema

/// The schema that is stored in a suite, parsed once for each change of it.
struct StoredSchema: Sendable {
    /// The value of the schema's key that was parsed.
    private var value: PropertyListValue?
    private var schema: PreferenceSchema?

    /// Returns the schema in a value; one that can't be read forbids nothing, and the first call with it returns the problem.
    mutating func parse(_ value: PropertyListValue, path: String) -> (PreferenceSchema?, problem: PreferenceError?) {
        if value == self.value { return (schema, nil) }
        (self.value, schema) = (value, nil)
        do throws(PreferenceError) {
            guard case .string(let text) = value else { throw PreferenceError(.unreadable, "it isn't a text") }
            schema = try PreferenceSchema(text, path: path)
            return (schema, nil)
        } catch {
            let problem = PreferenceError(
                .damaged,
                name: PreferenceStore.schemaName,
                "the schema \(path) can't be read and forbids nothing: \(error.message); store it again with `prefs schema push`"
            )
            return (nil, problem)
        }
    }
}

extension EtcdBackend {
    private static let schemaName = PreferenceStore.schemaName

    /// Returns the error of a value that the suite's schema forbids, or `nil` if it forbids none.
    ///
    /// - Parameters:
    ///   - changes: The changes to check; a schema among them applies to the others.
    ///   - stored: The value of the schema's key, if there is one.
    func refusal(
        of changes: [String: PropertyListValue?],
        by stored: PropertyListValue?
    ) -> PreferenceError? {
        guard isChecked(changes), let value = changes[Self.schemaName] ?? stored else { return nil }
        let path = String(decoding: keys.key(of: Self.schemaName), as: UTF8.self)
        let (schema, problem) = storedSchema.withLock { $0.parse(value, path: path) }
        if let problem { mirror.withLock { $0.note(problem) } }
        do throws(PreferenceError) { try schema?.check(changes) } catch { return error }
        return nil
    }

    /// Returns whether a schema applies to changes: removals are always allowed.
    private func isChecked(_ changes: [String: PropertyListValue?]) -> Bool {
        !configuration.ignoresSchema() && changes.values.contains { $0 != nil }
    }

    /// Returns the names whose keys a write compares, nil for all: its own, and that of the schema if the mirror has one, or if its lack of one
    /// may be out of date, while the store isn't connected.
    func comparedNames(
        of write: Write,
        _ changes: [String: PropertyListValue?],
        on mirror: Mirror
    ) -> Set<String>? {
        guard isChecked(changes) else { return write.names }
        let isKnown = mirror.entries[keys.key(of: Self.schemaName)] != nil
        return isKnown || !monitor.status.isConnected ? write.names?.union([Self.schemaName]) : write.names
    }
}
