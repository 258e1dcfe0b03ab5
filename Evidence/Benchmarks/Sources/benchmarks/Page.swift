import Foundation
import Measuring

/// The page of the documentation that shows the figures.
enum Page {
    /// In the package that this file is a part of.
    private static let file = URL(filePath: #filePath).appending(
        path: "../../../../../Sources/Preferences/Preferences.docc/Performance.md"
    ).standardized

    /// Writes the tables between the page's marks.
    static func update(_ machine: String, _ outcomes: [Outcome]) throws {
        let aims = outcomes.flatMap { $0.aims.compactMap { $0 } }
        let parts = [machine, "## Aims", markdown(aims), "## Tables"] + outcomes.flatMap { $0.tables.map(\.markdown) }
        let page = try String(contentsOf: file, encoding: .utf8)
        let text = try MarkedPart("benchmarks").replacing(parts.joined(separator: "\n\n"), in: page)
        try Data(text.utf8).write(to: file)
    }
}
