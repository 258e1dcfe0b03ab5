import Preferences
import PreferencesInspection

/// The changes of a suite or file that are still known, or those of one preference.
struct ChangeHistory {
    /// A line of a file, or a transaction of a suite on etcd, and the values that it changed.
    struct Change: Equatable {
        /// The member of JSON objects, and the word before the number.
        let unit: String
        let number: Int64
        /// The author, time, program and reason, by the members of JSON objects, in the order in which they are shown.
        let details: [Detail]
        let differences: [Difference]
        /// Whether the values are unknown, as the history is compacted; there are no differences then.
        var isCompacted = false

        struct Detail: Equatable {
            let name: String
            let text: String
        }

        /// The words for the change in messages.
        var title: String { "\(unit) \(number)" }

        /// The change that undoes this one.
        var reversed: Change {
            Change(
                unit: unit,
                number: number,
                details: details,
                differences: differences.map(\.reversed),
                isCompacted: isCompacted
            )
        }

        /// Returns a line with the title and details, and the lines of the values.
        func text(_ redaction: Redaction) throws -> ShownText {
            let words = ([title] + details.map { PreferenceText.printable($0.text) }).joined(separator: "  ")
            let note = isCompacted ? "  (its values are compacted)" : ""
            return ShownText("\(words)\(note)\n", .dim) + (try Difference.text(differences, redaction))
        }

        /// Returns an object on a line for each value; one without a name if the values are unknown.
        func json(_ redaction: Redaction) throws -> String {
            var members: [String: PropertyListValue] = [unit: .integer(number)]
            for detail in details { members[detail.name] = .string(detail.text) }
            if isCompacted {
                members["isCompacted"] = true
                return try ValueText.json(.dictionary(members)) + "\n"
            }
            return try differences.map { try $0.json(redaction, members) + "\n" }.joined()
        }
    }

    /// The oldest first.
    let changes: [Change]
    /// The place after which changes are known, for messages; `nil` if these are all, or if older ones weren't wanted.
    let compaction: String?
    private let unit: String
    private let name: String?

    /// Creates the history of a file.
    ///
    /// - Parameter names: The present name and the former names of the preference; `nil` for all.
    init(file path: String, of names: [String]?) throws {
        let history = try Self.history(of: path)
        changes = history.entries.compactMap { entry in
            let differences = entry.change.differences.filter { names?.contains($0.name) ?? true }
            return differences.isEmpty
                ? nil : Change(unit: "line", number: Int64(entry.line), details: [], differences: differences)
        }
        unit = "line"
        name = names?.first
        compaction = history.compactedLine.map { "after line \($0), where the file was compacted" }
    }

    /// Creates the history of a suite on etcd.
    init(revisions changes: [Change], of names: [String]?, isCompacted: Bool) {
        self.changes = changes
        unit = "transaction"
        name = names?.first
        compaction = isCompacted ? "after the revision to which etcd's history is compacted" : nil
    }

    private static func history(of path: String) throws -> PreferencesHistory {
        // The history must match the values that a store reads; another process may write between the two reads.
        for _ in 0..<3 {
            let contents = try PreferencesFile.contents(of: path) { Terminal.report($0) }
            let history = try PreferencesHistory(try InputFile.bytes(of: path))
            if history.contents == contents { return history }
        }
        throw Failure(
            .failed,
            "the changes of \(path) can't be determined: other programs keep writing it, or it has an object that spans several "
                + "lines, which `prefs check --repair` rewrites. Nothing was changed"
        )
    }

    /// Returns the newest changes, up to a limit.
    func suffix(_ limit: Int) -> ChangeHistory {
        ChangeHistory(
            changes: changes.suffix(limit),
            compaction: changes.count > limit ? nil : compaction,
            unit: unit,
            name: name
        )
    }

    private init(changes: [Change], compaction: String?, unit: String, name: String?) {
        (self.changes, self.compaction, self.unit, self.name) = (changes, compaction, unit, name)
    }

    /// Returns the failure if no change is known.
    ///
    /// - Parameter advice: What to do instead.
    func nothing(in place: String, advice: String?) -> Failure {
        let what = name.map { "\"\($0)\"" } ?? "anything"
        guard let compaction else { return Failure(.absent, "no \(unit) of \(place) changes \(what)") }
        return Failure(
            .absent,
            "no \(unit) of \(place) changes \(what) \(compaction); the values from before that aren't known"
                + (advice.map { ". \($0)" } ?? "")
        )
    }
}
