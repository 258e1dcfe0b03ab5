import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

/// Files whose place no new file can take, so that they are rewritten in place.
struct RewritingTests {
    /// Why no new file can take the place.
    enum Cause: CaseIterable, Sendable { case mounted, linked, busy }

    private let folder: TemporaryFolder
    private let record = ObserverRecord()
    private let worker = StoppedWorker()
    private let fileSystem = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ cause: Cause) throws -> LogFile<TextContents> {
        try SystemFileSystem().makeFolder(folder.path("place"))
        let log = try LogFile.open(
            folder.path("place/log"),
            fileSystem: fileSystem,
            worker: worker.queue,
            record: record
        )
        for number in 1...9 { try log.set("a", "\(number)") }
        try log.set("b", "1")
        switch cause {
        case .mounted: fileSystem.mountFiles()
        case .linked: try #require(link(folder.path("place/log"), folder.path("other")) == 0)
        case .busy: fileSystem.begin(.init(.error(.inUse), isLasting: true, calls: ["rename"]))
        }
        return log
    }

    private var stored: [String: String] {
        get throws {
            let log = try LogFile.open(folder.path("place/log"))
            return log.values
        }
    }

    private func identity() throws -> FileIdentity {
        try SystemFileSystem().status(at: folder.path("place/log")).identity
    }

    @Test(arguments: Cause.allCases)
    func fileIsRewrittenAndStaysTheSame(_ cause: Cause) throws {
        let log = try open(cause)
        let before = try identity()
        try log.compact()
        try same(folder.read("place/log"), "a=9.\nb=1.\n")
        #expect(try identity() == before && folder.names(in: "place") == ["log"])
        try log.set("c", "2")
        try log.sync()
        #expect(try stored == ["a": "9", "b": "1", "c": "2"] && log.values == stored)
    }

    /// If the cut is lost, as the sync after it fails, there is nothing to come back behind later lines.
    @Test
    func nothingIsLeftWhereTheFileIsCutOff() throws {
        let log = try open(.mounted)
        let cuts = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "ftruncate" else { return }
            cuts.next()
            do {
                let text = try folder.read("place/log")
                let new = "a=9.\nb=1.\n"
                #expect(text.hasPrefix(new) && text.dropFirst(new.count).allSatisfy { $0 == "\n" }, "\(text)")
            } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        same(cuts.value, 1)
    }

    /// The calls of a compaction in which nothing else happens.
    private static func calls() throws -> [String] {
        let tests = try RewritingTests()
        let log = try tests.open(.mounted)
        tests.fileSystem.begin()
        try log.compact()
        #expect(tests.fileSystem.calls.contains("ftruncate"))
        return tests.fileSystem.calls
    }

    /// Compacts a log while another program does something before a call.
    private static func compact(
        before number: Int,
        _ tests: RewritingTests,
        _ disturb: @escaping @Sendable (TemporaryFolder) throws -> Void
    ) throws -> LogFile<TextContents> {
        let log = try tests.open(.mounted)
        let count = Counter()
        tests.fileSystem.beforeEachCall { [folder = tests.folder] _, _ in
            guard count.next() == number + 1 else { return }
            do { try disturb(folder) } catch { Issue.record(error) }
        }
        try log.compact()
        tests.fileSystem.beforeEachCall(nil)
        return log
    }

    /// A program without the lock appends a line before each of the calls, also one that a value of the file overrides if it
    /// comes later.
    @Test(arguments: ["c=3.\n", "a=11.\n", "b=2.\na=11.\n", "a=11."])
    func lineOfAnotherProgramIsKept(_ line: String) throws {
        var expected = ["a": "9", "b": "1"]
        for entry in line.split(separator: "\n") {
            let parts = entry.dropLast().split(separator: "=")
            expected[String(parts[0])] = String(parts[1])
        }
        // Between looking for it and cutting the file off it would be lost.
        for (number, call) in try Self.calls().enumerated() where call != "ftruncate" {
            let tests = try RewritingTests()
            let log = try Self.compact(before: number, tests) { try $0.append(line, to: "place/log") }
            try same(tests.stored, expected, "call \(number), \(call)")
            try log.catchUp()
            same(log.values, expected, "call \(number), \(call)")
            try log.compact()
            try same(tests.stored, expected, "call \(number), \(call)")
        }
    }

    /// A program saves the file in place before each of the calls, as an editor does.
    @Test(arguments: [
        "a=11.\n", "a=11.\nb=7.\nc=1.\nd=1.\ne=1.\nf=1.\ng=1.\nh=1.\ni=1.\nj=1.\nk=1.\n", "a=8.\n\n\n\n\n\nb=1.\n",
    ])
    func fileThatIsSavedInPlaceIsKept(_ text: String) throws {
        let tests = try RewritingTests()
        try SystemFileSystem().makeFolder(tests.folder.path("place"))
        try tests.folder.write(text, to: "place/log")
        let saved = try tests.stored
        let calls = try Self.calls()
        // What is saved right before the end is overwritten and cut off is lost.
        let last = calls.lastIndex(of: "pwrite")
        for (number, call) in calls.enumerated() where call != "ftruncate" && number != last {
            let tests = try RewritingTests()
            let log = try Self.compact(before: number, tests) { try $0.truncate("place/log", andWrite: text) }
            let stored = try tests.stored
            // What is saved right before it is overwritten is lost, but not what was there before, too.
            let isLost = call == "pwrite" && stored["a"] == "9" && stored["b"] != nil
            #expect(stored == saved || isLost, "call \(number), \(call): \(stored)")
            try log.catchUp()
            same(log.values, stored, "call \(number), \(call)")
        }
    }

    @Test
    func fileThatCanNotBeRewrittenSaysThatItGrows() async throws {
        let log = try open(.mounted)
        try log.set("big", String(repeating: "x", count: 40_000))
        for number in 1...9 { try log.set("big", "\(number)" + String(repeating: "x", count: 40_000)) }
        fileSystem.begin(.init(.error(.notPermitted), isLasting: true, calls: ["pwrite"]))
        while worker.queue.runNextJob() {}
        guard case .notCompacted(_, let cause) = record.errors.first else {
            Issue.record("\(record.errors)")
            return
        }
        for number in 10...17 {
            try log.set("big", "\(number)" + String(repeating: "x", count: 40_000))
            while worker.queue.runNextJob() {}
        }
        #expect(cause.code == .notPermitted && record.errors.count == 1)
        try same(stored.count, 3)
    }
}
