import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The existing value types, backends and commands follow the steps that CONTRIBUTING lists for new ones.
struct ContributingTests {
    /// The types that a `Codable` type stores in their own encoding.
    private static let codedByThemselves: Set = ["Character", "PropertyListValue"]
    /// The types whose stored values have no single type in JSON Schema.
    private static let schemaless: Set = ["PropertyListValue"]

    @Test
    func eachValueTypeIsInItsFourPlaces() throws {
        let sources = try Self.sources(in: "Sources/Preferences/Values").joined()
        let types = sources.matches(of: /extension (\w+): PreferenceValue \{/).map { String($0.1) }
        #expect(types.count > 20)
        let tests = try Self.text(of: "Tests/PreferencesTests/Values/PreferenceValueTests.swift")
        let guide = try Self.text(of: "Sources/Preferences/Preferences.docc/Declaring.md")
        let natives = try Self.text(of: "Sources/Preferences/Values/NativeValue.swift")
        let schema = try Self.text(of: "Sources/PreferencesSchema/PreferenceGroup+Schema.swift")
        for type in types {
            let name = try Regex("\\b\(type)\\b").wordBoundaryKind(.simple)
            let isTested = tests.contains(name) || type == "PropertyListValue"
            #expect(isTested, "no round trip of \(type)")
            // All integers share one entry there.
            let isExplained = type.contains("Int") || type == "PropertyListValue" || guide.contains("`\(type)`")
            #expect(isExplained, "the guide doesn't have \(type)")
            let isNative = natives.contains("handles(\(type).self)")
            #expect(isNative != Self.codedByThemselves.contains(type), "\(type) in NativeValue")
            let isDescribed = type.contains("Int") || schema.contains("is \(type).Type")
            #expect(isDescribed != Self.schemaless.contains(type), "\(type) in StoredType")
        }
    }

    /// Each initializer is another overload for the compiler to try and for developers to choose from.
    @Test
    func declarationsHaveFewInitializers() throws {
        let files = [
            "Preference/Preference+Declaring.swift", "Preference/Preference+DeclaringPlain.swift",
            "Preference/Preference.swift", "Apple/PreferenceState.swift",
        ]
        let sources = try files.map { try Self.text(of: "Sources/Preferences/\($0)") }.joined()
        let unavailable = sources.matches(of: /unavailable,/).count
        #expect(sources.matches(of: /public init\b/).count - unavailable <= 25)
    }

    /// Read-only backends, as the contract is about writes, one that keeps nothing itself, and views of another store, which other tests write
    /// from all sides.
    private static let otherBackends: Set = [
        "NoBackend", "MemoryBackend", "ConfigurationBackend", "ReadOnlyFiles", "UserDefaultsPartBackend",
        "DraftBackend",
        "ValidatedBackend",
        "CanaryBackend",
    ]

    @Test
    func eachBackendProvesTheContract() throws {
        let sources = try Self.sources(in: "Sources").joined()
        let names = sources.matches(of: /class (\w+): (?:Preference)?Backend\b/)
            .map { String($0.1) }.filter { !Self.otherBackends.contains($0) }
        #expect(names.count >= 5)
        let folders = [
            "Tests/PreferencesTests", "Tests/PreferencesTestingTests", "Tests/Products/PreferencesEtcdTests",
            "Tests/Products/PreferencesKeyringTests", "Evidence/Verify/Tests/VerifyTests",
        ]
        let tests = try folders.map { try Self.sources(in: $0) }.joined().filter { $0.contains("Contract.verify") }
        for name in names { #expect(tests.contains { $0.contains("\(name)(") }, "no contract test of \(name)") }
    }

    @Test
    func eachCommandIsInItsFourPlaces() throws {
        let folder = Snippet.root.appending(path: "Tool/Sources/PrefsCommands/Commands").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix("Command.swift") }
        #expect(files.count > 10)
        let list = try Self.text(of: "Tool/Sources/PrefsCommands/Prefs.swift")
        let page = try Self.text(of: "Tool/prefs.1")
        let guide = try Self.text(of: "Sources/Preferences/Preferences.docc/CommandLine.md")
        let transcripts = try FileManager.default.subpathsOfDirectory(
            atPath: Snippet.root.appending(path: "Tool/Tests/PrefsTests/Transcripts").path
        ).filter { $0.hasSuffix(".txt") }.map { try Self.text(of: "Tool/Tests/PrefsTests/Transcripts/\($0)") }.joined()
        for file in files {
            let type = file.dropLast(".swift".count)
            let command = type.dropLast("Command".count).lowercased()
            #expect(list.contains("\(type).self"), "\(command) isn't listed")
            #expect(page.contains(try Regex("\n\\.B[RI]? \"?\(command)\\b")), "no \(command) in the man page")
            #expect(guide.contains("prefs \(command)"), "no \(command) in the guide")
            #expect(transcripts.contains("$ prefs \(command)"), "no transcript of \(command)")
        }
    }

    @Test
    func eachNamedFileExists() throws {
        let places = try FileManager.default.subpathsOfDirectory(atPath: Snippet.root.path).filter {
            !$0.contains(".build") && !$0.hasPrefix(".git/")
        }
        let names = Set(places.compactMap { $0.split(separator: "/").last.map(String.init) })
        let bases = ["", "Sources/Preferences/", "Scripts/"]
        for page in ["CONTRIBUTING.md", "Sources/Preferences/Preferences.docc/Internals.md"] {
            let named = try Self.text(of: page).matches(of: /`([\w.+\/-]+)`/).map { String($0.1) }.filter {
                $0.hasSuffix(".swift") || $0.hasSuffix(".md") || $0.contains("/") && !$0.contains("...")
            }
            #expect(named.count > 10)
            for name in named {
                let exists = name.contains("/") ? bases.contains { places.contains($0 + name) } : names.contains(name)
                #expect(exists, "\(page) names \(name), which doesn't exist")
            }
        }
    }

    @Test
    func mapHasTheFloorsOfTheLibrary() throws {
        let internals = try Self.text(of: "Sources/Preferences/Preferences.docc/Internals.md")
        let row = try #require(internals.firstMatch(of: /\| `Preferences` \| `([^`]+)` \|/))
        let floors = row.1.split(whereSeparator: { "<, ".contains($0) }).map(String.init)
        let map = try Self.text(of: "CONTRIBUTING.md").matches(of: /(?m)^\| `Sources\/Preferences\/(\w+)` \|/)
        same(map.map { String($0.1) }, floors)
    }

    /// In CI, a test fails if its tool is missing, and git rejects the checkout, which another user than the container's owns.
    @Test(arguments: ["ci", "nightly"])
    func eachContainerInstallsTheToolsFirst(workflow: String) throws {
        let text = try Self.text(of: ".github/workflows/\(workflow).yml")
        // Each job begins with its name, two spaces from the margin.
        let jobs = text.split(separator: "\njobs:\n").last?.matches(of: /(?m)^  [\w-]+:\n(?:   .*\n)+/) ?? []
        #expect(!jobs.isEmpty)
        for job in jobs.map(\.output) where job.contains("container:") {
            let commands = job.matches(of: /- run: (.+)/).map { String($0.1) }
            let tools = job.contains("make check-all") ? ".ci/run --tools all" : ".ci/run --tools"
            same(commands.prefix(2), ["git config --global --add safe.directory '*'", tools])
        }
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: Snippet.root.appending(path: path), encoding: .utf8)
    }

    private static func sources(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Snippet.root.appending(path: folder).path)
            .filter { $0.hasSuffix(".swift") }.map { try text(of: "\(folder)/\($0)") }
    }
}
