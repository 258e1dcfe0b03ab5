import DurableFile
import FaultTestSupport
import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Files of settings that a person writes as JSON with comments.
struct SettingsFileTests {
    private let folder: TemporaryFolder
    private let reports = Recorder<PreferenceError>()
    private static let name = "settings.json"

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { URL(filePath: folder.path(Self.name)) }

    /// Returns a store over the file that reads it only when it is refreshed.
    private func unwatched() -> PreferenceStore {
        let source = Source(SettingsFileBackend(path: url.path, watcher: nil))
        let store = PreferenceStore(Layer(source: source, name: "settings", isReadOnly: true))
        store.issueHandler = { [reports] in reports.record($0) }
        return store
    }

    @Test
    func valuesOfTheFileAreALayerThatIsNeverWritten() throws {
        let text = """
            // Mine.
            {
                "$schema": "./preferences.schema.json",
                "volume": 7, // loud
                "window": {"width": 3, "height": 4,},
                "since": "2026-11-20T22:00:00Z",
            }
            """
        try folder.write(text, to: Self.name)
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([.settingsFile(at: url), user])
        let (volume, theme) = (
            Preference("volume", default: 5, in: store), Preference("theme", default: "light", in: store)
        )
        let since = Preference("since", default: Date(timeIntervalSince1970: 0), in: store)
        #expect(volume.value == 7 && volume.source.name == "settings" && !volume.isManaged)
        same(since.value, Date(timeIntervalSince1970: 1_795_212_000))
        same(store.contents["window"], ["width": 3, "height": 4])
        try theme.write("dark")
        #expect(theme.value == "dark" && user.names == ["theme"])
        let alone = PreferenceStore.settingsFile(at: url)
        same(#expect(throws: PreferenceError.self) { try alone.write(1, for: "volume") }?.code, .readOnly)
        same(alone.names, ["since", "volume", "window"])
        try same(folder.read(Self.name), text)
        try same(folder.names(), [Self.name])
        same("\(alone)", "settings, \(url.path)")
    }

    @Test
    func missingFileIsALayerWithoutValuesUntilItAppears() throws {
        let store = unwatched()
        try store.load()
        #expect(store.names.isEmpty && reports.elements.isEmpty)
        try folder.write("{\"volume\":7}", to: Self.name)
        try store.load()
        same(store["volume"], 7)
        try FileManager.default.removeItem(at: url)
        try store.load()
        #expect(store.names.isEmpty && reports.elements.isEmpty)
    }

    @Test
    func errorOfTheFirstTextFailsAndTheCorrectedOneIsRead() throws {
        try folder.write("{\n  \"volume\": 7\n  \"theme\": 1\n}", to: Self.name)
        let store = unwatched()
        let error = #expect(throws: PreferenceError.self) { try store.load() }
        same(error?.description.contains("line 3, column 3 of \(url.path) can't be read"), true)
        let volume = Preference("volume", default: 5, in: .layered([store, .inMemory()]))
        same(volume.value, 5)
        try volume.write(6)
        try folder.write("{\n  \"volume\": 7,\n  \"theme\": 1\n}", to: Self.name)
        try store.load()
        same(volume.value, 7)
    }

    @Test
    func errorOfALaterTextIsReportedOnceAndKeepsTheValues() throws {
        try folder.write("{\"volume\": 7}", to: Self.name)
        let store = unwatched()
        try store.load()
        for text in ["{\"volume\": 8", "{\"volume\": 8", ""] {
            try folder.write(text, to: Self.name)
            try store.load()
            same(store["volume"], 7)
        }
        same(reports.elements.map(\.code), [.damaged, .damaged])
        same(reports.elements.first?.damagedLine?.number, 1)
        same(reports.elements.first?.message.contains("the values that were read before stay in force"), true)
        try folder.write("{\"volume\": 8}", to: Self.name)
        try store.load()
        #expect(store["volume"] == 8 && reports.elements.count == 2)
    }

    @Test
    func valueThatCanNotBeReadIsLeftOut() throws {
        try folder.write("{\n  \"volume\": 7,\n  \"when\": {\"$date\": \"never\"},\n}", to: Self.name)
        let store = unwatched()
        try store.load()
        same(store.contents, ["volume": 7])
        same(reports.elements.map(\.damagedLine?.number), [3])
        same(reports.elements.first?.message.contains("the value is left out"), true)
    }

    /// A program that saves the file in several writes hasn't damaged it; one that has closed it has.
    @Test(.timeLimit(.minutes(1)))
    func textWithoutItsEndIsReportedOnceItsWriterHasClosedTheFile() async throws {
        try folder.write("{\"volume\": 1}", to: Self.name)
        let store = PreferenceStore.settingsFile(at: url)
        let (issues, continuation) = AsyncStream.makeStream(of: PreferenceError.self)
        store.issueHandler = { [reports] in
            reports.record($0)
            continuation.yield($0)
        }
        var issue = issues.makeAsyncIterator()
        var values = Preference("volume", default: 0, in: store).updates.makeAsyncIterator()
        await same(values.next(), 1)
        let file = try #require(fopen(url.path, "w"))
        fputs("{\"volume\": 2,", file)
        fflush(file)
        try await store.load()
        #expect(store["volume"] == 1 && reports.elements.isEmpty)
        fputs("}", file)
        fflush(file)
        await same(values.next(), 2)
        #expect(reports.elements.isEmpty)
        fclose(file)
        try folder.truncate(Self.name, andWrite: "{\"volume\": 3,")
        await same(issue.next()?.code, .damaged)
        same(store["volume"], 2)
    }

    @Test
    func valueThatCanNotBeUsedIsReportedWithItsLine() throws {
        try folder.write("{\n  // A comment.\n  \"volume\": \"loud\",\n}", to: Self.name)
        let store = unwatched()
        same(Preference("volume", default: 5, in: store).value, 5)
        same(reports.elements.map(\.code), [.unreadable])
        same(reports.elements.first?.message.contains("(settings layer, \(url.path), line 3)"), true)
    }

    @Test
    func fileThatIsNoneCanNotBeOpened() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        same(#expect(throws: PreferenceError.self) { try unwatched().load() }?.code, .unavailable)
        let remote = try #require(URL(string: "https://example.com/settings.json"))
        same(
            #expect(throws: PreferenceError.self) { try PreferenceStore.settingsFile(at: remote).load() }?.code,
            .invalidName
        )
    }

    @Test
    func fileThatCanNotBeReadKeepsTheValues() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"volume\": 7}", to: Self.name)
        let source = Source(SettingsFileBackend(path: url.path, fileSystem: fileSystem, watcher: nil))
        let store = PreferenceStore(Layer(source: source, name: "settings", isReadOnly: true))
        try store.load()
        try folder.write("{\"volume\": 8}", to: Self.name)
        fileSystem.begin(.init(.error(.accessDenied), calls: ["open"], path: url.path))
        same(#expect(throws: PreferenceError.self) { try store.load() }?.code, .unavailable)
        same(store["volume"], 7)
        fileSystem.end()
        try store.load()
        same(store["volume"], 8)
    }

