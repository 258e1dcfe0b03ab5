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

    private func store() -> PreferenceStore {
        let store = PreferenceStore.settingsFile(at: url)
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
    }

    @Test
    func missingFileIsALayerWithoutValuesUntilItAppears() throws {
        let store = store()
        try store.load()
        #expect(store.names.isEmpty && reports.elements.isEmpty)
        try folder.write("{\"volume\": 7}", to: Self.name)
        try store.load()
        same(store["volume"], 7)
        try FileManager.default.removeItem(at: url)
        try store.load()
        #expect(store.names.isEmpty && reports.elements.isEmpty)
    }

    @Test
    func errorOfTheFirstTextIsThrownByLoadAndTheCorrectedOneIsRead() throws {
        try folder.write("{\n  \"volume\": 7\n  \"theme\": 1\n}", to: Self.name)
        let store = store()
        let error = #expect(throws: PreferenceError.self) { try store.load() }
        same(error?.description.contains("line 3, column 3 of \(url.path) can't be read"), true)
        let volume = Preference("volume", default: 5, in: .layered([store, .inMemory()]))
        same(volume.value, 5)
        try volume.write(6)
        try folder.write("{\n  \"volume\": 7,\n  \"theme\": 1\n}", to: Self.name)
        try store.load()
        same(volume.value, 7)
        same(reports.elements.count, 1)
    }

    @Test
    func errorOfALaterTextIsReportedOnceAndKeepsTheValues() throws {
        try folder.write("{\"volume\": 7}", to: Self.name)
        let store = store()
        try store.load()
        for text in ["{\"volume\": 8 1}", "{\"volume\": 8 1}", "[]"] {
            try folder.write(text, to: Self.name)
            try store.load()
            same(store["volume"], 7)
        }
        same(reports.elements.map(\.code), [.damaged, .damaged])
        same(reports.elements.first?.damagedLine?.number, 1)
        same(reports.elements.first?.message.contains("what was read before stays in force"), true)
        try folder.write("{\"volume\": 8}", to: Self.name)
        try store.load()
        #expect(store["volume"] == 8 && reports.elements.count == 2)
    }

    @Test
    func valueThatCanNotBeReadIsLeftOut() throws {
        try folder.write("{\n  \"volume\": 7,\n  \"when\": {\"$date\": \"never\"},\n}", to: Self.name)
        let store = store()
        try store.load()
        same(store.contents, ["volume": 7])
        same(reports.elements.map(\.damagedLine?.number), [3])
        same(reports.elements.first?.message.contains("the value is left out"), true)
    }

    /// A program that saves the file in several writes hasn't damaged it, unless it makes no progress for a second.
    @Test
    func textWithoutItsEndIsReportedAfterASecond() throws {
        try folder.write("{\"volume\": 1}", to: Self.name)
        let time = Lock<Int64>(0)
        let files = ReadOnlyFiles(FilePlaces(files: [url.path]), areObjects: true, now: { time.withLock { $0 } })
        let store = PreferenceStore(Layer(source: Source(files)).readOnly(named: "settings"))
        let issues = store.recordIssues()
        func volume(after milliseconds: Int64) throws -> PropertyListValue? {
            time.withLock { $0 += milliseconds * 1_000_000 }
            try store.load()
            return store["volume"]
        }
        try same(volume(after: 0), 1)
        try folder.truncate(Self.name, andWrite: "{\"volume\": 2,")
        try same(volume(after: 0), 1)
        try same(volume(after: 900), 1)
        try folder.append("}", to: Self.name)
        try same(volume(after: 0), 2)
        try folder.truncate(Self.name, andWrite: "")
        try same(volume(after: 0), 2)
        #expect(issues.elements.isEmpty)
        try same(volume(after: 1_000), 2)
        same(issues.elements.map(\.code), [.damaged])
    }

    @Test
    func valueThatCanNotBeUsedIsReportedWithItsLine() throws {
        try folder.write("{\n  // A comment.\n  \"volume\": \"loud\",\n}", to: Self.name)
        let store = store()
        same(Preference("volume", default: 5, in: store).value, 5)
        same(reports.elements.map(\.code), [.unreadable])
        same(reports.elements.first?.message.contains("(settings layer, \(url.path), line 3)"), true)
    }

    @Test
    func fileThatIsNoneCanNotBeOpened() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        same(#expect(throws: PreferenceError.self) { try store().load() }?.code, .unavailable)
        let remote = try #require(URL(string: "https://example.com/settings.json"))
        same(
            #expect(throws: PreferenceError.self) { try PreferenceStore.settingsFile(at: remote).load() }?.code,
            .invalidName
        )
    }

    @Test
    func fileThatCanNotBeReadKeepsTheValues() throws {
        let system = FailingFileSystem()
        try folder.write("{\"volume\": 7}", to: Self.name)
        let source = Source(ReadOnlyFiles(FilePlaces(files: [url.path]), areObjects: true, system))
        let store = PreferenceStore(Layer(source: source).readOnly(named: "settings"))
        store.issueHandler = { _ in }
        try store.load()
        system.fail(["open"], url.path)
        try folder.write("{\"volume\": 8}", to: Self.name)
        same(#expect(throws: PreferenceError.self) { try store.load() }?.code, .unavailable)
        same(store["volume"], 7)
        system.mend()
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

    @Test(.timeLimit(.minutes(5)), arguments: ["in place", "by renaming", "by a link"])
    func changeIsSeenAtOnce(_ way: String) async throws {
        try folder.write("{\"volume\": 1}", to: "first")
        try folder.link(Self.name, to: "first")
        var values = Preference("volume", default: 0, in: PreferenceStore.settingsFile(at: url)).updates
            .makeAsyncIterator()
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
