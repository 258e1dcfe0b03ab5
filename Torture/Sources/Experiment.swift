#if canImport(Glibc)
import Glibc

/// One proof: what is done how often, and what must come of it.
struct Experiment: Sendable {
    let name: String
    /// How often, unless the command says otherwise.
    let count: Int
    let run: @Sendable (_ count: Int, _ report: inout Report) async throws -> Void
}

/// What an experiment found.
struct Report {
    private(set) var figures: [String] = []
    private(set) var failures: [String] = []
    private(set) var missing: [String] = []

    /// Something measured or counted.
    mutating func note(_ figure: String) { figures.append(figure) }

    /// Something that could not be tried here, and why.
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

/// Something that keeps an experiment from being done at all.
struct Obstacle: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
#endif
