import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a file of lines reads as, and what is appended to it.
struct LogTests {
    private let folder: TemporaryFolder
    private let system = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("log") }
    private func open(_ name: String = "log") -> Log { Log(folder.path(name), system) }

    /// The values of a file, as a process that has just been started reads it.
    private func stored(_ name: String = "log") throws -> [String: PropertyListValue] {
        try Self.values(Log(folder.path(name)).look())
    }

    private static func values(_ update: ExternalChanges) -> [String: PropertyListValue] {
        guard case .contents(_, let changes) = update else { return [:] }
        return Dictionary(changes.map { ($0.name, $0.value) }) { $1 }.compactMapValues(\.self)
    }

    /// Sets a name, and returns what was new before.
    @discardableResult
    private func set(_ log: Log, _ name: String, _ value: Int64?, _ deadline: PreferenceDeadline = .period(.seconds(5)))
        throws -> [StoredChange]
    {
        var seen: [StoredChange] = []
        try log.change(until: deadline) { update in
            seen = Self.all(update)
            var line: [UInt8] = []
            try JSONLine.write([StoredChange(name, value.map { .integer($0) })], to: &line)
            return line
        }
        return seen
    }

    private static func all(_ update: ExternalChanges) -> [StoredChange] {
        switch update {
        case .none: []
        case .changes(let lines): Array(lines.joined())
        case .contents(let lines, let values): lines.joined() + values
        }
    }

    private func names(_ changes: [StoredChange]) -> [String] {
        changes.map { "\($0.name)=\($0.value.map { "\($0)" } ?? "nil")" }
    }
    private func names(_ update: ExternalChanges) -> [String] { names(Self.all(update)) }

    private func kind(_ body: () throws -> Void) -> FileSystemError.Kind? {
        let error = #expect(throws: FileSystemError.self) { try body() }
        return error?.kind
    }

    // MARK: Lines

    @Test(
        arguments: [
            ("", [:], 0), ("\n\r\n", [:], 0), ("{\"a\":1}\n{\"a\":2}\n", ["a": 2], 0),
            ("{\"a\":1}\n{\"a\":null}\n", [:], 0),
            ("\u{FEFF}{\"a\":1}\n", ["a": 1], 0), ("{\"a\":1}\n\u{FEFF}{\"b\":1}\n", ["a": 1], 1),
            ("{\"a\":1}", ["a": 1], 0),
            ("{\"a\":1}\n{\"a\":", ["a": 1], 0), ("{\"a\":1}\n{\"a\":\n{\"b\":2}\n", ["a": 1, "b": 2], 1),
            ("{\"a\":1} {\"b\":2}{}\n", ["a": 1, "b": 2], 0), ("{\"a\":1,\"$later\":[null]}\n", ["a": 1], 0),
            ("{\"$comment\":\"x\"}\n{\"$comment\":5,\"b\":1}\n{\"a\":1 }\n", ["a": 1], 1),
            ("oops\n{\"a\":1}\n\0\0\n", ["a": 1], 2),
            ("{\"a\":1}\n{\n  \"b\":2,\n  \"c\":3\n}\n{\"d\":4}\n", ["a": 1, "d": 4], 1),
            ("{\"a\":1}\n{\n \"b\":2\n}", ["a": 1], 1),
            ("{\"$$cost\":9}\n", ["$cost": 9], 0),
            ("{\"a\":01}\n{\"b\":-0}\n{\"c\":-3}\n{\"d\":1e2}\n", ["b": 0, "c": -3, "d": .real(100)], 1),
        ] as [(String, [String: PropertyListValue], Int)]
    )
    func linesAreRead(_ text: String, _ values: [String: PropertyListValue], _ damaged: Int) throws {
        try folder.write(text, to: "log")
        let log = open()
        same(try Self.values(log.look()), values, "\(text)")
        same(log.damage.count, damaged, "\(text)")
        // A line is appended behind the last one, whether that has an end or not.
        try set(log, "z", 7)
        var all = values
        all["z"] = 7
        same(try stored(), all, "\(text)")
        same(try folder.read("log").utf8.starts(with: text.utf8), true)
    }

    @Test
    func damageNamesItsLine() throws {
        try folder.write("{\"a\":1}\n{\"b\":}\n{\"c\":3}\n{\n\"d\":1\n}\n", to: "log")
        let log = open()
        _ = try log.look()
        same(log.damage.map(\.code), [.damaged, .damaged])
        same(log.damage.map { $0.damagedLine?.number }, [2, 4])
        same(log.damage[0].message.hasPrefix("line 2 of \(path) can't be read and is skipped: "), true)
        same(log.damage[1].message.contains("an object over 3 lines"), true)
    }

    @Test
    func manyDamagedLinesAreNamedInPart() throws {
        try folder.write("{\"a\":1}\n" + String(repeating: "x\n", count: 5_000), to: "log")
        let log = open()
        _ = try log.look()
        same(log.damage.count, 100)
        same(log.isDue(names: 1, isIdle: true), false)
    }

    @Test
    func fileCutAtEveryByteIsNoMoreThanItsLines() throws {
        let text = "{\"a\":1}\n{\"b\":22}\n\n{\"c\":3}\r\n!\n{\"a\":4,\"d\":{\"x\":[1,2]}}\n"
        for count in 0...text.utf8.count {
            let part = String(decoding: text.utf8.prefix(count), as: UTF8.self)
            try folder.write(part, to: "log")
            let log = open()
            var values = try Self.values(log.look())
            try set(log, "z", 1)
            values["z"] = 1
            same(try stored(), values, "\(count)")
            same(try folder.read("log").utf8.starts(with: part.utf8), true)
        }
    }

    /// A line without its end counts if it is complete, and what is added to it changes that.
    @Test(
        arguments: [
            ("", ["a=1"], ["a": 1]), ("\n", ["a=1"], ["a": 1]), ("{\"b\":2}\n", ["a=1", "b=2"], ["a": 1, "b": 2]),
            (" x\n", [], [:]),
            ("{\"b\":", [], ["a": 1]),
        ] as [(String, [String], [String: PropertyListValue])]
    )
    func lineWithoutAnEndIsReadAgainWithWhatIsAdded(
        _ added: String,
        _ new: [String],
        _ values: [String: PropertyListValue]
    ) throws {
        try folder.write("{\"x\":0}\n{\"a\":1}", to: "log")
        let log = open()
        same(try Self.values(log.look())["a"], 1)
        try folder.append(added, to: "log")
        let seen = try names(log.look())
        if !new.isEmpty, !added.isEmpty { same(seen, new, "\(added)") }
        try set(log, "z", 1)
        same(
            try stored(),
            added == "{\"b\":" ? ["x": 0, "z": 1] : values.merging(["x": 0, "z": 1]) { $1 },
            "\(added)"
        )
    }

    @Test
    func newerFormatIsAnErrorAndNothingIsWritten() throws {
        try folder.write("{\"a\":1}\n{\"$format\":2}\n", to: "log")
        for _ in 1...2 {
            same(kind { _ = try open().look() }.map { if case .newerFormat = $0 { true } else { false } }, true)
        }
        try folder.write("{\"a\":1}\n", to: "log")
        let log = open()
        _ = try log.look()
        try folder.append("{\"a\":2}\n{\"$format\":2}\n", to: "log")
        for _ in 1...2 {
            same(kind { try set(log, "a", 3) } == nil, false)
            same(kind { _ = try log.look() } == nil, false)
        }
        same(try folder.read("log"), "{\"a\":1}\n{\"a\":2}\n{\"$format\":2}\n")
        // Replaced by one that can be read.
        try folder.write("{\"a\":5}\n", to: "log")
        same(try names(set(log, "b", 1)), ["a=5"])
        same(try stored(), ["a": 5, "b": 1])
    }

    @Test(arguments: [
        ("{\"volume\":}\n", true), ("\u{FEFF} {\"volume\": 5,}\n", true), ("  { \"volume\" 5}\n", true),
        ("{\"a\":{\"$data\":\"not base64\"}}\n", true), ("{\"$new\":[null]}\n", true), ("x\n{\"a\":1}\n", true),
        ("{\"a", true),
        ("{\"cut\":\"0{\"late\":\"}\n", true), ("{\"a\":1,\0\0\0\0", true), ("\n\n", true), ("\0\0\0", true),
        ("{}\nfoo\n", true),
        ("{\n  \"volume\": 5,\n  \"theme\": \"dark\"\n}\n", false), ("#!/bin/sh\necho hello\n", false),
        ("{\n  \"$schema\": \"x\",\n  \"volume\": 5\n}", false), ("[1,2]\n", false), ("{\"list\":[null]}\n", false),
        ("[section]\nkey = 1\n", false), ("\u{FEFF}name: value", false), ("alias ls='ls -l'\nexport A=1\n", false),
        ("\u{7f}ELF\0\u{1}!", false), ("!\0x\0\n", false),
    ])
    func fileOfAnotherKindIsNotChanged(_ text: String, isUsed: Bool) throws {
        try folder.write(text, to: "log")
        let log = open()
        _ = try log.look()
        if isUsed {
            try set(log, "z", 1)
            same(try stored()["z"], 1)
            return
        }
        let error = #expect(throws: PreferenceError.self) { try set(log, "z", 1) }
        same(error?.code, .unknownFormat)
        same(log.isWritable, false)
        same(try folder.read("log"), text)
        // It is used as soon as it has an entry.
        try folder.append((text.hasSuffix("\n") ? "" : "\n") + "{}\n", to: "log")
        try set(log, "z", 1)
        same(try stored()["z"], 1)
        same(log.isWritable, true)
    }

    // MARK: Places

    @Test
    func whatIsNoFileIsAnErrorAtOnce() throws {
        mkfifo(folder.path("pipe"), 0o600)
        mkdir(folder.path("folder"), 0o700)
        for (path, expected) in [
            ("pipe", "pipe"), ("folder", "folder"), ("/dev/zero", "device"), ("/dev/full", "device"),
        ] {
            let log = Log(path.hasPrefix("/") ? path : folder.path(path), system)
            same(kind { _ = try log.look() }, .notAFile(expected))
            same(kind { try set(log, "a", 1) }, .notAFile(expected))
        }
        // Also if it takes the file's place; the last values stay.
        let log = open()
        try set(log, "a", 1)
        unlink(path)
        mkfifo(path, 0o600)
        same(kind { _ = try log.look() }, .notAFile("pipe"))
        same(kind { try set(log, "a", 2) }, .notAFile("pipe"))
        unlink(path)
        try set(log, "a", 3)
        same(try folder.read("log"), "{\"a\":3}\n")
    }

    @Test
    func foldersAndFileAreMadeForTheUserAloneAndOnlyForALine() throws {
        let log = open("a/b/log")
        _ = try log.look()
        try log.change(until: .period(.seconds(5))) { _ in [] }
        same(try folder.names(), [])
        try set(log, "x", 1)
        same(try folder.read("a/b/log"), "{\"x\":1}\n")
        same(
            try ["a", "a/b", "a/b/log"].map { try system.status(at: folder.path($0)).mode & 0o7777 },
            [0o700, 0o700, 0o600]
        )
        // No write is needed for no line, also where none is possible.
        try Log(folder.path("a/b/log"), ReadOnlyFileSystem(EACCES)).change(until: .period(.seconds(5))) { _ in [] }
    }

    @Test(arguments: [
        ("log", "new/folder/file", "log", "new/folder/file"), ("link", "new/folder", "link/log", "new/folder/log"),
        ("link", "real", "link/log", "real/log"),
    ])
    func fileAtALinkIsCreatedAndTheLinkStays(link: String, target: String, name: String, file: String) throws {
        mkdir(folder.path("real"), 0o700)
        try folder.link(link, to: target)
        let log = open(name)
        _ = try log.look()
        same(log.isWritable, true)
        try set(log, "a", 1)
        for value in 2...40 { try set(log, "a", Int64(value)) }
        try log.compact(until: .period(.seconds(5))) { _ in }
        same(try folder.read(file), "{\"a\":40 }\n")
        same(try system.status(at: folder.path(link), followsLinks: false).isLink, true)
    }

    @Test
    func loopingLinkAndFileInPlaceOfAFolderAreErrors() throws {
        try folder.link("log", to: "other")
        try folder.link("other", to: "log")
        try folder.write("", to: "file")
        for name in ["log", "file/log"] {
            let log = open(name)
            same(kind { _ = try log.look() }, .call)
            same(kind { try set(log, "a", 1) }, .call)
            same(log.isWritable, false)
        }
    }

    @Test(arguments: [(0o2775, 0o660), (0o2755, 0o600), (0o775, 0o600)] as [(mode_t, UInt32)])
    func newFileIsItsGroupsInAFolderThatAGroupShares(_ mode: mode_t, _ expected: UInt32) throws {
        mkdir(folder.path("shared"), 0o700)
        chmod(folder.path("shared"), mode)
        let log = open("shared/log")
        try set(log, "a", 1)
        same(try system.status(at: folder.path("shared/log")).mode & 0o7777, expected)
    }

    /// Another user who owns the folder or the file could choose which file is read and where root writes.
    @Test(arguments: ["real", "real/log"])
    func programOfRootUsesNoFileOfAnotherUser(_ foreign: String) throws {
        mkdir(folder.path("real"), 0o700)
        try folder.write("{\"a\":1}\n", to: "real/log")
        try folder.link("log", to: "real/log")
        var owners = Dictionary(uniqueKeysWithValues: ["log", "real", "real/log"].map { (folder.path($0), UInt32(0)) })
        system.run(as: 0, owners)
        same(try Self.values(open().look()), ["a": 1])
        owners[folder.path(foreign)] = 1000
        if foreign == "real/log" { owners[path] = 1000 }
        system.run(as: 0, owners)
        let log = open()
        same(kind { _ = try log.look() }, .foreignOwner(1000))
        same(kind { try set(log, "a", 2) }, .foreignOwner(1000))
        same(log.isWritable, false)
        log.trustOwner()
        try set(log, "a", 2)
        // Users other than root use what belongs to others.
        system.run(as: 1001, owners)
        try set(open(), "a", 3)
        same(try stored(), ["a": 3])
    }
}
