import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that other programs append, replace, rewrite and lock.
struct LogSharingTests {
    private let folder: TemporaryFolder
    private let system = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("log") }

    /// A process with a copy of the values.
    private final class Process {
        let log: Log
        var values: [String: PropertyListValue] = [:]
        var seen: [String] = []

        init(_ path: String, _ system: FileSystem = .system) throws {
            log = Log(path, system)
            try look()
        }

        func note(_ update: ExternalChanges) {
            switch update {
            case .none: break
            case .changes(let lines): for line in lines { apply(line) }
            case .contents(let lines, let contents):
                for line in lines { apply(line) }
                values = [:]
                for change in contents { values[change.name] = change.value }
            }
        }

        private func apply(_ line: [StoredChange]) {
            for change in line {
                values[change.name] = change.value
                seen.append(change.name)
            }
        }

        func look() throws { note(try log.look()) }

        /// Looks until the file is settled.
        func settle() throws {
            repeat {
                try look()
                if log.isBeingSaved { pauseThread(for: .microseconds(2_000)) }
            } while log.isBeingSaved
        }

        func set(_ name: String, _ value: Int, _ deadline: PreferenceDeadline = .period(.seconds(5))) throws {
            try log.change(until: deadline) { update in
                note(update)
                return Array("{\"\(name)\":\(value)}\n".utf8)
            }
            values[name] = .integer(Int64(value))
        }
    }

    private func stored() throws -> [String: PropertyListValue] { try Process(path).values }

    // MARK: Others who append

    @Test
    func twoProcessesCatchUpBeforeTheyWrite() throws {
        let (first, second) = (try Process(path), try Process(path))
        try first.set("x", 1)
        try second.set("y", 2)
        same(second.values, ["x": 1, "y": 2])
        try first.look()
        same(first.values, second.values)
        same(first.seen, ["y"])
        // Lines of a file that was missing are transactions.
        same(second.seen, ["x"])
    }

    /// Others who have it open wait for its lock before they look at the path again.
    @Test
    func replacedFileIsUnlockedThoughItStaysOpen() throws {
        let processes = try (0..<2).map { _ in try Process(path) }
        for process in processes { try process.set("x", 1) }
        // As a backend keeps the file that it has synced.
        let kept = processes.map(\.log.file)
        try Log(path).compact(until: .period(.seconds(5))) { _ in }
        for process in processes { try process.set("y", 2) }
        withExtendedLifetime(kept) {}
        same(try stored(), ["x": 1, "y": 2])
    }

    @Test(arguments: ["{\"y\":2}\n", "{\"y\":2}\n{\"z\":3}\n", "\n", "{\"y\":"])
    func linesThatAreAppendedInTheInstantOfAnOwnWriteAreRead(_ lines: String) throws {
        try folder.write("{\"x\":0}\n", to: "log")
        let process = try Process(path, system)
        let writes = Counter()
        system.beforeEachCall { [folder] call, _ in
            guard call == "write", writes.next() == 1 else { return }
            do { try folder.append(lines, to: "log") } catch { Issue.record(error) }
        }
        try process.set("x", 1)
        system.beforeEachCall(nil)
        try process.look()
        same(process.values, try stored())
        same(process.values["x"], 1)
        try process.set("w", 1)
        same(try stored()["x"], 1)
    }

    @Test
    func changesThatWereReadBeforeABusyCallAreNotLost() throws {
        try folder.write("{\"x\":0}\n", to: "log")
        let process = try Process(path)
        let replaced = open(path, O_RDWR)
        defer { close(replaced) }
        // Another file is at the path, whose lock is held.
        try folder.write("{\"x\":7}\n", to: "new")
        rename(folder.path("new"), path)
        let held = open(path, O_RDWR)
        defer { close(held) }
        flock(held, LOCK_EX)
        #expect(throws: LockedTooLong.self) { try process.set("y", 1, .period(.milliseconds(20))) }
        #expect(throws: PreferenceDeadline.WouldWait.self) { try process.set("y", 1, .now) }
        try process.look()
        same(process.values, ["x": 7])
        flock(held, LOCK_UN)
        try process.set("y", 1)
        same(try folder.read("log"), "{\"x\":7}\n{\"y\":1}\n")
    }

    @Test
    func fileOnANetworkThatWasReplacedIsOpenedAgain() throws {
        try folder.write("{\"x\":0}\n", to: "log")
        let process = try Process(path, system)
        try process.set("x", 1)
        system.begin(.init(code: ESTALE, calls: ["flock"]))
        try process.set("x", 2)
        same(try stored(), ["x": 2])
    }

    /// As on overlay file systems, each of whose layers numbers its files separately.
    @Test
    func unstableIdentityEndsAtTheDeadline() throws {
        final class Unstable: FileSystem, @unchecked Sendable {  // it has no state
            override func status(at path: String, followsLinks: Bool = true) throws(FileSystemError) -> FileStatus {
                var status = try super.status(at: path, followsLinks: followsLinks)
                status.inode += 1
                return status
            }
        }
        try folder.write("{\"x\":0}\n", to: "log")
        let process = try Process(path, Unstable())
        #expect(throws: LockedTooLong.self) { try process.set("x", 1, .period(.milliseconds(20))) }
    }

    // MARK: Others who replace

    @Test
    func removedFileIsGoneAfterAMomentAndCreatedByTheNextLine() throws {
        let process = try Process(path)
        try process.set("x", 1)
        unlink(path)
        try process.look()
        same(process.values, ["x": 1], "an editor might be about to create it again")
        try process.settle()
        same(process.values, [:])
        try process.set("y", 2)
        unlink(path)
        try process.set("z", 3)
        same(try folder.read("log"), "{\"z\":3}\n")
        same(process.values, ["z": 3])
    }

    /// As by an editor that keeps a backup, and writes the new file in pieces.
    @Test
    func fileThatIsSavedInPiecesIsReadOnceItIsComplete() throws {
        let process = try Process(path)
        try process.set("x", 1)
        rename(path, folder.path("log~"))
        try process.look()
        for piece in ["", "{\"x\":", "2}\n{\"y\""] {
            try folder.append(piece, to: "log")
            try process.look()
            same(process.values, ["x": 1], "after \(piece)")
        }
        try folder.append(":3}\n", to: "log")
        try process.settle()
        same(process.values, ["x": 2, "y": 3])
        try process.set("z", 4)
        same(try folder.read("log~"), "{\"x\":1}\n")
        same(try folder.read("log"), "{\"x\":2}\n{\"y\":3}\n{\"z\":4}\n")
    }

    @Test
    func linesOfTheOldFileAreTransactionsBeforeTheNewOne() throws {
        let process = try Process(path)
        try process.set("x", 1)
        try folder.append("{\"a\":1}\n{\"b\":1}\n", to: "log")
        try folder.write("{\"x\":5}\n", to: "new")
        rename(folder.path("new"), path)
        try process.look()
        same(process.seen, ["a", "b"])
        same(process.values, ["x": 5])
    }

    // MARK: Others who rewrite in place

    @Test(arguments: [
        "{\"x\":7}\n", "{\"x\":1}\n{\"y\":3}\n", "{\"x\":1}\n{\"y\":2}\n{\"z\":3}\n",
        "{\"x\":9}\n{\"y\":2}\n{\"z\":3}\n",
        "{\"aaaa\":1}\n{\"b\":2}\n{\"c\":3}\n", "{\"x\":1}\n{\"y\":2}", "",
    ])
    func fileThatIsRewrittenInPlaceIsReadAgain(_ text: String) throws {
        let process = try Process(path)
        try process.set("x", 1)
        try process.set("y", 2)
        try folder.truncate("log", andWrite: text)
        try process.settle()
        same(process.values, try stored(), "\(text)")
        try process.set("w", 5)
        same(process.values, try stored(), "\(text)")
    }

    /// A line is appended to a file that is being saved once it is complete; else it would be overwritten.
    @Test
    func setWaitsForAFileThatIsBeingSaved() throws {
        try folder.write("{\"a\":1}\n{\"b\":1}\n", to: "log")
        let process = try Process(path, system)
        try folder.truncate("log", andWrite: "")
        #expect(throws: LockedTooLong.self) { try process.set("c", 3, .period(.milliseconds(20))) }
        same(try folder.read("log"), "")
        same(process.values, ["a": 1, "b": 1])
        let looks = Counter()
        system.beforeEachCall { [folder] call, _ in
            guard call == "stat", looks.next() == 5 else { return }
            do { try folder.append("{\"a\":2}\n{\"b\":2}\n", to: "log") } catch { Issue.record(error) }
        }
        try process.set("c", 3)
        same(try folder.read("log"), "{\"a\":2}\n{\"b\":2}\n{\"c\":3}\n")
        same(process.values, ["a": 2, "b": 2, "c": 3])
    }

    @Test
    func truncatedFileIsEmptyAfterASecond() throws {
        try folder.write("{\"a\":1}\n", to: "log")
        let process = try Process(path)
        try folder.truncate("log", andWrite: "")
        try process.look()
        same(process.values, ["a": 1])
        try process.settle()
        same(process.values, [:])
        try process.set("b", 2)
        same(try stored(), ["b": 2])
    }

    @Test
    func changeDeepInALongFileWithLinesBehindItIsSeen() throws {
        let lines = (0..<9_000).map { "{\"name\($0)\":1}\n" }
        try folder.write(lines.joined(), to: "log")
        let process = try Process(path)
        try process.set("x", 1)
        try folder.append("{\"y\":1}\n", to: "log")
        try folder.overwrite("log", with: "{\"name0\":2}\n")
        try process.settle()
        same(process.values["name0"], 2)
        same(process.values["y"], 1)
        // Also after a set that has read the line, which compares the end only.
        try folder.append("{\"y\":2}\n", to: "log")
        try folder.overwrite("log", with: "{\"name0\":3}\n")
        try process.set("x", 2)
        same(process.values["y"], 2)
        try process.settle()
        same(process.values["name0"], 3)
    }

    @Test
    func otherPropertiesOfAFileChangeNothing() throws {
        let process = try Process(path, system)
        try process.set("x", 1)
        chmod(path, 0o640)
        link(path, folder.path("other"))
        system.begin()
        try process.set("y", 1, .now)
        try process.look()
        same(process.log.isBeingSaved, false)
        same(process.seen, [])
    }

    @Test
    func fileThatIsTruncatedWhileItIsReadIsReadAgain() throws {
        try folder.write((0..<40_000).map { "{\"name\($0)\":1}\n" }.joined(), to: "log")
        let reads = Counter()
        system.beforeEachCall { [folder] call, _ in
            guard call == "read", reads.next() == 1 else { return }
            do { try folder.truncate("log", andWrite: "{\"name0\":2}\n") } catch { Issue.record(error) }
        }
        same(try Process(path, system).values, ["name0": 2])
    }
}
