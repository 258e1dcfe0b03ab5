/// Rows of cells: aligned on a terminal, else separated by tabs for `cut` and `awk`.
struct Table {
    private var rows: [[String]] = []

    mutating func add(_ cells: String...) { rows.append(cells) }

    var isEmpty: Bool { rows.isEmpty }

    /// The rows as text, each with its newline.
    func text() -> String {
        guard Terminal.isOutput else { return rows.map { $0.joined(separator: "\t") + "\n" }.joined() }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let padding =
                    column == row.count - 1 ? "" : String(repeating: " ", count: widths[column] - cell.count + 2)
                return (column == 0 ? Terminal.coloured(cell, .bold) : cell) + padding
            }
            .joined() + "\n"
        }
        .joined()
    }
}