    @Test
    func isolationLeavesTheFileAsItIs() throws {
        try folder.write("{\"volume\": 7}", to: Self.name)
        let store = PreferenceStore.layered([.settingsFile(at: url), .standard])
        PreferenceStore.withIsolatedStores(["volume": 1, "theme": "dark"]) {
            #expect(store["volume"] == 7 && store["theme"] == "dark")
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["in place", "by renaming", "by a link"])
    func changeIsSeenAtOnce(_ way: String) async throws {
        try folder.write("{\"volume\": 1}", to: "first")
        try folder.link(Self.name, to: "first")
        let store = PreferenceStore.settingsFile(at: url)
        var values = Preference("volume", default: 0, in: store).updates.makeAsyncIterator()
        await same(values.next(), 1)
        for value in 2...4 {
            switch way {
            case "in place": try folder.truncate("first", andWrite: "{\"volume\": \(value)}")
            case "by renaming":
                try folder.write("{\"volume\": \(value)}", to: "new")
                same(rename(folder.path("new"), folder.path("first")), 0)
            default:
                try folder.write("{\"volume\": \(value)}", to: "file\(value)")
                try folder.link("link", to: "file\(value)")
                same(rename(folder.path("link"), folder.path(Self.name)), 0)
            }
            await same(values.next(), value)
        }
    }
}
