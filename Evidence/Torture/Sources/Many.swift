#if canImport(Glibc)
import Glibc
import Preferences

/// Processes that write one file as fast as they can, also while another one compacts it and a shell appends to it.
enum Many {
    private static let workers = 4
    private static let shellLines = 1000

    // MARK: The processes

    static func workNames(_ path: String, id: Int, count: Int) throws {
        let open = OpenStore(path)
        for index in 0..<count { try open.set(.integer(Int64(index)), for: "\(id).\(index)") }
        Worker.finish()
    }

    static func workIncrements(_ path: String, count: Int) throws {
        let open = OpenStore(path)
        let counter = Preference("counter", default: 0, in: open.store)
        var conflicts = 0
        var done = 0
        while done < count {
            do {
                try counter.update { $0 += 1 }
                done += 1
            } catch let error as PreferenceError where error.code == .conflict {
                conflicts += 1
            }
        }
        writeLine("\(conflicts)", to: 1)
        Worker.finish()
    }

    static func workCompacting(_ path: String) throws {
        let open = OpenStore(path)
        _ = fcntl(0, F_SETFL, O_NONBLOCK)
        var count = 0
        var byte: UInt8 = 0
        // The input has nothing to read until the experiment reports that the other processes are done.
        while read(0, &byte, 1) < 0 {
            try open.compact()
            count += 1
        }
        writeLine("\(count)", to: 1)
        _ = fcntl(0, F_SETFL, 0)
        Worker.finish()
    }

    // MARK: The experiments

    static func runNames(_ count: Int, _ report: inout Report) async throws {
        for isDisturbed in [false, true] {
            try run(isDisturbed, &report) { path, id in
                try .worker("names", path, "\(id)", "\(count)")
            } judge: { values, _ in
                let own = values.filter { !$0.key.hasPrefix("shell.") && $0.key != "counter" }
                let wrong = (0..<workers).flatMap { id in (0..<count).filter { own["\(id).\($0)"] != $0 } }
                return (own.count == workers * count && wrong.isEmpty, "\(own.count) of \(workers) × \(count) names")
            }
        }
    }

    static func runIncrements(_ count: Int, _ report: inout Report) async throws {
        for isDisturbed in [false, true] {
            try run(isDisturbed, &report) { path, _ in
                try .worker("increments", path, "\(count)")
            } judge: { values, said in
                let conflicts = said.compactMap(Int.init).reduce(0, +)
                return (
                    values["counter"] == workers * count,
                    "counter \(values["counter"] ?? -1) of \(workers) × \(count), \(conflicts) updates begun again after 64 conflicts"
                )
            }
        }
    }

    private static func run(
        _ isDisturbed: Bool,
        _ report: inout Report,
        worker: (String, Int) throws -> Child,
        judge: ([String: Int], [String]) -> (Bool, String)
    ) throws {
        let place = try Place()
        try OpenStore(place.file, watcher: nil).set(0, for: "counter")
        let children = try (0..<workers).map { try worker(place.file, $0) }
        var compactor: Child?
        var shell: Child?
        if isDisturbed {
            compactor = try .worker("compact", place.file)
            shell = try .shell(
                "i=0; while [ $i -lt \(shellLines) ]; do echo '{\"shell.'$i'\":'$i'}' >> \(place.file); i=$((i+1)); done; echo done"
            )
        }
        var said: [String] = []
        for child in children {
            while let line = child.readLine(), line != "done" { said.append(line) }
        }
        report.expect(shell.map { $0.readLine() == "done" } ?? true, "the shell failed")
        var compactions = 0
        if let compactor {
            compactor.send("enough")
            while let line = compactor.readLine(), line != "done" { compactions = Int(line) ?? 0 }
            // Wait while the store appends late lines.
            pause(microseconds: 1_500_000)
        }
        for child in children + [compactor].compactMap(\.self) {
            child.endInput()
            report.expect(child.wait() == 0, "a process ended with \(child.wait())")
        }

        let reader = try LineReader<Int>(place.file)
        let open = OpenStore(place.file, watcher: nil)
        report.expect(
            open.store.contents == reader.values.mapValues { .integer(Int64($0)) },
            "the store reads other values"
        )
        report.expect(open.problems.isEmpty, "\(open.problems)")
        report.expect(reader.broken.isEmpty, "\(reader.broken.count) lines are broken")
        let (isRight, text) = judge(reader.values, said)
        let lines = (0..<shellLines).count { reader.values["shell.\($0)"] == $0 }
        let disturbance =
            isDisturbed ? ", \(compactions) compactions, \(lines) of \(shellLines) lines of the shell" : ", undisturbed"
        report.expect(isRight, text + disturbance)
        report.expect(!isDisturbed || lines == shellLines, "\(lines) of \(shellLines) lines of the shell")
        report.note(text + disturbance)
    }
}
#endif
