#if canImport(Glibc)
import Preferences

/// Shells that append lines with `echo >>` while a program continuously sets and compacts.
enum Shells {
    private static let shells = 4
    /// Few, so that the file stays small and is compacted often.
    private static let linesOfAFile = 1000

    static func run(_ count: Int, _ report: inout Report) async throws {
        let lines = max(1, min(linesOfAFile, count) / shells)
        let files = max(1, count / (lines * shells))
        var (whole, compactions, late) = (0, 0, 0)
        for _ in 0..<files {
            let place = try Place()
            let open = OpenStore(place.file, watcher: nil)
            try open.set(0, for: "sets")
            let running = try (0..<shells).map { shell in
                // Another process after each line, so that compactions also come between the lines.
                try Child.shell(
                    "i=0; while [ $i -lt \(lines) ]; do echo '{\"\(shell).'$i'\":'$i'}' >> \(place.file); i=$((i+1)); (:); done"
                )
            }
            var sets = 0
            while !running.allSatisfy(\.hasEnded) {
                sets += 1
                try open.set(.integer(Int64(sets)), for: "sets")
                try open.compact()
            }
            report.expect(running.allSatisfy { $0.wait() == 0 }, "a shell failed")
            compactions += sets
            let names = (0..<shells).flatMap { shell in (0..<lines).map { (name: "\(shell).\($0)", value: $0) } }
            func missing() throws -> [String] {
                let values = try LineReader<Int>(place.file).values
                return names.filter { values[$0.name] != $0.value }.map(\.name)
            }
            let first = try missing()
            late += first.count
            // For one second, lines that are still added to a replaced file are appended to the new one.
            let end = now() + 5_000_000_000
            var rest = first
            while !rest.isEmpty, now() < end {
                pause(microseconds: 10_000)
                rest = try missing()
            }
            whole += names.count - rest.count
            let reader = try LineReader<Int>(place.file)
            report.expect(rest.isEmpty, "\(rest.count) lines are lost: \(rest.prefix(3))")
            report.expect(reader.broken.isEmpty && open.damages == 0, "\(reader.broken.count) lines are broken")
            report.expect(reader.values["sets"] == sets, "the last set is \(reader.values["sets"] ?? -1) of \(sets)")
            report.expect(open.problems.isEmpty, "\(open.problems)")
        }
        report.note(
            "\(whole) of \(files * lines * shells) lines of \(shells) shells at a time, in \(files) files during \(compactions) "
                + "compactions and as many sets; \(late) came to the file only after the shells had ended"
        )
    }
}
#endif
