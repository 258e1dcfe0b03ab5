import FileTestSupport
import Preferences
import PreferencesEditing
import PreferencesTesting
import PreferencesValidation
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The code of the guide to programs that start right and stay right.

private enum Server {
    // snippet: starting group
    struct ServerPreferences: PreferenceGroup {
        @Preference("port", .range(1...65535)) var port = 8080
        @Preference("workers", .range(1...64)) var workers = 4
        @Preference("database", .required) var database: String?
    }
    // end
}

private enum Player {
    struct PlayerPreferences: PreferenceGroup {
        @Preference("volume", .range(0...100)) var volume = 5
    }
}

struct StartingRightGuideTests {
    private typealias ServerPreferences = Server.ServerPreferences
    private typealias PlayerPreferences = Player.PlayerPreferences

    /// Returns the text blocks of the guide, which are what its code prints.
    private static func shown() throws -> String {
        let path = Snippet.root.appending(path: "Sources/Preferences/Preferences.docc/StartingRight.md")
        return try String(contentsOf: path, encoding: .utf8)
    }

    @Test
    func problemsArePrintedAsShown() throws {
        let variables = ["APP_PORT": "80a80", "APP_PROT": "1"]
        let problems = try #require(throws: PreferenceProblems.self) {
            // snippet: starting check
            let server = ServerPreferences(in: .layered([.environment(variables, prefix: "APP"), .inMemory()]))
            try server.check()  // throws PreferenceProblems
            // end
        }
        #expect(try Self.shown().contains("```\n\(problems)\n```"), "\(problems)")
    }

    @Test
    func validatedStoreKeepsTheLastValidState() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"database\":\"a\",\"port\":9000}\n", to: "preferences.jsonl")
        let file = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        let store = PreferenceStore.layered([file])
        let server = ServerPreferences(in: try .validated(ServerPreferences.self, over: store))
        let plain = ServerPreferences(in: file)
        let (issues, continuation) = AsyncStream.makeStream(of: String.self)
        store.issueHandler = { continuation.yield("\($0)") }
        file.issueHandler = { _ in }
        try folder.append("{\"workers\":1}\n", to: "preferences.jsonl")
        while server.workers != 1 { await Task.yield() }
        try folder.append("{\"port\":\"ninety\"}\n", to: "preferences.jsonl")
        var iterator = issues.makeAsyncIterator()
        let issue = await iterator.next()
        #expect(plain.port == 8080 && server.port == 9000)
        let shown = issue?.replacing(folder.path, with: "/home/ada/.config/service")
        #expect(try Self.shown().contains("```\n\(shown ?? "")\n```"), "\(shown ?? "")")
        try folder.append("{\"workers\":8}\n", to: "preferences.jsonl")
        while plain.workers != 8 { await Task.yield() }
        #expect(plain.port == 8080 && server.port == 9000 && server.workers == 1)
        try folder.append("{\"port\":9001}\n", to: "preferences.jsonl")
        while server.workers != 8 { await Task.yield() }
        same(server.port, 9001)
    }

    @Test(.isolatedStores(["database": "a"]))
    func validatedStoreIsOverTheLayersOfAService() throws {
        // snippet: starting validated
        let store = PreferenceStore.layered([.environment(prefix: "APP"), .standard])
        let server = ServerPreferences(in: try .validated(ServerPreferences.self, over: store))
        // end
        same(server.database, "a")
    }

    @Test
    func dryRunPrintsWhatStepsDo() throws {
        let store = PreferenceStore.inMemory(["colour": "red", "volume": 7])
        let player = PlayerPreferences(in: store)
        let output = Output()
        let print = output.print
        func run(on store: PreferenceStore) throws {
            // snippet: starting steps
            let steps: [PreferenceMigration] = [
                .init(1) { $0.move(from: "colour", to: "color") },
                .init(2) { $0[player.$volume]? *= 10 },
            ]
            try store.migrate(to: 2, steps: steps)
            // end
        }
        func rehearse(_ steps: [PreferenceMigration]) throws {
            // snippet: starting dry run
            print(try store.migrate(to: 2, steps: steps, dryRun: true))
            // end
        }
        try rehearse([.init(1) { $0.move(from: "colour", to: "color") }, .init(2) { $0[player.$volume]? *= 10 }])
        #expect(try Self.shown().contains("```\n\(output.lines[0])\n```"), "\(output.lines)")
        try run(on: store)
        same(store.contents, ["color": "red", "volume": 70, "preferences.version": 2])
    }

    @Test(.isolatedStores)
    func draftIsStoredByApply() throws {
        let output = Output()
        let print = output.print
        // snippet: starting draft
        let server = ServerPreferences()
        let draft = PreferenceStore.standard.draft()
        let edited = ServerPreferences(in: draft.store)
        edited.workers = 8
        print(server.workers, edited.workers, draft.changes)  // 4 8 workers: nil → 8 (local)
        try draft.apply()
        print(server.workers, draft.hasChanges)  // 8 false
        // end
        same(output.lines, ["4 8 workers: nil → 8 (local)", "8 false"])
    }
}
