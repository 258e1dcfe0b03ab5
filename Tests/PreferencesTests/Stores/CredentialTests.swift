import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// The files that a service manager passes to a service as secrets.
struct CredentialTests {
    private let folder: TemporaryFolder
    private let reports = Recorder<PreferenceError>()

    init() throws { folder = try TemporaryFolder() }

    private func layered(_ user: PreferenceStore = .inMemory()) -> PreferenceStore {
        let store = PreferenceStore.layered([.credentials(inFolder: folder.path), user])
        store.issueHandler = { [reports] in reports.record($0) }
        return store
    }

    @Test
    func eachFileIsTheTextOfAPreference() throws {
        try folder.write("hunter2\n", to: "apiToken")
        try folder.write("two\nlines\r\n", to: "text")
        try folder.write("5", to: "pool.size")
        try folder.write("\n\n", to: "empty")
        try Data([0xFF, 0, 10]).write(to: URL(filePath: folder.path("key")))
        try folder.link("link", to: "apiToken")
        try FileManager.default.createDirectory(atPath: folder.path("..data"), withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        let store = PreferenceStore.credentials(inFolder: folder.path)
        try store.load()
        same(store.names, ["apiToken", "empty", "key", "link", "pool.size", "text"])
        same(Preference<String?>("apiToken", default: nil, in: store).value, "hunter2")
        same(Preference("text", default: "", in: store).value, "two\nlines")
        same(Preference("empty", default: "", in: store).value, "\n")
        same(Preference("pool.size", default: 1, in: store).value, 5)
        same(Preference("key", default: Data(), in: store).value, Data([0xFF, 0, 10]))
        same(Preference("link", default: "", in: store).source.name, "credentials")
        same(#expect(throws: PreferenceError.self) { try store.write(1, for: "apiToken") }?.code, .readOnly)
    }

    @Test
    func valuesAreSecretsAndThoseOfOtherLayersAreNone() throws {
        try folder.write("hunter2\n", to: "apiToken")
        try folder.write("hunter3\n", to: "old")
        let store = layered(.inMemory(["volume": 7]))
        // Described before anything is read.
        let token = Preference("apiToken", default: "", in: store)
        #expect("\(token)" == "apiToken = <redacted> (credentials)" && token.isSecret)
        same("\(Preference("volume", default: 0, in: store))", "volume = 7 (store)")
        #expect("\(Preference("new", default: "", .formerly("old"), in: store))".contains("<redacted>"))
        same(token.value, "hunter2")
        let number = Preference("apiToken", default: 0, in: store)
        same(number.value, 0)
        same(reports.elements.map(\.code), [.unreadable])
        let message = try #require(reports.elements.first).description
        #expect(
            message.contains("<redacted>, from the layer \"credentials\" (\(folder.path)/apiToken)")
                && !message.contains("hunter")
        )
        #expect("\(Preference("apiToken", default: "", in: store.scoped(prefix: "a.")))".contains("(default)"))
        same(Preference("b", default: "", in: PreferenceStore.layered([store.readOnly()])).isSecret, false)
        #expect(Preference("apiToken", default: "", in: PreferenceStore.layered([store.readOnly()])).isSecret)
    }

    /// Without the variable there is none.
    @Test(arguments: [nil, "", "relative"])
    func folderThatIsNoAbsolutePathIsNone(_ folder: String?) throws {
        let store = PreferenceStore.credentials(inFolder: folder)
        try store.load()
        #expect(store.names.isEmpty)
    }

    @Test(arguments: ["missing", "file"])
    func folderThatCanNotBeReadFailsAndOtherLayersAreUsed(_ kind: String) throws {
        let place = kind == "missing" ? folder.path("gone") : folder.path("file")
        if kind == "file" { try folder.write("", to: "file") }
        let credentials = PreferenceStore.credentials(inFolder: place)
        let error = #expect(throws: PreferenceError.self) { try credentials.load() }
        #expect(error?.code == .unavailable && error?.description.contains(place) == true)
        let store = PreferenceStore.layered([.credentials(inFolder: place), .inMemory(["a": 1])])
        store.issueHandler = { [reports] in reports.record($0) }
        #expect(store["a"] == 1 && reports.elements.count == 1)
    }

    @Test
    func fileThatAppearsLaterIsNotRead() throws {
        let store = layered()
        same(store["apiToken"], nil)
        try folder.write("hunter2", to: "apiToken")
        try store.load()
        same(store["apiToken"], nil)
    }

    @Test
    func isolationLeavesThemAsTheyAre() throws {
        try folder.write("hunter2", to: "apiToken")
        let store = PreferenceStore.layered([.credentials(inFolder: folder.path), .standard])
        PreferenceStore.withIsolatedStores(["volume": 1]) {
            #expect(store["apiToken"] == "hunter2" && store["volume"] == 1)
            let token = Preference("apiToken", default: "", in: store)
            #expect(token.isSecret && !Preference("volume", default: 0, in: store).isSecret)
        }
    }
}
