import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// When a file is compacted, what stays in it, and what comes between.
struct LogCompactionTests {
    private let folder: TemporaryFolder
    private let system = FaultyFileSystem()
    private let seen = Recorder<String>()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ text: String? = nil, _ name: String = "log") throws -> Log {
        if let text { try folder.write(text, to: name) }
        let log = Log(folder.path(name), system)
        _ = try log.look()
        return log
    }

    private func set(_ log: Log, _ values: ClosedRange<Int>, _ name: String = "a") throws {
        for value in values { try log.change(until: .now) { _ in Array("{\"\(name)\":\(value)}\n".utf8) } }
    }

    private func compact(_ log: Log) throws { try log.compact(until: .period(.seconds(5)), note) }

    private func note(_ update: ExternalChanges) {
        switch update {
        case .none: break
        case .changes(let lines): for change in lines.joined() { seen.record(change.name) }
        case .contents(_, let changes): for change in changes { seen.record(change.name) }
        }
    }

    private var text: String { get throws { try folder.read("log") } }
    private func identity() throws -> UInt64 { try system.status(at: folder.path("log")).inode }

    // MARK: What stays

    @Test(arguments: [
        ("{\"b\":1}\n{\"a\":2}\n{\"b\":3}\n", "{\"b\":3 }\n{\"a\":2}\n"),
        ("{\"b\":1}\n{\"b\":null}\n{\"a\":1}\n", "{\"a\":1}\n"),
        (
            "{\"$comment\":\"s\"}\n{\"b\":1}\n\n\n{\"$comment\":\"t\"}\n{\"a\":1,\"c\":1}\n",
            "{\"$comment\":\"s\"}\n{\"b\":1}\n\n{\"$comment\":\"t\"}\n{\"a\":1}\n{\"c\":1}\n"
        ),
        (
            "{\"a\":1,\"$later\": {\"x\":[1, null]}}\n{\"a\":2}\n{\"$later\": {\"x\":[1, null]}}\n",
            "{\"$later\": {\"x\":[1, null]}}\n{\"a\":2 }\n"
        ),
        ("{\"a\":1}\noops\n{\"a\":2}\n{\n\"b\":1\n}\n", "{\"a\":2 }\noops\n{\n\"b\":1\n}\n"),
        (
            "{\"b\":1}\n{\"$comment\":\"so \\\"loud\\\"\",\"b\":2,\"a\":1}\n",
            "{\"b\":2 }\n{\"$comment\":\"so \\\"loud\\\"\"}\n{\"a\":1}\n"
        ),
        ("{\"a\":1 }\n{\"b\":1.50}\n{\"b\":1e2}\n", "{\"a\":1 }\n{\"b\":1e2 }\n"),
        ("{\"\u{e9}\":1}\n{\"e\u{301}\":2}\n", "{\"\u{e9}\":2 }\n"), ("{\"a\":1}\n{\"a\":null}\n", ""),
    ])
    func eachNameKeepsItsLastValueInItsFirstPlace(_ text: String, _ expected: String) throws {
        let log = try open(text)
        try compact(log)
        let found = try self.text
        same(found == expected || found == expected.replacing("\u{e9}", with: "e\u{301}"), true, "\(found)")
        same(seen.elements, [])
        // Once more changes nothing.
        try compact(log)
        same(try self.text, found)
        try set(log, 5...5, "z")
        same(try self.text, found + "{\"z\":5}\n")
    }

    @Test(arguments: [
        (1, 0, 20, true, true), (1, 0, 16, true, false), (20, 0, 39, true, false), (20, 0, 41, true, true),
        (1, 0, 200, false, false),
        (1, 0, 9_000, false, true), (5_000, 0, 9_900, false, false), (1, 300, 301, true, false),
    ])
    func fileIsDueIfItIsLargeOrIdle(names: Int, comments: Int, lines: Int, isIdle: Bool, isDue: Bool) throws {
        var text = String(repeating: "{\"$comment\":\"x\"}\n", count: comments)
        for number in 0..<(lines - comments) { text += "{\"name\(number % names)\":\(number)}\n" }
        let log = try open(text)
        same(log.isDue(names: names, isIdle: isIdle), isDue)
        if !isDue { return }
        try compact(log)
        same(log.isDue(names: names, isIdle: true), false)
    }

    @Test
    func permissionsAndAttributesStay() throws {
        let log = try open("{\"a\":1}\n{\"a\":2}\n")
        chmod(folder.path("log"), 0o640)
        if geteuid() == 0 { chown(folder.path("log"), 12, 34) }
        let name = "user.note"
        let isSupported = setAttribute(folder.path("log"), name, "x")
        let before = try system.status(at: folder.path("log"))
        try compact(log)
        let after = try system.status(at: folder.path("log"))
        same(after.inode != before.inode, true)
        same([after.mode, after.owner, after.group], [before.mode, before.owner, before.group])
        if isSupported { same(attribute(folder.path("log"), name), "x") }
    }

    private func setAttribute(_ path: String, _ name: String, _ value: String) -> Bool {
        #if os(Linux)
        typealias Call =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, Int, Int32) -> Int32
        let call = unsafeBitCast(dlsym(nil, "setxattr"), to: Call.self)
        return call(path, name, value, value.utf8.count, 0) == 0
        #else
        return false
        #endif
    }

    private func attribute(_ path: String, _ name: String) -> String {
        #if os(Linux)
        typealias Call =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutablePointer<UInt8>, Int) -> Int
        let call = unsafeBitCast(dlsym(nil, "getxattr"), to: Call.self)
        var buffer = [UInt8](repeating: 0, count: 64)
        return String(decoding: buffer[..<max(0, call(path, name, &buffer, 64))], as: UTF8.self)
        #else
        return ""
        #endif
    }

    @Test
    func newFileIsSyncedBeforeItTakesThePlaceAndTheFolderAfter() throws {
        let log = try open("{\"a\":1}\n{\"a\":2}\n")
        system.begin()
        try compact(log)
        same(
            system.calls.filter { ["write", "fsync", "renameat2"].contains($0) },
            ["write", "fsync", "renameat2", "fsync"]
        )
    }

    // MARK: Files that are only appended to

    @Test(arguments: ["link", "mount", "rename", "owner", "folder"])
    func fileThatCanNotBeReplacedIsNamedOnceItIsLarge(_ reason: String) throws {
        let log = try open()
        try set(log, 1...40)
        switch reason {
        case "link": link(folder.path("log"), folder.path("other"))
        case "mount": system.mountFiles()
        case "rename": system.begin(.init(code: EBUSY, isLasting: true, calls: ["renameat2"]))
        case "owner":
            chown(folder.path("log"), 12, 34)
            system.begin(.init(code: EPERM, isLasting: true, calls: ["fchown"]))
        default: system.begin(.init(code: EACCES, isLasting: true, calls: ["open"]))
        }
        if reason == "owner", geteuid() != 0 { return }
        let before = try identity()
        if reason == "folder" { try set(log, 41...41) }
        same(log.isDue(names: 1, isIdle: true), true)
        try compact(log)
        same(log.isDue(names: 1, isIdle: true), false, "it isn't tried again at once")
        try set(log, 1...9_000)
        let error = #expect(throws: PreferenceError.self) { try compact(log) }
        same(error?.message.contains("has \(try system.status(at: folder.path("log")).size) bytes"), true)
        try set(log, 1...9_000)
        try compact(log)
        // A requested one always throws.
        let requested = #expect(throws: PreferenceError.self) {
            try log.compact(until: .period(.seconds(5)), isRequested: true) { _ in }
        }
        same(requested?.message.contains("can't be compacted"), true)
        same(try identity(), before)
        same(try text.hasSuffix("{\"a\":8999}\n{\"a\":9000}\n"), true)
        same(try folder.names(), reason == "link" ? ["log", "other"] : ["log"])
    }

    @Test
    func fileWithAnUnfinishedLineWaits() throws {
        let log = try open("{\"a\":1}\n{\"a\":2}\n{\"a\":")
        try compact(log)
        same(try text, "{\"a\":1}\n{\"a\":2}\n{\"a\":")
    }

    // MARK: What comes between

    /// Another program does something before each of the calls; nothing of it is lost.
    @Test(arguments: ["append", "replace", "rewrite", "remove", "move folder"])
    func otherProgramLosesNothing(_ act: String) throws {
        var number = 0
        var isReached = true
        while isReached {
            let folder = try TemporaryFolder()
            mkdir(folder.path("place"), 0o700)
            try folder.write("{\"a\":1}\n{\"a\":2}\n{\"b\":1}\n", to: "place/log")
            let log = Log(folder.path("place/log"), system)
            _ = try log.look()
            let (calls, found) = (Counter(), Counter())
            system.beforeEachCall { [number] _, _ in
                guard calls.next() == number + 1 else { return }
                found.next()
                do {
                    switch act {
                    case "append": try folder.append("{\"a\":77}\n", to: "place/log")
                    case "replace":
                        try folder.write("{\"c\":3}\n{\"c\":4}\n", to: "place/new")
                        rename(folder.path("place/new"), folder.path("place/log"))
                    case "rewrite": try folder.truncate("place/log", andWrite: "{\"c\":4}\n")
                    case "remove": unlink(folder.path("place/log"))
                    default: rename(folder.path("place"), folder.path("moved"))
                    }
                } catch { Issue.record("\(act) \(number): \(error)") }
            }
            do { try compact(log) } catch { same(act, "move folder", "call \(number): \(error)") }
            system.beforeEachCall(nil)
            isReached = found.value > 0
            let name = act == "move folder" && isReached ? "moved" : "place"
            let values = try Log(folder.path(name + "/log")).look()
            var stored: [String: PropertyListValue] = [:]
            if case .contents(_, let changes) = values { for change in changes { stored[change.name] = change.value } }
            let expected: [String: PropertyListValue] =
                switch act {
                case "append": ["a": 77, "b": 1]
                case "replace", "rewrite": ["c": 4]
                case "remove": [:]
                default: ["a": 2, "b": 1]
                }
            if isReached { same(stored, expected, "\(act) before call \(number)") }
            // A folder that is moved takes the new file along.
            if name == "place" {
                same(try folder.names(in: name).filter { $0.hasSuffix(".new") }, [], "\(act) before call \(number)")
            }
            number += 1
        }
        same(number > 12, true)
    }

    @Test
    func lineOfAnotherProgramIsShownThatComesBeforeTheExchange() throws {
        let log = try open("{\"a\":1}\n{\"a\":2}\n")
        system.beforeEachCall { [folder] call, _ in
            guard call == "renameat2" else { return }
            do { try folder.append("{\"b\":2}\n", to: "log") } catch { Issue.record(error) }
        }
        try compact(log)
        system.beforeEachCall(nil)
        same(try text, "{\"a\":2 }\n{\"b\":2}\n")
        same(seen.elements, ["a", "b"])
    }

    @Test
    func fileSystemThatCanNotExchangeRenames() throws {
        let log = try open("{\"a\":1}\n{\"a\":2}\n")
        system.begin(.init(code: EINVAL, calls: ["renameat2"]))
        try compact(log)
        same(try text, "{\"a\":2 }\n")
        same(system.calls.contains("rename"), true)
        same(try folder.names(), ["log"])
    }

    @Test
    func leftoversOfDeadProcessesAreRemoved() throws {
        let log = try open("{\"a\":1}\n")
        for name in [".log.abc.new", ".log.def.new", ".log2.abc.new"] { try folder.write("x", to: name) }
        let living = try system.open(folder.path(".log.def.new"), for: .appending)
        same(try system.lock(living), true)
        log.removeDrafts()
        same(try folder.names(), [".log.def.new", ".log2.abc.new", "log"])
        withExtendedLifetime(living) {}
    }
}
