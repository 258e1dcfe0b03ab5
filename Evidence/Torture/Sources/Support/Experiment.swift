#if canImport(Glibc) && DEBUG
import Glibc

/// An experiment: the steps, how often they are done, and what must hold afterwards.
struct Experiment: Sendable {
    let name: String
    /// How often the steps are done, unless the command line says otherwise.
    let count: Int
    let run: @Sendable (_ count: Int, _ report: inout Report) async throws -> Void
}

/// The results of an experiment.
struct Report {
    private(set) var figures: [String] = []
    private(set) var failures: [String] = []
    private(set) var missing: [String] = []

    /// Adds something measured or counted.
    mutating func note(_ figure: String) { figures.append(figure) }

    /// Adds something that could not be tried here, and why.
    mutating func skip(_ what: String) { missing.append(what) }

    mutating func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
        if !condition { failures.append(message()) }
    }

    func print(_ name: String, in time: Duration) {
        let verdict = failures.isEmpty ? (figures.isEmpty ? "SKIPPED" : "holds") : "FAILS"
        Swift.print("\(name): \(verdict) (\((time / .milliseconds(100)).rounded() / 10) s)")
        for figure in figures { Swift.print("    \(figure)") }
        for reason in missing { Swift.print("    SKIPPED: \(reason)") }
        for failure in failures.prefix(10) { Swift.print("    FAILURE: \(failure)") }
        if failures.count > 10 { Swift.print("    and \(failures.count - 10) more") }
        fflush(nil)
    }
}

/// An error that prevents an experiment.
struct Obstacle: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
#endif
