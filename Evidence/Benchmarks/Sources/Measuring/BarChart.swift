import Glibc

/// Horizontal bars on a logarithmic scale, as an SVG that is legible on light and dark backgrounds.
package struct BarChart: Sendable {
    package struct Bar: Sendable {
        package let name: String
        package let kind: Contender.Kind
        package let value: Double

        package init(_ name: String, _ kind: Contender.Kind, _ value: Double) {
            self.name = name
            self.kind = kind
            self.value = value
        }
    }

    /// Bars under a common heading.
    package struct Group: Sendable {
        package let title: String
        package let bars: [Bar]

        package init(_ title: String, _ bars: [Bar]) {
            self.title = title
            self.bars = bars
        }
    }

    package let file: String
    package let title: String
    private let unit: Unit
    private let groups: [Group]

    /// - Parameter file: The name of the file, with `.svg`.
    package init(_ file: String, _ title: String, unit: Unit, _ groups: [Group]) {
        self.file = file
        self.title = title
        self.unit = unit
        self.groups = groups.filter { !$0.bars.isEmpty }
    }

    /// Creates a chart with a group for each of some columns of a table.
    package init(_ file: String, _ title: String, _ table: Table, columns: [String]) {
        let groups = columns.map { column in
            Group(
                columns.count > 1 ? column : "",
                table.lines.compactMap { line in
                    table.value(line.name, column).map { Bar(line.name, line.kind, $0) }
                }.sorted { $0.value < $1.value }
            )
        }
        self.init(file, title, unit: table.unit, groups)
    }
}

extension BarChart {
    private static let width = 720.0
    private static let labels = 250.0
    private static let figures = 90.0
    private static let row = 24.0
    // It has the same contrast, 4.5, with white and with black.
    private static let ink = "#767676"
    private static let colors: [Contender.Kind: String] = [
        .ours: "#2f7fd6", .peer: "#9a9a9a", .limit: "#5f9e6e", .aside: "#b39b5c",
    ]

    package var svg: String {
        var (body, y) = (text(0, 20, title, size: 16, weight: "bold"), 44.0)
        for group in groups {
            if !group.title.isEmpty {
                body += text(0, y + 14, group.title, size: 13, weight: "bold")
                y += Self.row
            }
            for bar in group.bars {
                body += draw(bar, y)
                y += Self.row
            }
            y += 10
        }
        body += legend(y + 8)
        let height = Int(y + 26)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(height)" width="\(Int(Self.width))" \
            height="\(height)" role="img" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif">
            <title>\(escaped(title))</title>
            \(body)</svg>

            """
    }

    private func draw(_ bar: Bar, _ y: Double) -> String {
        let room = Self.width - Self.labels - Self.figures
        // The shortest bar is a tenth of a decade, so that it is visible.
        let (least, most) = extent
        let length = room * (log10(bar.value / least) + 0.1) / (log10(most / least) + 0.1)
        let weight = bar.kind == .ours ? "bold" : "normal"
        return text(Self.labels - 8, y + 14, bar.name, size: 13, anchor: "end", weight: weight)
            + rectangle(Self.labels, y + 2, length, 16, bar.kind)
            + text(Self.labels + length + 6, y + 14, unit.text(bar.value), size: 12)
    }

    private func legend(_ y: Double) -> String {
        let names: [(Contender.Kind, String)] = [
            (.ours, "Preferences"), (.peer, "peers"), (.limit, "limits"), (.aside, "promises less"),
        ]
        let used = names.filter { name in groups.contains { $0.bars.contains { $0.kind == name.0 } } }
        var (result, x) = ("", 0.0)
        for (kind, name) in used {
            result += rectangle(x, y, 12, 12, kind)
            result += text(x + 18, y + 10, name, size: 12)
            x += 120
        }
        return result + text(Self.width, y + 10, "logarithmic scale", size: 12, anchor: "end")
    }

    private var extent: (least: Double, most: Double) {
        let values = groups.flatMap { $0.bars.map(\.value) }
        return (values.min() ?? 1, values.max() ?? 1)
    }

    private func text(
        _ x: Double,
        _ y: Double,
        _ content: String,
        size: Int,
        anchor: String = "start",
        weight: String = "normal"
    ) -> String {
        #"<text x="\#(tenths(x))" y="\#(tenths(y))" font-size="\#(size)" fill="\#(Self.ink)" text-anchor="\#(anchor)" "#
            + #"font-weight="\#(weight)">\#(escaped(content))</text>"# + "\n"
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ kind: Contender.Kind)
        -> String
    {
        #"<rect x="\#(tenths(x))" y="\#(tenths(y))" width="\#(tenths(width))" height="\#(tenths(height))" rx="2" "#
            + #"fill="\#(Self.colors[kind] ?? Self.ink)"/>"# + "\n"
    }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    private func escaped(_ text: String) -> String {
        let escapes: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;"]
        return text.map { escapes[$0] ?? String($0) }.joined()
    }
}
