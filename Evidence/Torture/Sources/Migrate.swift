#if canImport(Glibc) && DEBUG
import Glibc
import Preferences

/// Two processes migrate one file at the same time and are killed at random moments.
enum Migrate {
    private static let names = 1000
    private static let steps = 10

    static func work(_ path: String) async throws {
        let open = OpenStore(path)
        writeLine("open", to: 1)
        _ = try await open.store.migrate(to: steps, steps: migrations)
        writeLine("done", to: 1)
    }

    /// Each step moves its share of the names and counts them: a step that ran twice would show.
    private static var migrations: [PreferenceMigration] {
        (1...steps).map { step in
            PreferenceMigration(step) { transaction in
                for name in share(of: step) {
                    guard case .integer(let value) = transaction["old.\(name)"] else { continue }
                    transaction["old.\(name)"] = nil
                    transaction["new.\(name)"] = .integer(value * 10)
                }
                guard case .integer(let runs) = transaction["runs"] ?? .integer(0) else { return }
                transaction["runs"] = .integer(runs + 1)
            }
        }
    }

    private static func share(of step: Int) -> Range<Int> {
        (step - 1) * names / steps..<step * names / steps
    }

    /// Returns the contents of the file after `done` steps.
    private static func contents(after done: Int) -> [String: PropertyListValue] {
        var contents: [String: PropertyListValue] = [:]
        for step in 1...steps {
            for name in share(of: step) {
                let isDone = step <= done
                contents[(isDone ? "new." : "old.") + "\(name)"] = .integer(Int64(isDone ? name * 10 : name))
            }
        }
        guard done > 0 else { return contents }
        contents["runs"] = .integer(Int64(done))
        contents["preferences.version"] = .integer(Int64(done))
        return contents
    }

    static func run(_ rounds: Int, _ report: inout Report) async throws {
        var (cut, stopped) = (0, Set<Int>())
        for round in 1...rounds {
            let place = try Place()
            let before = contents(after: 0)
            try await OpenStore(place.file).store.transaction { transaction in
                for (name, value) in before { transaction[name] = value }
            }
            let children = try (0..<2).map { _ in try Child.worker("migrate", place.file) }
            for child in children { _ = child.readLine() }
            pause(microseconds: .random(in: 0...4_000))
            for child in children { child.kill() }
            for child in children {
                if child.wait() == -SIGKILL { cut += 1 }
            }
            let found = OpenStore(place.file).store.contents
            let done: Int = if case .integer(let version) = found["preferences.version"] { Int(version) } else { 0 }
            stopped.insert(done)
            report.expect(found == contents(after: done), "round \(round): not all of \(done) steps, or more")

            let open = OpenStore(place.file)
            _ = try await open.store.migrate(to: steps, steps: migrations)
            report.expect(open.store.contents == contents(after: steps), "round \(round): the rest was not done right")
            let again = try await open.store.migrate(to: steps, steps: migrations)
            report.expect(again.names.isEmpty, "round \(round): a second run changed \(again.names.sorted())")
        }
        report.note(
            "\(rounds) rounds of \(names) names in \(steps) steps by 2 processes at once: \(cut) of \(rounds * 2) killed on the way, "
                + "with \(stopped.sorted()) steps done; each done whole and once, and a second run changed nothing"
        )
    }
}
#endif
