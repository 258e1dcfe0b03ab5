import FaultTestSupport
import FileTestSupport
import PreferencesInspection
import TestSupport
import Testing

@testable import Preferences

/// Files that a person keeps in version control: what a compaction changes in them.
struct TidyFileTests {
    private let folder: TemporaryFolder
    private let fileSystem = FaultyFileSystem()
    private let worker = StoppedWorker()
    private let reports = Recorder<PreferenceError>()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ text: String? = nil) throws -> FileBackend {
        if let text { try folder.write(text, to: "file") }
        let backend = FileBackend(path: folder.path("file"), fileSystem: fileSystem, watcher: nil, worker: worker.queue)
        _ = try backend.load(
            host: PreferenceBackendHost(changed: { _ in }, report: { [reports] in reports.record($0) })
        )
        return backend
    }

    private func set(_ name: String, _ value: PropertyListValue?, in backend: FileBackend) throws {
        _ = try backend.apply([name: value], if: .none)
    }

    private func stored() throws -> [String: PropertyListValue] {
        try PreferencesFile.contents(of: folder.path("file")) { _ in }
    }

    private var text: String { get throws { try folder.read("file") } }

    private func lines() throws -> [Substring] { try text.split(separator: "\n", omittingEmptySubsequences: false) }

    @Test
    func idleFileDiffersInTheLineThatWasSet() throws {
        let before = "{\"volume\":5}\n{\"theme\":\"dark\"}\n"
        let backend = try open(before)
        for number in 1...5000 {
            try set("volume", .integer(Int64(number)), in: backend)
            // As if time passed: what is in the background is done now and then.
            if number.isMultiple(of: 700) { _ = worker.queue.runNextJob() }
        }
        try backend.sync()
        while worker.queue.runNextJob() {}
        try same(text, "{\"volume\":5000 }\n{\"theme\":\"dark\"}\n")
        // That is all: another idle time changes nothing.
        let identity = try SystemFileSystem().status(at: folder.path("file")).identity
        try set("theme", "light", in: backend)
        try set("theme", "dark", in: backend)
        while worker.queue.runNextJob() {}
        try same(text, "{\"volume\":5000 }\n{\"theme\":\"dark\" }\n")
        #expect(try SystemFileSystem().status(at: folder.path("file")).identity != identity)
        #expect(try stored() == ["volume": 5000, "theme": "dark"] && reports.elements.isEmpty)
    }

    @Test
    func fileThatIsTidyIsNotRewritten() throws {
        let text = "{\"volume\":5}\n\n\n{\"$comment\":\"x\"}\n{\"theme\":\"dark\"}\n"
        let backend = try open(text)
        try set("new", 1, in: backend)
        while worker.queue.runNextJob() {}
        try same(self.text, text.replacing("\n\n\n", with: "\n\n") + "{\"new\":1}\n")
        let tidy = try SystemFileSystem().status(at: folder.path("file")).identity
        try set("newer", 1, in: backend)
        while worker.queue.runNextJob() {}
        try same(SystemFileSystem().status(at: folder.path("file")).identity, tidy)
    }

    @Test
    func orderAndCommentsStay() throws {
        let backend = try open(
            """
            {"$comment":"Sound"}
            {"volume":1}
            {"balance":0}

            {"$comment":"Look"}
            {"theme":"dark","accent":"red"}
            {"gone":1}
            {"é":1}

            """
        )
        for number in 2...9 { try set("volume", .integer(Int64(number)), in: backend) }
        try set("gone", nil, in: backend)
        try set("accent", "blue", in: backend)
        try set("new", true, in: backend)
        while worker.queue.runNextJob() {}
        let expected = """
            {"$comment":"Sound"}
            {"volume":9 }
            {"balance":0}

            {"$comment":"Look"}
            {"accent":"blue" }
            {"theme":"dark"}
            {"é":1}
            {"new":true}

            """
        let found = try text
        same(found.split(separator: "\n").sorted(), expected.split(separator: "\n").sorted())
        #expect(
            found.hasPrefix("{\"$comment\":\"Sound\"}\n{\"volume\":9 }\n{\"balance\":0}\n\n{\"$comment\":\"Look\"}\n")
        )
        #expect(found.hasSuffix("{\"é\":1}\n{\"new\":true}\n"))
        // A requested compaction adds a line that says so, and later ones keep it.
        try backend.compact()
        try same(text, found.replacing(" }", with: "}") + "{\"$comment\":\"compacted\"}\n")
        try set("volume", 1, in: backend)
        try set("volume", 2, in: backend)
        while worker.queue.runNextJob() {}
        try same(text, found.replacing(" }", with: "}").replacing(":9", with: ":2") + "{\"$comment\":\"compacted\"}\n")
    }

    @Test
    func fileThatIsStillChangingIsNotTidied() throws {
        let backend = try open()
        try set("a", 1, in: backend)
        try set("a", 2, in: backend)
        // The sync, after which the file is looked at.
        #expect(worker.queue.runNextJob())
        try folder.append("{\"b\":1}\n", to: "file")
        try backend.catchUp()
        #expect(worker.queue.runNextJob())
        try same(lines().count, 4)
        while worker.queue.runNextJob() {}
        try same(text, "{\"a\":2 }\n{\"b\":1}\n")
    }

    /// A program without the lock appends a line before each call of tidying.
    @Test
    func lineOfAnotherProgramIsKept() throws {
        var number = 0
        var isReached = true
        while isReached {
            let tests = try TidyFileTests()
            let backend = try tests.open("{\"$comment\":\"x\"}\n")
            for value in 1...9 { try tests.set("a", .integer(Int64(value)), in: backend) }
            _ = tests.worker.queue.runNextJob()
            let calls = Counter()
            let found = Lock(false)
            let isDisturbed = Lock(false)
            tests.fileSystem.beforeEachCall { [folder = tests.folder, number] call, _ in
                guard calls.next() == number + 1 else { return }
                found.withLock { $0 = true }
                guard call != "ftruncate" else { return }
                isDisturbed.withLock { $0 = true }
                do { try folder.append("{\"a\":77}\n{\"b\":2}\n", to: "file") } catch { Issue.record(error) }
            }
            while tests.worker.queue.runNextJob() {}
            tests.fileSystem.beforeEachCall(nil)
            isReached = found.withLock { $0 }
            try same(tests.stored(), isDisturbed.withLock { $0 } ? ["a": 77, "b": 2] : ["a": 9], "call \(number)")
            number += 1
        }
        #expect(number > 20)
    }

    /// Whichever call of a rewrite fails, as if the program died there, comments stand in the file once.
    @Test
    func interruptedRewritingDoublesNoComment() throws {
        let comment = "{\"$comment\":\"x\"}\n"
        for number in 0..<60 {
            let tests = try TidyFileTests()
            var backend = try tests.open(comment)
            tests.fileSystem.mountFiles()
            for value in 1...9 { try tests.set("a", .integer(Int64(value)), in: backend) }
            tests.fileSystem.begin(.init(.error(.inputOutput), at: number, isLasting: true))
            do { try backend.compact() } catch { #expect(error.code != .damaged) }
            tests.fileSystem.end()
            backend = try tests.open()
            try same(tests.stored(), ["a": 9], "call \(number)")
            try backend.compact()
            try same(tests.text, comment + "{\"a\":9}\n{\"$comment\":\"compacted\"}\n", "call \(number)")
        }
    }

    // MARK: What can be undone

    @Test
    func overriddenValuesHaveNoHistory() throws {
        func history(_ text: String) throws -> PreferencesHistory { try PreferencesHistory(Array(text.utf8)) }
        let tidy = try history("{\"a\":1}\n{\"b\":2 }\n{\"c\":3}\n{\"a\":4}\n")
        #expect(tidy.compactedLine == 3 && tidy.entries.map(\.line) == [4])
        let plain = try history("{\"a\":1}\n{\"b\":2}\n{\"a\":4}\n")
        #expect(plain.compactedLine == nil && plain.entries.map(\.line) == [1, 2, 3])
        // Only the beginning of a file can be what a compaction has left.
        let later = try history("{\"a\":1}\n{\"a\":2}\n{\"b\":2 }\n")
        #expect(later.compactedLine == nil && later.entries.count == 3)
    }

    // MARK: Files of another kind

    @Test(arguments: [
        ("{\"volume\":}\n", true), ("\u{FEFF} {\"volume\": 5,}\n", true), ("  { \"volume\" 5}\n", true),
        ("{\"a\":{\"$data\":\"not base64\"}}\n", true), ("{\"$new\":[null]}\n", true), ("x\n{\"a\":1}\n", true),
        ("{\n  \"volume\": 5,\n  \"theme\": \"dark\"\n}\n", false), ("#!/bin/sh\necho hello\n", false),
        ("{\n  \"$schema\": \"x\",\n  \"volume\": 5\n}\n", false), ("[1,2]\n", false), ("{\"list\":[null]}\n", false),
        ("[section]\nkey = 1\n", false),
    ])
    func fileWithoutAnEntryIsUsedIfItsLinesMightBeEntries(_ text: String, isUsed: Bool) throws {
        let backend = try open(text)
        if isUsed {
            try set("added", 1, in: backend)
            try same(stored()["added"], 1)
        } else {
            let error = #expect(throws: PreferenceError.self) { try set("added", 1, in: backend) }
            #expect(error?.code == .unknownFormat && error?.message.contains("append the line {}") == true)
            while worker.queue.runNextJob() {}
            try same(self.text, text)
            try PreferencesFile.adopt(folder.path("file"))
            try set("added", 1, in: backend)
            try same(self.text, text + "{}\n{\"added\":1}\n")
        }
    }
}
