import FileTestSupport
import Foundation
import Preferences
import PreferencesFoundation
import TestSupport
import Testing

// On Apple platforms no environment variable moves user defaults to another folder: a program started by a test would write to
// the user's own.
#if os(Linux)
/// Imports in a program whose home is a temporary folder.
struct ImportTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private static let names =
        "bool data date float greatest infinity int least list nested real text url.relative url.space url.tilde url.umlaut "
        + "web whole"

    /// Runs the program, which must succeed; returns its output.
    private func run(_ words: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("UserDefaultsProbe"))
        process.arguments = words.split(separator: " ").map(String.init)
        process.environment = [
            "HOME": home.path, "XDG_CONFIG_HOME": home.path(".config"), "XDG_CONFIG_DIRS": home.path("system"),
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        same(process.terminationStatus, 0)
        return String(decoding: text, as: UTF8.self)
    }

    @Test(arguments: ["set import show", "set synchronize import show"])
    func valuesAreImportedExactly(words: String) throws {
        try same(
            run(words),
            """
            imported \(Self.names)
            bool = true
            data = {"$data":"AP8="}
            date = {"$date":"2026-11-29 22:00:00 +0000"}
            float = 0.10000000149011612
            greatest = 18446744073709551615
            infinity = inf
            int = 1
            least = -9223372036854775808
            list = ["a", 1, true, 1.5]
            nested = {"list": [{"$date":"2001-01-01 00:00:05 +0000"}], "map": {"k": false}}
            preferences.imported = ["UserDefaultsProbe"]
            real = 0.1
            text = "text"
            url.relative = "/tmp/base/rel"
            url.space = "/tmp/a b%20c#d?e"
            url.tilde = "/tmp/~/x"
            url.umlaut = "/tmp/ä"
            web = "/a b"
            whole = 2.0

            """
        )
    }

    @Test
    func fileURLsAreTheSame() throws {
        try same(run("set import urls"), "imported \(Self.names)\n")
        try same(run("urls"), "")
    }

    @Test
    func aLaterRunContinuesAfterAnEarlierOne() throws {
        try same(run("set synchronize"), "")
        try same(run("import"), "imported \(Self.names)\n")
    }

    @Test
    func setValuesAreKeptAndNothingIsImportedTwice() throws {
        try same(run("set write text import"), "imported \(Self.names.replacing(" text", with: ""))\n")
        try same(run("reset text reset int import import"), "imported \nimported \n")
        let names = try run("show").split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(!names.contains("text") && !names.contains("int") && names.contains("data"))
    }

    /// An empty domain doesn't count as imported: the old program may still be in use.
    @Test
    func emptyDomainIsNotRecorded() throws {
        try same(run("import show"), "imported \n")
        try same(run("set synchronize"), "")
        try same(run("import"), "imported \(Self.names)\n")
    }

    @Test
    func argumentsAndOtherDomainsAreNotImported() throws {
        try same(run("set-suite"), "")
        try same(run("import -int 7"), "imported \n")
        try same(run("import-suite show"), "imported x\npreferences.imported = [\"com.example.suite\"]\nx = 3\n")
        try same(run("import-suite"), "imported \n")
    }

    @Test
    func theSuiteMustBeNamed() throws {
        try same(
            run("import-nameless show"),
            "user defaults have no property for the name of their suite; pass it to importUserDefaults(_:suite:)\n"
        )
    }

    /// A value of a system domain doesn't count as the user's.
    @Test
    func aSystemDefaultDoesNotKeepTheUsersValueOut() throws {
        try FileManager.default.createDirectory(
            atPath: home.path("system/UserDefaultsProbe"),
            withIntermediateDirectories: true
        )
        try home.write("{\"text\":\"system\"}\n", to: "system/UserDefaultsProbe/preferences.jsonl")
        try same(run("set import"), "imported \(Self.names)\n")
    }

    @Test
    func managedNamesAreLeftOut() throws {
        let names = Self.names.replacing(" text", with: "").replacing(" int ", with: " ")
        try same(run("set import-managed"), "imported \(names)\n")
    }

    /// `prefs import` reads the file that Foundation wrote by the same conversion.
    @Test
    func theFileOfFoundationHasTheSameValues() throws {
        _ = try run("set import")
        let data = try Data(contentsOf: URL(filePath: home.path(".config/UserDefaultsProbe.plist")))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        let store = try PreferenceStore.file(
            at: URL(filePath: home.path(".config/UserDefaultsProbe/preferences.jsonl"))
        )
        var contents = store.contents
        same(contents.removeValue(forKey: "preferences.imported"), ["UserDefaultsProbe"])
        try same(PropertyListValue(propertyListObject: list), .dictionary(contents))
    }

    @Test
    func processesThatImportAtOnceDoItOnce() async throws {
        _ = try run("set synchronize")
        let imported = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 { group.addTask { try run("import") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        same(imported.filter { $0 == "imported \(Self.names)\n" }.count, 1)
        same(imported.filter { $0 == "imported \n" }.count, 5)
    }
}
#endif

struct ConversionTests {
    @Test
    func objectsOfAPropertyListAreConverted() throws {
        let value = try PropertyListValue(propertyListObject: [
            "a": NSNumber(value: true), "b": NSNumber(value: UInt64.max), "c": NSNumber(value: UInt64(1)),
            "d": [NSNumber(value: 1.0), "x"] as [Any],
        ])
        same(value, ["a": true, "b": .unsigned(.max), "c": 1, "d": [1.0, "x"]])
    }

    @Test
    func anotherObjectIsAnErrorWithItsPlace() {
        let error = #expect(throws: PreferenceError.self) {
            try PropertyListValue(propertyListObject: ["a": ["b": [NSNull()]]])
        }
        #expect(error?.message == "a.b.[] is a NSNull, which a preference can't hold" && error?.code == .unreadable)
    }
}
