/// The condition under which changes are stored: values that must not have changed.
public struct PreferenceCondition: Sendable {
    /// The values that these names must still have; nil means absent.
    public var values: [String: PropertyListValue?]
    /// Whether unlisted names that begin with `prefix` must be absent.
    public var isComplete: Bool
    /// The prefix of the names that a complete condition covers; empty for all names.
    public var prefix: String
    /// Whether the changes are values merged into those of the condition, which the program would also store over others; `false` unless set.
    ///
    /// A backend that can't compare now, such as one that queues writes, can store them later without the condition.
    public var isOfMerge = false

    /// Creates a condition.
    public init(values: [String: PropertyListValue?], isComplete: Bool = false, prefix: String = "") {
        self.values = values
        self.isComplete = isComplete
        self.prefix = prefix
    }

    /// Returns the condition of a scope with the names that it has in its store.
    func prefixed(_ prefix: String) -> PreferenceCondition {
        guard !prefix.isEmpty, !isNone else { return self }
        var condition = self
        condition.values = values.prefixed(prefix)
        condition.prefix = prefix + self.prefix
        return condition
    }

    /// The condition that is always true.
    public static let none = PreferenceCondition(values: [:])

    /// Whether the condition is always true.
    var isNone: Bool { values.isEmpty && !isComplete }

    /// Returns whether the condition is true of `contents`.
    public func holds(for contents: [String: PropertyListValue]) -> Bool {
        values.allSatisfy { name, expected in contents[name] == expected } && isComplete(for: contents.keys)
    }

    func holds(for contents: borrowing ValueTable) -> Bool {
        for (name, expected) in values where contents[name] != expected { return false }
        return !isComplete || isComplete(for: contents.names)
    }

    private func isComplete(for names: some Collection<String>) -> Bool {
        guard isComplete else { return true }
        return names.allSatisfy { name in
            // The prefix alone isn't a name of a scope.
            values[name] != nil || !prefix.isEmpty && name.droppingPrefix(prefix)?.isEmpty ?? true
        }
    }
}

extension String {
    /// Returns the rest of a name after a prefix, compared by canonical equivalence; `nil` if the name doesn't begin with it.
    package func droppingPrefix(_ prefix: String) -> String? {
        if utf8.starts(with: prefix.utf8) { return String(utf8.dropFirst(prefix.utf8.count)) }
        return hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
