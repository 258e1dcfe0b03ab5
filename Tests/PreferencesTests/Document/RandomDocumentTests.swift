import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Random files, whole and damaged, are read as a slow reader in Python reads them, and nothing is lost when they are folded or appended to.
@Suite(.enabled(if: Reference.isPossible, "SKIPPED: the reader in Python needs python3"))
struct RandomDocumentTests {
    @Test
    func filesAreReadAsTheReferenceDoes() throws {
        for (number, (bytes, unfinished, final)) in try Reference.files(seed: 1, count: rounds(20_000)).enumerated() {
            bytes.withUnsafeBytes { bytes in
                same(Reading(of: bytes, isFinal: false).description, unfinished, "file \(number)")
                same(Reading(of: bytes, isFinal: true).description, final, "file \(number)")
            }
        }
    }

    @Test
    func filesAreReadInPiecesAsAtOnce() throws {
        var generator = SeededGenerator(seed: 2)
        for (number, (bytes, _, _)) in try Reference.files(seed: 2, count: rounds(20_000)).enumerated() {
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            bytes.withUnsafeBytes { bytes in
                let first = Reading(of: UnsafeRawBufferPointer(rebasing: bytes[..<cut]), isFinal: false)
                let rest = Reading(of: bytes, from: first.end, isFinal: false)
                same(
                    first.items + rest.items,
                    Reading(of: bytes, isFinal: false).items,
                    "file \(number), cut at \(cut)"
                )
            }
        }
    }

    @Test
    func appendedEntryCountsAfterEachEnd() throws {
        for (number, (bytes, _, _)) in try Reference.files(seed: 3, count: rounds(20_000)).enumerated() {
            var expected = bytes.withUnsafeBytes { Reading(of: $0, isFinal: true).values }
            expected["appended"] = 7
            var longer = bytes + bytes.withUnsafeBytes { DocumentReader.separator(after: $0) }
            try JSONLine.write([StoredChange("appended", 7)], to: &longer)
            same(longer.withUnsafeBytes { Reading(of: $0, isFinal: false).values }, expected, "file \(number)")
        }
    }

    @Test
    func foldKeepsTheValuesAndTheDamage() throws {
        var folds = 0
        for (number, (bytes, _, _)) in try Reference.files(seed: 4, count: rounds(20_000)).enumerated() {
            bytes.withUnsafeBytes { bytes in
                guard let folded = Fold.folded(bytes) else { return }
                folds += 1
                let before = Reading(of: bytes, isFinal: true)
                let after = folded.withUnsafeBytes { Reading(of: $0, isFinal: true) }
                same(after.values, before.values, "file \(number)")
                #expect(after.items.count { $0.hasPrefix("E") } <= 1, "file \(number)")
                for damage in before.damage {
                    let text = bytes[damage].reversed().drop { $0 == 0x0A }.reversed()
                    #expect(folded.contains(Array(text)), "file \(number) lost a damaged text")
                }
                same(folded.withUnsafeBytes { Fold.folded($0) }, nil, "file \(number) is folded twice")
            }
        }
        // The others have one entry, or none.
        #expect(folds > rounds(20_000) / 4)
    }
}

/// All that a reader says of a file, in the form of the reference.
private struct Reading {
    private(set) var items: [String] = []
    private(set) var values: [String: PropertyListValue] = [:]
    private(set) var damage: [Range<Int>] = []
    private(set) var end = 0
    private var state = "."

    init(of bytes: UnsafeRawBufferPointer, from start: Int = 0, isFinal: Bool) {
        var reader = DocumentReader(bytes, from: start, isFinal: isFinal)
        while true {
            switch reader.next() {
            case .entry(let start, let end): add("E\(start)-\(end)", reader.members)
            case .damage(let start, let end, _):
                add("D\(start)-\(end)", reader.members)
                damage.append(start..<end)
            case .end(let offset, let error):
                end = offset
                state = (error == nil ? "." : "?") + "\(offset)" + (reader.newerFormat == nil ? "" : "N")
                return
            }
        }
    }

    var description: String { (items + [state]).joined(separator: "|") }

    private mutating func add(_ item: String, _ members: [DocumentReader.Member]) {
        let shown = members.map { member in
            (member.isReserved ? "$" : "") + hex(member.name.utf8) + "="
                + (member.isReserved ? "" : Self.dump(member.value))
        }
        items.append(item + " " + shown.joined(separator: ";"))
        for member in members where !member.isReserved { values[member.name] = member.value }
    }

    private static func dump(_ value: PropertyListValue?) -> String {
        switch value {
        case nil: return "-"
        case .boolean(let value)?: return value ? "T" : "F"
        case .integer(let value)?: return "i\(value)"
        case .unsigned(let value)?: return "i\(value)"
        case .real(let value)?: return "r" + bits(value)
        case .string(let value)?: return "s" + hex(value.utf8)
        case .data(let value)?: return "d" + hex(value)
        case .date(let value)?: return "t" + bits(value.timeIntervalSinceReferenceDate)
        case .array(let elements)?: return "[" + elements.map { dump($0) }.joined(separator: ",") + "]"
        case .dictionary(let members)?:
            if let text = value?.textOfUnknownForm { return "u" + hex(text.utf8) }
            return "{" + members.map { hex($0.key.utf8) + ":" + dump($0.value) }.sorted().joined(separator: ",") + "}"
        }
    }

    private static func bits(_ value: Double) -> String { value.isNaN ? "nan" : String(value.bitPattern, radix: 16) }
}

private func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
}

/// The reader in Python.
private enum Reference {
    static let isPossible: Bool = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ProcessInfo.processInfo.environment["CI"] == "true"
            || folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/python3") }
    }()

    typealias File = (bytes: [UInt8], unfinished: String, final: String)

    /// Returns random files, and how they are read while they may go on, and when they don't.
    static func files(seed: Int, count: Int) throws -> [File] {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
        let (process, output) = (Foundation.Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-B", root.path + "/Evidence/Documents/generate.py", "\(seed)", "\(count)"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let files = text.split(separator: "\n").map { line -> File in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return (bytes(parts[0]), parts[1], parts[2])
        }
        try #require(files.count == count, "the generator has failed")
        return files
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
