import Preferences
import Synchronization
import Testing

@testable import PrefsCommands

/// The domains of user defaults, over a mock of those of a Mac.
@Suite(.timeLimit(.minutes(5)))
struct DomainTests {
    private final class MockDomains: UserDefaultsDomains {
        let contents: Mutex<[String: DomainContents]>
        let pauses: AsyncStream<Void>?

        init(_ contents: [String: DomainContents], pauses: AsyncStream<Void>? = nil) {
            self.contents = Mutex(contents)
            self.pauses = pauses
        }

        func names() -> [String] { contents.withLock { Array($0.keys) } }

        func contents(of domain: String) -> DomainContents { contents.withLock { $0[domain] ?? DomainContents() } }

        func apply(_ changes: [String: PropertyListValue?], to domain: String) {
            contents.withLock { contents in
                for (name, value) in changes { contents[domain, default: DomainContents()].own[name] = value }
            }
        }

        func pause() async throws {
            var pauses = (pauses ?? AsyncStream { _ in }).makeAsyncIterator()
            guard await pauses.next() != nil else { throw CancellationError() }
        }
    }

    private let domains = MockDomains([
        "app": DomainContents(own: ["volume": 3, "theme": "dark"], forced: ["theme": "light"]),
        "App": DomainContents(own: ["x": 1]),
        "empty": DomainContents(),
        "damaged": DomainContents(
            own: ["x": 1],
            problems: [PreferenceError(.unreadable, name: "link", "it can't be decoded")]
        ),
    ])

    private func place(_ name: String = "app") throws -> any Place { try DomainSuites(domains).place(of: name) }

    @Test
    func domainsAreSuites() throws {
        #expect(try DomainSuites(domains).names() == ["App", "app", "damaged", "empty"])
        #expect(
            DomainSuites.names(ofFiles: [".GlobalPreferences.plist", "ByHost", "com.example.app.plist"]) == [
                "com.example.app"
            ]
        )
        #expect(try !place("none").exists() && place("app").exists())
        #expect(
            try place("none").missing.message == "the domain \"none\" doesn't exist; `prefs list` shows the domains"
        )
    }

    @Test
    func emptyDomainExists() throws {
        #expect(try place("empty").exists())
        #expect(try place("empty").layers { _ in }.flatMap(\.contents.keys).isEmpty)
    }

    /// The other values of the domain are read and can be changed.
    @Test
    func undecodableValueIsReportedOnce() async throws {
        let found = Mutex<[String?]>([])
        let layers = try place("damaged").layers { problem in found.withLock { $0.append(problem.name) } }
        #expect(layers.map(\.contents) == [["x": 1]])
        #expect(found.withLock { $0 } == ["link"])
        let store = PreferenceStore(backend: DomainBackend("damaged", of: domains))
        let issues = Mutex<[PreferenceError.Code]>([])
        store.issueHandler = { issue in issues.withLock { $0.append(issue.code) } }
        try await store.load()
        try await store.transaction { $0["x"] = 2 }
        try await store.load()
        #expect(domains.contents(of: "damaged").own == ["x": 2])
        #expect(issues.withLock { $0 } == [.unreadable])
    }

    @Test
    func forcedValueIsManaged() throws {
        let layers = try place().layers { _ in }
        #expect(layers.map(\.source) == [.user, .managed])
        let origins = try layers[1].origins()
        #expect(origins["theme"]?.text == "app theme")
        let stores = try place().open()
        #expect(stores.store["theme"] == "light" && stores.own["theme"] == "dark" && stores.store["volume"] == 3)
        let error = #expect(throws: PreferenceError.self) {
            try stores.store.transaction { $0["theme"] = "system" }
        }
        #expect(error?.code == .managed)
        #expect(domains.contents(of: "app").own["theme"] == "dark")
    }

    @Test
    func changesAreStoredAndSeen() async throws {
        let stores = try place().open()
        try await stores.own.transaction { transaction in
            (transaction["volume"], transaction["theme"], transaction["level"]) = (5, nil, 1)
        }
        #expect(domains.contents(of: "app").own == ["volume": 5, "level": 1])
        var changes = stores.store.changes.makeAsyncIterator()
        // Of another process.
        domains.apply(["volume": 7, "level": nil, "new": true], to: "app")
        try await stores.own.load()
        let change = await changes.next()
        #expect(change?.old["volume"] == 5 && change?.new["volume"] == 7 && change?.new["new"] == true)
        #expect(stores.store.contents == ["volume": 7, "new": true, "theme": "light"])
    }

    @Test
    func openDomainIsReadAfterEachPause() async throws {
        let (pauses, pause) = AsyncStream.makeStream(of: Void.self)
        let (reading, end) = AsyncStream.makeStream(of: Void.self)
        pause.onTermination = { _ in end.finish() }
        let domains = MockDomains(["app": DomainContents(own: ["volume": 3])], pauses: pauses)
        do {
            let store = PreferenceStore(backend: DomainBackend("app", of: domains))
            try await store.load()
            var changes = store.changes.makeAsyncIterator()
            domains.apply(["volume": 7], to: "app")
            pause.yield()
            let change = await changes.next()
            #expect(change?.old["volume"] == 3 && change?.new["volume"] == 7)
        }
        // Ends with the store.
        for await _ in reading {}
    }

    /// No value that a store reads changes.
    @Test
    func pageForgetsAProblemThatHasGone() async throws {
        let board = Board(title: "null")
        let suite = InspectedSuite("damaged", try place("damaged"), on: board)
        suite.refreshSoon()
        var wakes = try #require(board.addPage()).makeAsyncIterator()
        while board.changes(since: 0)?.text.contains("it can't be decoded") != true { await wakes.next() }
        domains.contents.withLock { $0["damaged"]?.problems = [] }
        suite.look()
        while board.changes(since: 0)?.text.contains("it can't be decoded") == true { await wakes.next() }
        #expect(board.changes(since: 0)?.text.contains("\"damage\":[]") == true)
        suite.end()
    }

    @Test
    func stateIsADomain() throws {
        domains.apply(["frame": "0 0"], to: "app.state")
        #expect(try DomainSuites(domains).place(ofStateOf: "app").layers { _ in }.first?.contents == ["frame": "0 0"])
    }

    @Test
    func operationsOnFilesAreRejected() throws {
        for purpose in [FilePurpose.repair, .compact] {
            let failure = #expect(throws: Failure.self) { try place().file(for: purpose) }
            #expect(failure?.status == .usage && failure?.message.contains("--file") == true)
        }
        let failure = #expect(throws: Failure.self) { try place().history(of: nil, limit: 1) }
        #expect(failure?.status == .usage)
        #expect(try place().file(for: .write) == nil && place().file(for: .check) == nil)
    }
}
