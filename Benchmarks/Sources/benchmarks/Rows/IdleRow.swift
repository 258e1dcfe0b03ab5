import Foundation
import Glibc
import Measuring
import Preferences

/// How often a process with stores wakes up that has nothing to do.
enum IdleRow {
    private static let one = "one store"
    private static let many = "100 stores"

    static func measure(_ bench: Bench) throws -> Outcome {
        // A quick run shows that it can be measured.
        let isThorough = bench.effort.rounds > 3
        let length: UInt32 = isThorough ? 10 : 1
        var idle = Table(
            "Wake-ups while nothing happens",
            unit: .count,
            note:
                "Voluntary context switches of all threads but the main one in \(length) s; each store is watched and observed."
        )
        for (column, count) in [(one, 1), (many, 100)] {
            let folder = try bench.place.folder()
            let child = try quietChild(folder, count)
            let before = try switches(of: child)
            sleep(length)
            idle.add(column, [(Ours.file, .ours, Double(try switches(of: child) - before))])
        }

        let busyTitle = "another file of the folder is written"
        var busy = Table(
            "Wake-ups of a busy folder",
            unit: .rate,
            note:
                "Of the same threads, while another process appends to a file beside the store's some 5,000 times a second."
        )
        let folder = try bench.place.folder()
        let file = try BareFile(folder + "/other", line: "another line\n")
        let child = try quietChild(folder, 1)
        let before = try switches(of: child)
        let time = try seconds {
            let end = now() + Int(length) * 300_000_000
            while now() < end {
                try file.append()
                usleep(150)
            }
        }
        busy.add(busyTitle, [(Ours.file, .ours, Double(try switches(of: child) - before) / time)])
        return Outcome(
            tables: [idle, busy],
            aims: [
                idle.aim("idle, one store", "no wake-up", Ours.file, one, atMost: 0),
                idle.aim("idle, 100 stores", "no wake-up", Ours.file, many, atMost: 0),
                busy.aim("a busy folder", "≤ 100 wake-ups a second", Ours.file, busyTitle, atMost: 100),
            ]
        )
    }

    private static func quietChild(_ folder: String, _ count: Int) throws -> Child {
        let child = try Child(role: role.name, folder, "\(count)")
        _ = try child.readLine()
        // Until what follows a set, and threads that wait for more to do, are over.
        sleep(3)
        return child
    }

    /// Has so many stores, with an observer each, and does nothing.
    static let role = Role(name: "idle") { arguments in
        let (folder, count) = (arguments[0], Int(arguments[1]) ?? 1)
        let observations = try (0..<count).map { number in
            let url = URL(filePath: folder).appending(path: "\(number).jsonl")
            let preference = Preference("number", default: 0, in: try .file(at: url))
            preference.value = number + 1
            return preference.observe { _ in preconditionFailure("nothing sets it") }
        }
        tell("ready")
        withExtendedLifetime(observations) { while readLine() != nil {} }
    }

    /// How often the threads of a process have begun to wait, but for its main one (proc(5), `voluntary_ctxt_switches`).
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
