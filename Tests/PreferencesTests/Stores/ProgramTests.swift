import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

struct IsolatedProgramTests {
    @Test
    func clearNoLeavesTheProgramAsItIs() throws {
        for value in ["", "0", "NO", "false"] {
            #expect(!IsolatedProgram.isOn(variable: value, arguments: ["program"]))
            #expect(!IsolatedProgram.isOn(variable: "1", arguments: ["program", "-PreferencesIsolated", value]))
        }
        #expect(!IsolatedProgram.isOn(variable: nil, arguments: ["program"]))
        #expect(IsolatedProgram.isOn(variable: "0", arguments: ["program", "-PreferencesIsolated", "YES"]))
    }
}

// On Apple platforms the shared stores are user defaults, which no environment variable moves to another folder: a program
// started by a test would write to those of the user who runs the test.
#if os(Linux)
/// The files that a program leaves on the disk when it is started for a preview or a user interface test.
struct ProgramTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    @Test
    func programKeepsItsPreferencesBetweenRuns() throws {
        try same(run("use"), "before: false false\nafter: 1 changed\n")
        try same(run("use"), "before: true true\nafter: 2 changed\n")
        try same(home.names(), [".config"], "else the other tests here show nothing")
    }

    @Test(arguments: ["1", "YES", "true", "anything"])
    func variableStartsTheProgramOnFreshStores(value: String) throws {
        for _ in 1...2 {
            let output = try run("use", environment: ["PREFERENCES_ISOLATED": value])
            same(output, "before: false false\nafter: 1 changed\n")
        }
        try same(home.names(), [])
    }

    @Test(arguments: [["-PreferencesIsolated", "YES"], ["-PreferencesIsolated"]])
    func argumentStartsTheProgramOnFreshStores(arguments: [String]) throws {
        for _ in 1...2 {
            try same(run("use", arguments), "before: false false\nafter: 1 changed\n")
        }
        try same(home.names(), [])
    }

    @Test
    func isolatedProgramFindsNothingOfWhatIsStored() throws {
        _ = try run("use")
        let stored = try home.read(".config/isolation-probe/preferences.jsonl")
        let output = try run("use", environment: ["PREFERENCES_ISOLATED": "1"])
        same(output, "before: false false\nafter: 1 changed\n")
        try same(home.read(".config/isolation-probe/preferences.jsonl"), stored)
    }

    @Test
    func scopesTouchNoFolderOfTheUser() throws {
        try same(run("scopes"), "mixed up: 0\n")
        try same(home.names(), [])
    }

    @Test(arguments: ["/nonexistent", "/proc/1"])
    func scopesNeedNoHome(path: String) throws {
        try same(run("scopes", environment: ["HOME": path]), "mixed up: 0\n")
    }

    /// A process with Swift Testing, in which tests run, without any trait for isolation.
    @Test(arguments: ["libTesting.so", "libXCTest.so"])
    func testProcessHasItsSharedStoresInMemoryAndSaysSoOnce(library: String) throws {
        for _ in 1...2 {
            let output = try run("use", environment: try preloading(library), complaints: Self.notice)
            same(output, "before: false false\nafter: 1 changed\n")
        }
        try same(home.names(), [])
    }

    @Test
    func testProcessMayAskForItsFiles() throws {
        let environment = try preloading("libTesting.so")
        try same(run("use-files", environment: environment), "before: false false\nafter: 1 changed\n")
        try same(run("use-files", environment: environment), "before: true true\nafter: 2 changed\n")
    }

    @Test
    func isolatedTestsOfATestProcessAreNotAdvised() throws {
        try same(run("scopes", environment: try preloading("libTesting.so")), "mixed up: 0\n")
    }

    @Test
    func queueInsideAnIsolatedTestIsNamedAsTheCause() throws {
        let environment = try preloading("libTesting.so")
        let cause = """
            preferences: a shared store was used outside of the scope of any test, while a test with isolated stores runs: a dispatch queue, \
            a thread or a detached task doesn't inherit the scope and sees stores in memory that all tests share; capture \
            PreferenceStore.isolation in the test and use it there, as in queue.async { isolation.run { … } }

            """
        try same(run("queue", environment: environment, complaints: cause), "shared: 0\n")
    }

    /// The environment in which a program loads a library of this process.
    private func preloading(_ library: String) throws -> [String: String] {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let maps = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
        let path = try #require(maps.split { $0 == "\n" || $0 == " " }.first { $0.hasSuffix("/" + library) })
        // XCTest doesn't say where its own libraries are.
        return ["LD_PRELOAD": String(path), "LD_LIBRARY_PATH": String(path.dropLast(library.count))]
    }

    private static let notice = """
        preferences: in this test process the standard store and every suite are in memory, and all tests share them; \
        isolate each test with the trait .isolatedStores or PreferenceStore.withIsolatedStores, \
        or set PreferenceStore.isolatesTestProcesses to false before the first use of a store

        """

    @Test
    func localeAndZoneThatAProgramDoesNotKnowAreUnreadable() throws {
        try same(
            run("texts"),
            """
            unreadable locale
            unreadable zone
            none none
            -12600
            unreadable trip
            unreadable former
            unreadable json
            unreadable json
            "GMT-0330" "en_001" en_001

            """
        )
    }

    /// Returns the program's output; the program must succeed and print nothing else.
    private func run(
        _ command: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        complaints expected: String = ""
    ) throws -> String {
        let process = Foundation.Process()
        process.executableURL = URL(filePath: BuiltProgram.path("IsolationProbe"))
        process.arguments = [command] + arguments
        process.environment = ["HOME": home.path].merging(environment) { $1 }
        let (output, issues) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = issues
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = issues.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        same(String(decoding: complaints, as: UTF8.self), expected)
        same(process.terminationStatus, 0)
        return String(decoding: text, as: UTF8.self)
    }
}
#endif
