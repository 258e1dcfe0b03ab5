import FaultTestSupport
import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

extension ReadOnlyStoreTests {
    @Test
    func layeredStoreIsWritableIfTheLayerIsThatReceivesTheWrites() {
        let memory = PreferenceStore.inMemory()
        let closed = PreferenceStore(Layer(source: Source(NoBackend(because: PreferenceError(.unavailable, "none")))))
        #expect(memory.isWritable && memory.scoped(prefix: "a.").isWritable && !memory.readOnly().isWritable)
        #expect(!closed.isWritable && !PreferenceStore.environment(prefix: "A_").isWritable)
        #expect(PreferenceStore.layered([.arguments([]), memory.readOnly(), memory]).isWritable)
        #expect(!PreferenceStore.layered([.arguments([]), memory.readOnly()]).isWritable)
        #expect(!PreferenceStore.layered([closed, memory]).isWritable)
        #expect(PreferenceStore.layered([memory, closed]).isWritable)
        // Any name might be managed.
        let policy = PreferenceStore(Layer.managed(Source(NoBackend(because: PreferenceError(.unavailable, "none")))))
        #expect(!PreferenceStore.layered([policy, memory]).isWritable)
    }

    @Test
    func backendIsWritableUnlessItKnowsOtherwise() {
        let backend = FaultInjectingBackend()
        let store = PreferenceStore(backend: backend)
        backend.failNext(.load)
        #expect(!store.isWritable)
        #expect(store.isWritable)
    }

    func store(_ name: String, _ fileSystem: FaultyFileSystem, isReadOnly: Bool = false) -> PreferenceStore {
        PreferenceStore(
            Layer(
                source: Source(
                    FileBackend(path: folder.path(name), isReadOnly: isReadOnly, fileSystem: fileSystem, watcher: nil)
                )
            )
        )
    }

    @Test
    func fileIsWritableIfItsUserMayWriteItOrCreateIt() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"a\":1}\n", to: "file")
        try folder.link("link", to: "file")
        try folder.link("dangling", to: "missing/file")
        for name in ["file", "link", "dangling", "new", "new/folders/file"] {
            fileSystem.denyWriting(.readOnlyFileSystem)
            let store = store(name, fileSystem)
            #expect(!store.isWritable && fails(store), "\(name)")
            fileSystem.denyWriting(nil)
            #expect(store.isWritable, "\(name)")
            // Once it is open for writing, it can be written.
            guard !name.contains("new"), name != "dangling" else { continue }
            #expect(!fails(store), "\(name)")
            fileSystem.denyWriting(.accessDenied)
            #expect(store.isWritable && !fails(store), "\(name)")
            fileSystem.denyWriting(nil)
        }
        try same(folder.names().sorted(), ["dangling", "file", "link"])
        #expect(!store("file", fileSystem, isReadOnly: true).isWritable)
    }

    @Test
    func fileThatCanNotBeUsedIsNotWritable() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("alias l=ls\n", to: "foreign")
        try folder.write("{\"$format\":2}\n", to: "newer")
        try folder.write("{\"a\":1}\n", to: "theirs")
        try SystemFileSystem().makeFolder(folder.path("folder"))
        fileSystem.run(as: 0)
        fileSystem.give(folder.path("theirs"), to: 1000)
        for name in ["foreign", "newer", "theirs", "folder", "theirs/file"] {
            let store = store(name, fileSystem)
            #expect(!store.isWritable && fails(store), "\(name)")
        }
        try same(folder.names().sorted(), ["folder", "foreign", "newer", "theirs"])
    }
}
