import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

/// Files whose place no new file can take, so that they are rewritten in place.
struct RewritingTests {
    /// Why no new file can take the place.
    enum Cause: CaseIterable, Sendable { case mounted, linked, busy, closedFolder, foreignMode, fullFileSystem }

    private let folder: TemporaryFolder
    private let record = ObserverRecord()
    private let worker = StoppedWorker()
    private let fileSystem = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ cause: Cause? = nil) throws -> LogFile<TextContents> {
        try SystemFileSystem().makeFolder(folder.path("place"))
        let log = LogFile<TextContents>(
            path: folder.path("place/log"),
            fileSystem: fileSystem,
            watcher: nil,
            worker: worker.queue
        )
        try log.load(observer: record.observer)
        for number in 1...9 { try log.set("a", "\(number)") }
        try log.set("b", "1")
        switch cause {
        case .mounted: fileSystem.mountFiles()
        case .linked: try #require(link(folder.path("place/log"), folder.path("other")) == 0)
        case .busy: fileSystem.begin(.init(.error(.inUse), isLasting: true, calls: ["rename"]))
        case .closedFolder: fileSystem.denyNewFiles(.accessDenied)
        case .foreignMode:
            try SystemFileSystem().setMode(SystemFileSystem().open(folder.path("place/log"), for: .appending), 0o660)
            fileSystem.begin(.init(.error(.notPermitted), isLasting: true, calls: ["fchmod"]))
        case .fullFileSystem: fileSystem.denyNewFiles(.noSpace)
        case nil: break
        }
        return log
    }

    private var stored: [String: String] {
        get throws {
            let log = LogFile<TextContents>(path: folder.path("place/log"), watcher: nil)
            try log.load(observer: ObserverRecord().observer)
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

    @Test
    func allNamesOfALinkedFileHaveWhatIsSetLater() throws {
        let log = try open(.linked)
        try log.compact()
        try log.set("c", "2")
        try same(folder.read("other"), "a=9.\nb=1.\nc=2.\n")
    }

    /// Whichever call fails, all values are in the file, and the next calls work.
    @Test(
        arguments: [FaultyFileSystem.Fault.Kind.error(.inputOutput), .error(.noSpace), .shortWrite(3)],
        [false, true]
    )
    func failureLosesNothing(_ kind: FaultyFileSystem.Fault.Kind, isLasting: Bool) throws {
        let values = ["a": "9", "b": "1"]
        for number in 0..<60 {
            let tests = try RewritingTests()
            let log = try tests.open(.mounted)
            tests.fileSystem.begin(.init(kind, at: number, isLasting: isLasting))
            do { try log.compact() } catch {
                #expect(error.cause != nil, "\(error)")
            }
            tests.fileSystem.end()
            try same(tests.stored, values, "call \(number)")
            try log.set("c", "2")
            try log.sync()
            try log.compact()
            try same(tests.stored, values.merging(["c": "2"]) { $1 }, "call \(number)")
            try same(log.values, tests.stored, "call \(number)")
        }
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
    private static func calls(_ prepare: (RewritingTests) throws -> Void = { _ in }) throws -> [String] {
        let tests = try RewritingTests()
        let log = try tests.open(.mounted)
        try prepare(tests)
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

    /// A write that the system divides, and another program's line between its parts.
    @Test(arguments: 0..<3)
    func lineOfAnotherProgramBetweenTwoPartsIsKept(_ number: Int) throws {
        let log = try open(.mounted)
        fileSystem.begin(.init(.shortWrite(5), isLasting: true, calls: ["write"]))
        let count = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "write", count.next() == number + 1 else { return }
            do { try folder.append("a=11.\n", to: "place/log") } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        fileSystem.end()
        #expect(count.next() > number + 1)
        #expect(try stored["a"] == "11" && stored["b"] == "1" && log.values == stored)
    }

    @Test
    func endOfALineOfAnotherProgramIsKept() throws {
        for (number, call) in try Self.calls({ try $0.folder.append("a=1", to: "place/log") }).enumerated()
        where call != "ftruncate" {
            let tests = try RewritingTests()
            let log = try tests.open(.mounted)
            try tests.folder.append("a=1", to: "place/log")
            let count = Counter()
            tests.fileSystem.beforeEachCall { [folder = tests.folder] _, _ in
                guard count.next() == number + 1 else { return }
                do { try folder.append("1.\n", to: "place/log") } catch { Issue.record(error) }
            }
            try log.compact()
            tests.fileSystem.beforeEachCall(nil)
            let text = try tests.folder.read("place/log")
            // Once the beginning of the line was ended, it can't become a line.
            #expect(
                try tests.stored["b"] == "1" && (tests.stored["a"] == "11" || text.contains("a=1\n")),
                "call \(number): \(text)"
            )
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
    func truncatedFileIsNotFilledFromMemory() throws {
        for (number, call) in try Self.calls().enumerated() where !["ftruncate", "pwrite"].contains(call) {
            let tests = try RewritingTests()
            let log = try Self.compact(before: number, tests) { try $0.truncate("place/log", andWrite: "") }
            #expect(try tests.folder.read("place/log").isEmpty, "call \(number), \(call)")
            try log.catchUp()
            #expect(log.values.isEmpty, "call \(number), \(call)")
        }
    }

    @Test
    func linesThatCanNotBeReadStayOnce() throws {
        let log = try open(.mounted)
        for _ in 1...2 { try folder.append("!x\n", to: "place/log") }
        try log.set("a", "10")
        for _ in 1...2 { try log.compact() }
        #expect(try folder.read("place/log") == "!x\na=10.\nb=1.\n" && folder.names(in: "place") == ["log"])
    }

    @Test
    func beginningOfALineStaysLast() throws {
        let log = try open(.mounted)
        try folder.append("a=11.", to: "place/log")
        try log.compact()
        try same(folder.read("place/log"), "a=9.\nb=1.\na=11.\n")
        try log.set("b", "2")
        try same(stored, ["a": "11", "b": "2"])
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

    @Test
    func failedSyncIsCuredWithoutAnotherFile() throws {
        let log = try open(.mounted)
        fileSystem.begin(.init(.error(.inputOutput), calls: ["fdatasync"]))
        #expect(throws: LogError.self) { try log.sync() }
        fileSystem.end()
        try log.sync()
        try same(stored, ["a": "9", "b": "1"])
    }

    // MARK: Copies of lines that can't be read

    @Test
    func tenCopiesOfUnreadableLinesAreKept() throws {
        let log = try open()
        for number in 1...12 {
            try folder.append("!\(number)\n", to: "place/log")
            try log.catchUp()
            try log.compact()
        }
        let names = try folder.names(in: "place").filter { $0 != "log" }
        same(names, (3...12).map { "log.damaged-\($0)" }.sorted())
        try same(folder.read("place/log.damaged-12"), "!12\n")
    }

    @Test
    func copyWithTheLargestNumberIsLeftAlone() throws {
        let log = try open()
        try folder.write("x", to: "place/log.damaged-9223372036854775807")
        try folder.append("!1\n", to: "place/log")
        try log.catchUp()
        try log.compact()
        try same(folder.names(in: "place").sorted(), ["log", "log.damaged-1", "log.damaged-9223372036854775807"])
    }

    @Test(arguments: [
        ("log", "log.damaged-7", 7), ("a.b", "a.damaged-12.b", 12), ("a.b", "a.damaged-x.b", nil),
        ("l2", "l2.damaged-3", 3),
    ])
    func numberOfACopyIsThatOfItsName(_ name: String, _ copy: String, _ number: Int?) {
        same(LogPath(path: "/x/\(name)").damagedNumber(copy), number)
    }
}
