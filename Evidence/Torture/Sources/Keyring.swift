#if canImport(Glibc) && DEBUG
import Glibc
import KeyringTestSupport
import Preferences
import PreferencesKeyring

/// A program sets, reads and removes secrets while the keyring's daemon is killed at random moments.
enum Keyring {
    private static let service = "torture"
    private static let names = (0..<8).map { "secret.\($0)" }

    /// Performs the calls that its input lists, one per line, and answers with the outcome and the duration in
    /// microseconds.
    static func work() throws {
        let store = PreferenceStore.keyring(
            service: service,
            limits: KeyringLimits(timeToLive: .seconds(3600), pauseAfterFailure: .milliseconds(1)),
            library: nil
        )
        store.issueHandler = { _ in }
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            let secret = Preference<String?>(words[1], default: nil, in: store)
            let start = ContinuousClock.now
            var outcome = "ok"
            do throws(PreferenceError) {
                switch words[0] {
                case "set": try secret.write(words[2])
                case "remove": try secret.write(nil)
                default: outcome = secret.value ?? "-"
                }
            } catch {
                outcome = "error.\(error.code)"
            }
            writeLine("\(outcome) \((ContinuousClock.now - start) / .microseconds(1))", to: 1)
        }
    }

    static func run(_ rounds: Int, _ report: inout Report) async throws {
        guard PrivateKeyring.missing.isEmpty else {
            return report.skip("\(PrivateKeyring.missing.joined(separator: ", ")) must be installed")
        }
        let session = try PrivateKeyring()
        let worker = try session.start("/proc/self/exe", ["worker", "keyring", ""])
        // The values that each secret might have: one, unless the outcome of a call is unknown.
        var possible: [String: Set<String>] = [:]
        var (sets, reads, kills, failures, unknown, torn, longest) = (0, 0, 0, 0, 0, 0, 0.0)

        func call(_ line: String) throws -> String {
            // The secret of an item that was left without one is empty.
            let answer = try worker.ask(line).split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard answer.count == 2, let time = Double(answer[1]) else { throw Obstacle("the worker wrote \(answer)") }
            longest = max(longest, time)
            return answer[0]
        }

        for round in 1...rounds {
            guard let name = names.randomElement() else { break }
            let old = possible[name] ?? ["-"]
            let isKilled = Int.random(in: 0..<4) == 0
            // In another process, as this one waits for the answer.
            let killer =
                isKilled
                ? try Child.shell("sleep 0.00\(Int.random(in: 0...9)); kill -9 \(session.daemonProcess) 2>/dev/null")
                : nil
            switch Int.random(in: 0..<4) {
            case 0:
                let value = try call("get \(name)")
                reads += 1
                report.expect(old.contains(value), "round \(round): \(name) is \(value), not \(old)")
            case let act:
                let new = act == 1 ? "-" : "value.\(round)"
                switch try call(act == 1 ? "remove \(name)" : "set \(name) \(new)") {
                case "ok":
                    sets += 1
                    possible[name] = [new]
                case "error.outcomeUnknown":
                    unknown += 1
                    // gnome-keyring first creates an item and then gives it its secret: if it is killed in between, it
                    // leaves an empty one.
                    possible[name] = old.union(act != 1 && old.contains("-") ? [new, ""] : [new])
                case "error.unavailable": failures += 1
                case let outcome: report.expect(false, "round \(round): \(outcome)")
                }
            }
            guard let killer else { continue }
            killer.wait()
            kills += 1
            try session.startDaemon()
            // Read by another program, which knows nothing of the earlier calls.
            for name in names {
                let tool = try session.secretTool("lookup", "application", service, "name", name)
                let value = tool.status == 0 ? tool.output : "-"
                let allowed = possible[name] ?? ["-"]
                report.expect(
                    allowed.contains(value),
                    "round \(round): \(name) is \(value) in the keyring, not \(allowed)"
                )
                if value.isEmpty, possible[name] != [""] { torn += 1 }
                possible[name] = [value]
            }
            if !report.failures.isEmpty { break }
        }
        report.note(
            "\(rounds) rounds, the keyring's program killed \(kills) times: \(sets) acknowledged sets and removals and \(reads) reads, "
                + "none lost or wrong; \(failures) calls failed and changed nothing, of \(unknown) the outcome was unknown, "
                + "\(torn) of which left an item without its secret"
        )
        report.note("the longest call took \(Int(longest / 1000)) ms of at most 5 s")
    }
}
#endif
