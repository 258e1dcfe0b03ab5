import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

#if canImport(Glibc)
import Glibc
#endif

/// Hazards of a compaction: programs that begin or end a line, swapped links, access control lists, a path to which no
/// file can be renamed.
struct CompactionHazardTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()
    private let worker = StoppedWorker()
    private let fileSystem = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ name: String = "log") throws -> LogFile<TextContents> {
        return try .open(folder.path(name), fileSystem: fileSystem, worker: worker.queue, record: record)
    }

    // MARK: Lines that are arriving

    /// Returns how many calls a compaction of `a=1.` makes.
    private static func calls() throws -> Int {
        let tests = try CompactionHazardTests()
        let log = try tests.open()
        try log.set("a", "1")
        tests.fileSystem.begin()
        try log.compact()
        return tests.fileSystem.calls.count
    }

    /// A flush must cover a line that was begun before a set: wherever it began, the set has ended it in the file at
    /// the path.
    @Test
    func beginningOfALineIsInTheFileOnceAnotherLineIsSet() throws {
        for number in 0..<(try Self.calls()) {
            let tests = try CompactionHazardTests()
            let log = try tests.open()
            try log.set("a", "1")
            let calls = Counter()
            tests.fileSystem.beforeEachCall { [folder = tests.folder] _, _ in
                guard calls.next() == number + 1 else { return }
                do { try folder.append("b=", to: "log") } catch { Issue.record(error) }
            }
            try log.compact()
            tests.fileSystem.beforeEachCall(nil)
            try log.set("c", "3")
            try log.sync()
            let text = try tests.folder.read("log")
            #expect(text.contains("b=\n"), "call \(number): \(text)")
            same(log.values, ["a": "1", "c": "3"])
        }
    }

    // MARK: Access

    #if canImport(Glibc)
    private typealias SetAttribute =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<UInt8>, Int, Int32
        ) -> Int32
    private typealias GetAttribute =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutablePointer<UInt8>, Int
        ) -> Int

    /// Swift's Glibc module lacks xattr(7).
    private func function<Function>(_ name: String, as type: Function.Type) throws -> Function {
        unsafeBitCast(try #require(dlsym(nil, name)), to: type)
    }

    private func setAttribute(_ name: String, of file: String, to value: [UInt8]) throws {
        let call = try function("setxattr", as: SetAttribute.self)
        try #require(call(folder.path(file), name, value, value.count, 0) == 0, "\(String(cString: strerror(errno)))")
    }

    private func attribute(_ name: String, of file: String) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = try function("getxattr", as: GetAttribute.self)(folder.path(file), name, &buffer, buffer.count)
        return count < 0 ? nil : Array(buffer.prefix(count))
    }

    /// An access control list as in acl(5) and linux/posix_acl_xattr.h: the user 12345 can read and write, the group
    /// nothing.
    private static var list: [UInt8] {
        func entry(_ tag: UInt8, _ rights: UInt8, _ user: [UInt8] = [255, 255, 255, 255]) -> [UInt8] {
            [tag, 0, rights, 0] + user
        }
        return [2, 0, 0, 0] + entry(1, 6) + entry(2, 6, [0x39, 0x30, 0, 0]) + entry(4, 0) + entry(0x10, 6)
            + entry(0x20, 0)
    }

    @Test
    func accessListAndAttributesStay() throws {
        try folder.write("a=1.\n!x\n", to: "log")
        try setAttribute("system.posix_acl_access", of: "log", to: Self.list)
        try setAttribute("user.note", of: "log", to: [7])
        let mode = try SystemFileSystem().status(at: folder.path("log")).mode
        try open().compact()
        for name in ["log", "log.damaged-1"] {
            try same(attribute("system.posix_acl_access", of: name), Self.list)
            try same(attribute("user.note", of: name), [7])
            try same(SystemFileSystem().status(at: folder.path(name)).mode, mode)
        }
    }

    /// A folder's default list would give the new file a list that the old file doesn't have.
    @Test
    func folderGrantsNoAccess() throws {
        try folder.write("a=1.\n", to: "log")
        try SystemFileSystem().setMode(SystemFileSystem().open(folder.path("log"), for: .appending), 0o660)
        try setAttribute("system.posix_acl_default", of: "", to: Self.list)
        try open().compact()
        try same(attribute("system.posix_acl_access", of: "log"), nil)
        try same(SystemFileSystem().status(at: folder.path("log")).mode, 0o660)
    }
    #endif

    @Test
    func fileWhoseListCanNotBeCopiedIsLeftAsItIs() throws {
        let log = try open()
        try log.set("a", "1")
        try log.set("a", "2")
        fileSystem.begin(.init(.error(.notPermitted), calls: ["fsetxattr"]))
        #expect(throws: LogError.self) { try log.compact() }
        try same(folder.read("log"), "a=1.\na=2.\n")
        try same(folder.names(), ["log"])
    }

    // MARK: Links and mounts

    @Test
    func linkThatIsSwappedLeadsToNoOtherFile() throws {
        try folder.write("a=1.\na=2.\n", to: "first")
        try folder.write("b=1.\nb=2.\n", to: "second")
        try folder.link("log", to: "first")
        let log = try open()
        fileSystem.beforeEachCall { [folder] call, path in
            guard call == "fsync", path.hasPrefix(folder.path(".first.")) else { return }
            do {
                try SystemFileSystem().remove(folder.path("log"))
                try folder.link("log", to: "second")
            } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        try same(folder.read("first"), "a=1.\na=2.\n")
        try same(folder.read("second"), "b=2.\n")
        same(log.values, ["b": "2"])
    }

    /// The file stays the same if the link is swapped for one that leads to it by another path.
    @Test
    func linkThatIsSwappedUnderTheLockIsFollowedAgain() throws {
        try folder.write("a=1.\na=2.\n", to: "first")
        try folder.link("log", to: "first")
        let log = try open()
        fileSystem.beforeEachCall { [folder] call, path in
            guard call == "fsync", path.hasPrefix(folder.path(".first.")) else { return }
            do {
                try SystemFileSystem().rename(folder.path("first"), to: folder.path("second"))
                try folder.write("b=1.\n", to: "first")
                try SystemFileSystem().remove(folder.path("log"))
                try folder.link("log", to: "second")
            } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        try same(folder.read("first"), "b=1.\n")
        try same(folder.read("second"), "a=2.\n")
    }

    /// Another program removes the file, or its folder, before each of the calls.
    @Test(arguments: [false, true])
    func removedFileIsNoFailure(isFolder: Bool) throws {
        for number in 0..<(try Self.calls()) {
            let tests = try CompactionHazardTests()
            try SystemFileSystem().makeFolder(tests.folder.path("place"))
            let log = try tests.open("place/log")
            try log.set("a", "1")
            try log.set("a", "2")
            let calls = Counter()
            tests.fileSystem.beforeEachCall { [folder = tests.folder] _, _ in
                guard calls.next() == number + 1 else { return }
                do {
                    try SystemFileSystem().rename(
                        folder.path(isFolder ? "place" : "place/log"),
                        to: folder.path("moved")
                    )
                } catch { Issue.record(error) }
            }
            // A folder that is moved takes the new file along.
            do { try log.compact() } catch { #expect(isFolder && error.cause == nil, "call \(number): \(error)") }
            tests.fileSystem.beforeEachCall(nil)
        }
    }

    /// The sets of other threads don't wait for a lock that a compaction waits for.
    @Test
    func compactionWaitsWithoutTheLockOfTheLog() throws {
        let log = try open()
        try log.set("a", "1")
        try log.set("a", "2")
        let other = try SystemFileSystem().open(folder.path("log"), for: .appending)
        try #require(try SystemFileSystem().lock(other))
        let isFree = Lock(true)
        fileSystem.beforeEachSleep {
            let found = log.core.withLockIfAvailable { _ in true }
            isFree.withLock { $0 = $0 && found == true }
        }
        #expect(throws: LogError.self) { try log.compact() }
        fileSystem.beforeEachSleep(nil)
        #expect(isFree.withLock { $0 } && fileSystem.now() > .zero)
        #expect(try folder.read("log") == "a=1.\na=2.\n" && folder.names() == ["log"])
    }

    /// A file that is a mount point can't be replaced.
    @Test
    func failedRenameLeavesNoCopy() throws {
        try folder.write("a=1.\n!x\n", to: "log")
        let log = try open()
        fileSystem.begin(.init(.error(.inUse), isLasting: true, calls: ["rename"]))
        #expect(throws: LogError.self) { try log.compactIfDue() }
        try same(folder.names(), ["log"])
        try same(folder.read("log"), "a=1.\n!x\n")
        fileSystem.begin()
        try log.compactIfDue()
        #expect(!fileSystem.calls.contains("rename"))
    }

    @Test
    func messagesNameTheFileAndNotTheDraft() throws {
        let log = try open()
        try log.set("a", "1")
        try log.compact()
        try log.set("a", "2")
        fileSystem.begin(.init(.error(.inputOutput), isLasting: true, calls: ["fdatasync"]))
        let error = #expect(throws: LogError.self) { try log.sync() }
        guard case .notDurable(let path, let cause as FileSystemError) = error else {
            Issue.record("not that: \(String(describing: error))")
            return
        }
        #expect(path == folder.path("log") && cause.path == folder.path("log"))
    }
}
