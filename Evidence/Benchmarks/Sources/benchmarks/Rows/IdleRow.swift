import Foundation
import Glibc
import Measuring
import Preferences

/// The wake-ups of a process that has stores and does nothing.
enum IdleRow {
    private static let one = "one store"
    private static let many = "100 stores"
    private static let sibling = "another file of the folder is written"
    private static let above = "a file is created and removed in the folder above"

    static func measure(_ bench: Bench) throws -> Outcome {
        // A quick run only shows that it can be measured.
        let length: UInt32 = bench.effort.rounds > 3 ? 10 : 1
        let idle = try idleTable(bench, length)
        var busy = Table(
            "Wake-ups by other files",
            unit: .rate,
            note:
                "Wake-ups of the same threads, in a process with one store, while another process does the action of the column "
                + "some 5,000 times a second."
        )
        let folder = try bench.place.folder()
        let file = try BareFile(folder + "/other", line: "another line\n")
        try busy.add(sibling, [(Ours.file, .ours, wakeUps(folder, length) { try file.append() })])
        let inner = try bench.place.folder(in: folder)
        let path = folder + "/created"
        try busy.add(
            above,
            [
                (
                    Ours.file, .ours,
                    wakeUps(inner, length) {
                        _ = try BareFile(path, line: "")
                        unlink(path)
                    }
                )
            ]
        )
        return Outcome(
            tables: [idle, busy],
            aims: [
                idle.aim("idle, one store", "no wake-up", Ours.file, one, atMost: 0),
                idle.aim("idle, 100 stores", "no wake-up", Ours.file, many, atMost: 0),
            ]
                + busy.columns.map {
                    busy.aim("idle, \($0)", "≤ 100 wake-ups a second", Ours.file, $0, atMost: 100)
                }
        )
    }

    private static func idleTable(_ bench: Bench, _ length: UInt32) throws -> Table {
        var table = Table(
            "Wake-ups while nothing happens",
            unit: .count,
            note:
                "Voluntary context switches of all threads but the main one in \(length) s; each store is watched and "
                + "observed. The least of three times, as files that other programs create in a folder above wake the process."
        )
        for (column, count) in [(one, 1), (many, 100)] {
            let child = try quietChild(try bench.place.folder(), count)
            var least = Int.max
            for _ in 0..<3 where least > 0 {
                let before = try switches(of: child)
                sleep(length)
                least = min(least, try switches(of: child) - before)
            }
            table.add(column, [(Ours.file, .ours, Double(least))])
        }
        return table
    }

    /// Returns how many times per second a process with a store in a folder wakes up while `body` is called repeatedly.
    private static func wakeUps(_ folder: String, _ length: UInt32, _ body: () throws -> Void) throws -> Double {
        let child = try quietChild(folder, 1)
        let before = try switches(of: child)
        let time = try seconds {
            let end = now() + Int(length) * 300_000_000
            while now() < end {
                try body()
                usleep(150)
            }
        }
        return Double(try switches(of: child) - before) / time
    }

    private static func quietChild(_ folder: String, _ count: Int) throws -> Child {
        let child = try Child(role: role.name, folder, "\(count)")
        _ = try child.readLine()
        // Wait until the sync after a set is done and idle threads have ended.
        sleep(3)
        return child
    }

    /// Opens stores, with an observer each, and then does nothing.
    static let role = Role(name: "idle") { arguments in
        let (folder, count) = (arguments[0], Int(arguments[1]) ?? 1)
        let observations = try (0..<count).map { number in
            let url = URL(filePath: folder).appending(path: "\(number).jsonl")
            let preference = Preference("number", default: 0, in: try .file(at: url))
            preference.value = number + 1
            return preference.observe { _ in preconditionFailure("nothing sets it") }
        }
        writeLine("ready")
        withExtendedLifetime(observations) { while readLine() != nil {} }
    }

    /// The number of times that a process's threads other than the main one began to wait (proc(5), `voluntary_ctxt_switches`).
    private static func switches(of child: Child) throws -> Int {
        let folder = "/proc/\(child.identifier)/task"
        let threads = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "\(child.identifier)" }
        return try threads.reduce(0) { sum, thread in
            let status = try String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
            let name = "voluntary_ctxt_switches:"
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
                let count = Int(line.dropFirst(name.count).trimmingCharacters(in: .whitespaces))
            else { throw Failure("the kernel counts no switches of \(thread)") }
            return sum + count
        }
    }
}
