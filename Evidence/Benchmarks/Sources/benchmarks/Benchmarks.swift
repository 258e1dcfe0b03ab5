import Foundation
import Measuring

// `benchmarks --help` prints the options; `benchmarks child …` is internal.
@main
enum Benchmarks {
    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "child" { return try Role.run(Array(arguments.dropFirst())) }
            if arguments.contains("--help") { return print(Options.usage) }
            let options = try Options(arguments)
            try Place.enter()
            try run(options)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) throws {
        let place = try Place()
        let bench = Bench(place, options.effort, sizes: options.sizes, isQuick: options.isQuick)
        let machine = Machine.describe(place.path)
        writeLine(machine + "\n")
        let outcomes = try options.rows.map { row in
            let outcome = try row.measure(bench)
            for table in outcome.tables { writeLine(table.markdown + "\n") }
            return outcome
        }
        writeLine(markdown(outcomes.flatMap { $0.aims.compactMap { $0 } }))
        for (name, problem) in bench.skipped { writeLine("SKIPPED \(name): \(problem)") }
        // CI installs all peers that must not be missing there.
        let isComplete = !bench.skipped.contains { $0.problem.isInstallable }
        guard isComplete || ProcessInfo.processInfo.environment["CI"] != "true" else {
            throw Failure("with CI=true no peer may be skipped that a package brings")
        }
        if options.isUpdatingPage { try Page.update(machine, outcomes) }
    }
}
