#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A rule for every sequence of calls, of which a seed chooses one.
struct Law: Sendable {
    let name: String
    /// One of this many rounds of `laws all` is one of this law.
    let divisor: Int
    /// Throws a `Violation`, or the error of a call that must not fail.
    let check: @Sendable (_ seed: UInt64) async throws -> Void
}

/// A state that a law forbids.
struct Violation: Error, CustomStringConvertible {
    let description: String
}

func require<Value: Equatable>(
    _ value: Value,
    equals expected: Value,
    _ context: @autoclosure () -> String
) throws(Violation) {
    if value == expected { return }
    let values = "\(String(reflecting: value)) is not the expected \(String(reflecting: expected))"
    throw Violation(description: "\(context())\n\(values)")
}

// `laws NAME [ROUNDS [FIRST-SEED]]` checks one law, `laws all ROUNDS` each with its share of the rounds.
@main
enum Laws {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().map { UInt64($0) }
        let isAll = arguments.first == "all"
        let chosen = laws.filter { isAll || $0.name == arguments.first }
        guard !chosen.isEmpty, !numbers.contains(nil), isAll ? numbers.count == 1 : numbers.count <= 2 else {
            print("usage: laws all ROUNDS | laws NAME [ROUNDS [FIRST-SEED]]")
            print("100 rounds from seed 0, unless given; the names, and the rounds of 20,000 of all:")
            for law in laws { print("  \(law.name) \(20_000 / law.divisor)") }
            exit(2)
        }
        let rounds = numbers.first.flatMap { $0 } ?? 100
        let first = numbers.dropFirst().first.flatMap { $0 } ?? 0
        var isBroken = false
        for law in chosen {
            let count = isAll ? max(1, rounds / UInt64(law.divisor)) : rounds
            if await !holds(law, first..<first + count) { isBroken = true }
        }
        exit(isBroken ? 1 : 0)
    }

    /// Checks a law up to the first violation, and prints the result.
    // Not on the main actor, which sends the signals of Observation that the laws wait for.
    @concurrent
    private static func holds(_ law: Law, _ seeds: Range<UInt64>) async -> Bool {
        let start = ContinuousClock.now
        var violation: String?
        for seed in seeds where violation == nil {
            let limit = Task {
                try await Task.sleep(for: .seconds(60))
                print("\(law.name): FAILS\n    seed \(seed) doesn't end")
                exit(1)
            }
            do { try await law.check(seed) } catch { violation = "seed \(seed), \(error)" }
            limit.cancel()
        }
        let time = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
        print("\(law.name): \(violation == nil ? "\(seeds.count) rounds hold" : "FAILS") (\(time) s)")
        if let violation { print("    " + violation.split(separator: "\n").joined(separator: "\n    ")) }
        fflush(nil)
        return violation == nil
    }
}
