/// Medians of contenders, one line each, with a column for each operation.
package struct Table: Sendable {
    /// One contender's medians; nil in columns for which it wasn't measured.
    package struct Line: Sendable {
        package let name: String
        package let kind: Contender.Kind
        package var values: [Double?]
    }

    package let title: String
    package let unit: Unit
    /// A note under the title.
    package let note: String
    package private(set) var columns: [String] = []
    package private(set) var lines: [Line] = []

    package init(_ title: String, unit: Unit = .time, note: String = "") {
        self.title = title
        self.unit = unit
        self.note = note
    }

    /// Measures contenders in a race and adds their medians.
    package mutating func add(_ column: String, _ effort: Effort, _ contenders: [Contender]) throws {
        let medians = try effort.medians(of: contenders)
        add(column, zip(contenders, medians).map { ($0.name, $0.kind, $1) })
    }

    /// Adds figures that were measured in another way.
    package mutating func add(_ column: String, _ figures: [(name: String, kind: Contender.Kind, value: Double)]) {
        for (name, kind, value) in figures {
            let index = lines.firstIndex { $0.name == name } ?? lines.endIndex
            if index == lines.endIndex { lines.append(Line(name: name, kind: kind, values: columns.map { _ in nil })) }
            lines[index].values.append(value)
        }
        columns.append(column)
        for index in lines.indices where lines[index].values.count < columns.count { lines[index].values.append(nil) }
    }

    /// Returns the figure of a contender in a column; nil if it wasn't measured.
    package func value(_ name: String, _ column: String) -> Double? {
        guard let index = columns.firstIndex(of: column) else { return nil }
        return lines.first { $0.name == name }?.values[index]
    }

    /// Returns the best figure of a kind in a column.
    package func best(_ kind: Contender.Kind, _ column: Int) -> (name: String, value: Double)? {
        let found = lines.compactMap { line in
            line.kind == kind ? line.values[column].map { (name: line.name, value: $0) } : nil
        }
        return unit.isMoreBetter ? found.max { $0.value < $1.value } : found.min { $0.value < $1.value }
    }
}
