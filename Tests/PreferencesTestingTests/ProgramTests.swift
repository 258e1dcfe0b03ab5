import FileTestSupport
import Foundation
import Testing

@testable import Preferences

/// What a program that was started for a preview or a test of its interface leaves on the disk.
struct ProgramTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    @Test
    func programKeepsItsPreferencesBetweenRuns() throws {
        #expect(try run("use") == "before: false false\nafter: 1 changed\n")
        #expect(try run("use") == "before: true true\nafter: 2 changed\n")
        #expect(try home.names() == [".config"], "else the other tests here show nothing")
    }

    @Test(arguments: ["1", "YES", "true", "anything"])
    func variableStartsTheProgramOnFreshStores(value: String) throws {
        for _ in 1...2 {
            let output = try run("use", environment: ["PREFERENCES_ISOLATED": value])
            #expect(output == "before: false false\nafter: 1 changed\n")
        }
        #expect(try home.names() == [])
    }

    @Test(arguments: [["-PreferencesIsolated", "YES"], ["-PreferencesIsolated"]])
    func argumentStartsTheProgramOnFreshStores(arguments: [String]) throws {
        for _ in 1...2 {
            #expect(try run("use", arguments) == "before: false false\nafter: 1 changed\n")
        }
        #expect(try home.names() == [])
    }

    @Test
    func clearNoLeavesTheProgramAsItIs() throws {
        for value in ["", "0", "NO", "false"] {
            #expect(!IsolatedProgram.isOn(variable: value, arguments: ["program"]))
            #expect(!IsolatedProgram.isOn(variable: "1", arguments: ["program", "-PreferencesIsolated", value]))
        }
        #expect(!IsolatedProgram.isOn(variable: nil, arguments: ["program"]))
        #expect(IsolatedProgram.isOn(variable: "0", arguments: ["program", "-PreferencesIsolated", "YES"]))
    }

    @Test
    func isolatedProgramFindsNothingOfWhatIsStored() throws {
        _ = try run("use")
        let stored = try home.read(".config/isolation-probe/preferences.jsonl")
        let output = try run("use", environment: ["PREFERENCES_ISOLATED": "1"])
        #expect(output == "before: false false\nafter: 1 changed\n")
        #expect(try home.read(".config/isolation-probe/preferences.jsonl") == stored)
    }

    @Test
    func scopesTouchNoFolderOfTheUser() throws {
        #expect(try run("scopes") == "mixed up: 0\n")
        #expect(try home.names() == [])
    }

    @Test(arguments: ["/nonexistent", "/proc/1"])
    func scopesNeedNoHome(path: String) throws {
        #expect(try run("scopes", environment: ["HOME": path]) == "mixed up: 0\n")
    }

    /// What the program prints, which must end well and have nothing to complain of.
    private func run(
        _ command: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws -> String {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appending(path: "IsolationProbe")
        process.arguments = [command] + arguments
        process.environment = ["HOME": home.path].merging(environment) { $1 }
        let (output, issues) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = issues
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = issues.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(String(decoding: complaints, as: UTF8.self) == "")
        #expect(process.terminationStatus == 0)
        return String(decoding: text, as: UTF8.self)
    }
}
