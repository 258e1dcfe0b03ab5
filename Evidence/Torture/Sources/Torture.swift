#if canImport(Glibc) && DEBUG
import Glibc

// `torture <experiment>… [count]` runs experiments, `torture all` all of them, and `torture short` all of them with a
// tenth of the rounds; `torture worker …` is internal.
@main
enum Torture {
    private static let experiments = [
        Experiment(name: "kill", count: 200, run: Kill.run),
        Experiment(name: "names", count: 1000, run: Many.runNames),
        Experiment(name: "increments", count: 2500, run: Many.runIncrements),
        Experiment(name: "turns", count: 2000, run: Turns.run),
        Experiment(name: "versions", count: 2000, run: Versions.run),
        Experiment(name: "migrate", count: 100, run: Migrate.run),
        Experiment(name: "crash", count: 100, run: Crash.run),
        Experiment(name: "power", count: 40, run: Power.run),
        Experiment(name: "hostile", count: 1, run: Hostile.run),
        Experiment(name: "places", count: 1, run: Places.run),
        Experiment(name: "seen", count: 10_000, run: Seen.run),
        Experiment(name: "leak", count: 1000, run: Leak.run),
        Experiment(name: "fork", count: 500, run: Fork.run),
        Experiment(name: "keyring", count: 1000, run: Keyring.run),
    ]

    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "worker" {
            arguments.removeFirst()
            exit(await work(arguments))
        }
        let count = arguments.last.flatMap { Int($0) }
        if count != nil { arguments.removeLast() }
        let isShort = arguments == ["short"]
        let isAll = isShort || arguments == ["all"]
        let chosen = experiments.filter { isAll || arguments.contains($0.name) }
        guard !chosen.isEmpty, isAll || chosen.count == arguments.count, count ?? 1 > 0 else {
            print("usage: torture all|short|<experiment>… [count]")
            print("short is all with a tenth of the default counts, which are:")
            for experiment in experiments { print("  \(experiment.name) \(experiment.count)") }
            exit(2)
        }
        var isFailed = false
        for experiment in chosen {
            let report = await run(experiment, count ?? (isShort ? max(1, experiment.count / 10) : experiment.count))
            isFailed = isFailed || !report.failures.isEmpty
        }
        exit(isFailed ? 1 : 0)
    }

    private static func run(_ experiment: Experiment, _ count: Int) async -> Report {
        var report = Report()
        let start = ContinuousClock.now
        do {
            try await experiment.run(count, &report)
        } catch {
            report.expect(false, "\(error)")
        }
        report.print(experiment.name, in: ContinuousClock.now - start)
        return report
    }

    private static func work(_ arguments: [String]) async -> Int32 {
        do {
            try await Worker.run(arguments)
            return 0
        } catch {
            let text = Array("worker \(arguments.joined(separator: " ")): \(error)\n".utf8)
            _ = text.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
            return 1
        }
    }
}
#else
@main
enum Torture {
    static func main() {
        print("The experiments need Linux, glibc and a debug build, which has the library's internals.")
    }
}
#endif
