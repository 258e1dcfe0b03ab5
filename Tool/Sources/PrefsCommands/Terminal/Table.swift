import PreferencesInspection

/// Rows of cells, aligned on a terminal, otherwise separated by tabs for `cut` and `awk`.
struct Table {
    private var rows: [[String]] = []

    mutating func add(_ cells: String...) { rows.append(cells) }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    var isEmpty: Bool { rows.isEmpty }

    /// Returns the rows as text, each with its newline.
    func text() -> ShownText {
        // Line ends and tabs in a cell are escaped.
        let rows = rows.map { $0.map { PreferenceText.printable($0) } }
        guard Terminal.isOutput else { return ShownText(rows.map { $0.joined(separator: "\t") + "\n" }.joined()) }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        var text = ShownText("")
        for row in rows {
            for (column, cell) in row.enumerated() {
                let padding =
                    column == row.count - 1 ? "\n" : String(repeating: " ", count: widths[column] - cell.count + 2)
                text += column == 0 ? ShownText(cell, .bold) : ShownText(cell)
                text += ShownText(padding)
            }
        }
        return text
    }
}
