import Foundation
import Measuring

/// The page of the documentation that shows the figures.
struct Page {
    /// The folder of the page and its charts: the documentation in the package that this file is a part of.
    private static let folder = URL(filePath: #filePath).appending(
        path: "../../../../../Sources/Preferences/Preferences.docc"
    ).standardized
    private static let file = folder.appending(path: "Performance.md")

    /// Writes charts into a folder, which is created if it is missing.
    static func write(_ charts: [BarChart], to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for chart in charts { try Data(chart.svg.utf8).write(to: folder.appending(path: chart.file)) }
    }

    /// Writes the tables between the page's marks, each row's charts before its tables, and the charts next to the
    /// page.
    static func update(_ machine: String, _ outcomes: [Outcome]) throws {
        let aims = outcomes.flatMap { $0.aims.compactMap { $0 } }
        var parts = [machine, "## Aims", markdown(aims), "## Tables"]
        for outcome in outcomes {
            parts += outcome.charts.map { "![\($0.title)](\($0.file))" }
            parts += outcome.tables.map(\.markdown)
        }
        let page = try String(contentsOf: file, encoding: .utf8)
        let text = try MarkedPart("benchmarks").replacing(parts.joined(separator: "\n\n"), in: page)
        try Data(text.utf8).write(to: file)
        try write(outcomes.flatMap(\.charts), to: folder)
    }
}
