import Foundation
import Measuring

@main
enum Benchmarks {
    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            try run(options)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) throws {
        let place = try Place()
        let bench = Bench(place, options.effort, sizes: options.sizes)
        var outcome = Outcome()
        for row in options.rows {
            let result = try row.measure(bench)
            for table in result.tables { print(table.markdown + "\n") }
            outcome += result
        }
        print(markdown(outcome.aims.compactMap { $0 }))
        for (name, reason) in bench.skipped { print("SKIPPED \(name): \(reason)") }
    }
}
