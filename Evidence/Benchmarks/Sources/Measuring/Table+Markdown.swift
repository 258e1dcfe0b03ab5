extension Table {
    /// The table as Markdown, with the ratios in its last lines.
    package var markdown: String {
        var rows = lines.map { line in
            [label(line)] + line.values.map { $0.map(unit.text) ?? "–" }
        }
        rows += ratios
        let separator = ["---"] + columns.map { _ in "---:" }
        let text = ([[""] + columns, separator] + rows).map { "| \($0.joined(separator: " | ")) |" }
        return (["### \(title)", ""] + (note.isEmpty ? [] : [note, ""]) + text).joined(separator: "\n")
    }

    private func label(_ line: Line) -> String {
        switch line.kind {
        case .ours: "**\(line.name)**"
        case .peer: line.name
        case .limit: "*limit:* \(line.name)"
        case .aside: "*\(line.name)*"
        }
    }

    /// The ratios of the library's lines to the best peer and to the first limit.
    private var ratios: [[String]] {
        lines.filter { $0.kind == .ours }.flatMap { line in
            let peers = row("\(line.name): times as good as the best peer", line) { own, column in
                best(.peer, column).flatMap { peer in
                    let ratio = unit.advantage(of: own, over: peer.value)
                    return ratio.isFinite ? times(ratio) + " (\(peer.name))" : nil
                }
            }
            let limit = lines.first { $0.kind == .limit }
            let part = row("\(line.name) ÷ \(limit?.name ?? "")", line) { own, column in
                limit?.values[column].map { times(own / $0) }
            }
            return [peers, part].compactMap { $0 }
        }
    }

    /// Returns a row, or nil if all of its cells are empty.
    private func row(_ title: String, _ line: Line, _ cell: (_ own: Double, _ column: Int) -> String?) -> [String]? {
        let cells = line.values.enumerated().map { column, value in value.flatMap { cell($0, column) } }
        return cells.contains { $0 != nil } ? [title] + cells.map { $0 ?? "–" } : nil
    }
}
