import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Other processes that write the same file, are killed, or run into limits.
struct KillTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("a.jsonl") }

    init() throws { folder = try TemporaryFolder() }

    /// Starts a program that increments the file's `count`, by a shell command in which it is `$0`.
    private func start(_ command: String, _ output: Pipe? = nil) throws -> Foundation.Process {
        let child = Foundation.Process()
        child.executableURL = URL(filePath: "/bin/sh")
        child.arguments = ["-c", "exec \(command)", BuiltProgram.path("KillWriter"), path]
        child.standardOutput = output ?? FileHandle.nullDevice
        try child.run()
        return child
    }

    /// The values of the file, and how many of its lines can't be read.
    private func stored() throws -> (count: Int, text: String, damage: Int) {
        let log = Log(path)
        guard case .contents(_, let changes) = try log.look() else { return (0, "", log.damage.count) }
        let values = Dictionary(changes.map { ($0.name, $0.value) }) { $1 }
        guard case .integer(let count)?? = values["count"], case .string(let text)?? = values["text"] else {
            return (0, "", log.damage.count)
        }
        return (Int(count), text, log.damage.count)
    }

    /// At any moment, also while the file is compacted.
    @Test
    func nothingAcknowledgedIsLostByAKill() throws {
        var last = 0
        for round in 0..<rounds(200) {
            let pipe = Pipe()
            let child = try start("\"$0\" \"$1\" 0", pipe)
            // It is killed in the middle of the sets that follow.
            let lines = 1 + round * 37 % 400
            var acknowledged: [UInt8] = []
            while acknowledged.count(where: { $0 == 10 }) < lines {
                acknowledged += pipe.fileHandleForReading.availableData
            }
            kill(child.processIdentifier, SIGKILL)
            acknowledged += pipe.fileHandleForReading.readDataToEndOfFile()
            child.waitUntilExit()
            let numbers = String(decoding: acknowledged, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
            same(numbers.first, last + 1, "round \(round): the next program goes on")
            let (count, text, _) = try stored()
            same(
                count >= numbers.last ?? 0,
                true,
                "round \(round): \(count) is stored, \(numbers.last ?? 0) acknowledged"
            )
            same(text.hasSuffix("x\(count)"), true, "round \(round): a line is one transaction")
            last = count
        }
    }

    @Test
    func twoProcessesLoseNothingOfEachOther() throws {
        let children = try (0..<3).map { _ in try start("\"$0\" \"$1\" \(rounds(2_000))") }
        for child in children {
            child.waitUntilExit()
            same(child.terminationStatus, 0)
        }
        let (count, _, damage) = try stored()
        same(count, 3 * rounds(2_000))
        same(damage, 0)
    }

    /// The kernel would end the process by a signal.
    @Test
    func limitOfTheFilesSizeIsAnError() throws {
        let child = try start("sh -c 'ulimit -f 8; exec \"$0\" \"$1\" 0' \"$0\" \"$1\"")
        child.waitUntilExit()
        same(child.terminationReason, .exit)
        same(child.terminationStatus, 3)
        let (count, text, damage) = try stored()
        same(text.hasSuffix("x\(count)"), true)
        same(damage, 0)
    }
}
