#if canImport(Glibc) && DEBUG
import Glibc
import Preferences

/// Processes that write one file as fast as they can, also while another one compacts it or a shell appends to it.
enum Many {
    private static let workers = 4
    private static let shellLines = 1000

    // MARK: The processes

    static func workNames(_ path: String, id: Int, count: Int) throws {
        let open = OpenStore(path)
        for index in 0..<count { try open.set(.integer(Int64(index)), for: "\(id).\(index)") }
    }

    static func workIncrements(_ path: String, count: Int) throws {
        let counter = Preference("counter", default: 0, in: OpenStore(path).store)
        for _ in 0..<count { try counter.update { $0 += 1 } }
    }

    static func workCompacting(_ path: String) throws {
        let open = OpenStore(path)
        _ = fcntl(0, F_SETFL, O_NONBLOCK)
        var count = 0
        var byte: UInt8 = 0
        // The input has nothing to read until the experiment reports that the other processes are done.
        while read(0, &byte, 1) < 0 {
            let start = now()
            try open.compact()
            count += 1
            // The others ask for the lock again and again, which isn't fair: without a pause, they might never find it free.
            pause(microseconds: (now() - start) / 1000)
        }
        writeLine("\(count)", to: 1)
    }

    // MARK: The experiments

    static func runNames(_ count: Int, _ report: inout Report) async throws {
        // No name is set twice, so nothing is compacted unless a process does only that: then a shell's line might come too late.
        for other in [Other.shell, .compactor] {
            try run(other, &report) { path, id in
                try .worker("names", path, "\(id)", "\(count)")
            } judge: { values in
                let own = values.filter { !$0.key.hasPrefix("shell.") && $0.key != "counter" }
                let wrong = (0..<workers).flatMap { id in (0..<count).filter { own["\(id).\($0)"] != $0 } }
                return (own.count == workers * count && wrong.isEmpty, "\(own.count) of \(workers) × \(count) names")
            }
        }
    }

    static func runIncrements(_ count: Int, _ report: inout Report) async throws {
        for other in [nil, Other.compactor] {
            try run(other, &report) { path, _ in
                try .worker("increments", path, "\(count)")
            } judge: { values in
                (values["counter"] == workers * count, "counter \(values["counter"] ?? -1) of \(workers) × \(count)")
            }
        }
    }

    private enum Other { case shell, compactor }

    private static func run(
        _ other: Other?,
        _ report: inout Report,
        worker: (String, Int) throws -> Child,
        judge: ([String: Int]) -> (Bool, String)
    ) throws {
        let place = try Place()
        try OpenStore(place.file).set(0, for: "counter")
        var children = try (0..<workers).map { try worker(place.file, $0) }
        let compactor = other == .compactor ? try Child.worker("compact", place.file) : nil
        if other == .shell {
            let line = "echo '{\"shell.'$i'\":'$i'}' >> \(place.file)"
            children.append(try .shell("i=0; while [ $i -lt \(shellLines) ]; do \(line); i=$((i+1)); done"))
        }
        for child in children { report.expect(child.wait() == 0, "a process ended with \(child.wait())") }
        var disturbance = ""
        if let compactor {
            compactor.endInput()
            disturbance = ", \(compactor.readLine() ?? "no") compactions"
            report.expect(compactor.wait() == 0, "the compactor ended with \(compactor.wait())")
        }

        let reader = try LineReader<Int>(place.file)
        let open = OpenStore(place.file)
        report.expect(
            open.store.contents == reader.values.mapValues { .integer(Int64($0)) },
            "the store reads other values"
        )
        report.expect(open.problems.isEmpty, "\(open.problems)")
        report.expect(reader.broken.isEmpty, "\(reader.broken.count) lines are broken")
        if other == .shell {
            let lines = (0..<shellLines).count { reader.values["shell.\($0)"] == $0 }
            disturbance = ", \(lines) of \(shellLines) lines of a shell"
            report.expect(lines == shellLines, disturbance)
        }
        let (isRight, text) = judge(reader.values)
        report.expect(isRight, text + disturbance)
        report.note(text + disturbance)
    }
}
#endif
