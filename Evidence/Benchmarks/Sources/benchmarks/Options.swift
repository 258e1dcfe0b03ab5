import Foundation
import Measuring

/// The options of the command line.
struct Options {
    static let usage = """
        usage: benchmarks [--quick] [--rows NAME,…] [--update-page]
          --quick          few and short samples: whether it works, not how fast
          --rows NAME,…    some of: \(Row.all.map(\.name).joined(separator: " "))
          --update-page    writes the tables into the page Performance.md of the documentation
        """

    private(set) var effort = Effort(rounds: 21, length: 0.004)
    private(set) var sizes = [100, 1000, 10_000]
    private(set) var isQuick = false
    private(set) var rows = Row.all
    private(set) var isUpdatingPage = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--quick":
                isQuick = true
                effort = Effort(rounds: 3, length: 0.0005)
                sizes = [100, 1000]
            case "--rows": rows = try Self.rows(rest.popFirst())
            case "--update-page": isUpdatingPage = true
            default: throw Failure("unknown option \(option)\n\(Self.usage)")
            }
        }
        guard !isUpdatingPage || rows.count == Row.all.count else { throw Failure("--update-page needs all rows") }
    }

    private static func rows(_ list: String?) throws -> [Row] {
        try (list ?? "").split(separator: ",").map { name in
            guard let row = Row.all.first(where: { $0.name == name }) else {
                throw Failure("no row is named \(name)\n\(usage)")
            }
            return row
        }
    }
}
