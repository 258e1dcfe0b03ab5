import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Every form of every call over places that fail: it does all that its comment promises, or says that it didn't and changes nothing.
@Suite(.timeLimit(.minutes(5)))
struct FailingPlacesTests {
    struct Frame: Codable, Equatable {
        var x = 0
        var width = 100
    }

    // MARK: Places

    enum Place: CaseIterable, Sendable {
        /// A place without a fault, with a file and without one.
        case healthy, empty
        /// `XDG_CONFIG_HOME=/dev/null`, and a file where a folder should be.
        case device, fileForFolder
        /// A home folder of mode 000.
        case unreachable
        /// A read-only mount, with a file and without one.
        case readOnly, readOnlyAndEmpty
        case full
        /// A file whose lock another process holds.
        case locked

        /// Whether the stored values can be read there.
        var isReadable: Bool { ![.device, .fileForFolder, .unreachable].contains(self) }
        var isWritable: Bool { self == .healthy || self == .empty }
        var hasFile: Bool { [.healthy, .readOnly, .full, .locked].contains(self) }
    }

    /// A store over a place, and what it has told.
    private final class Fixture {
        let place: Place
        let folder: TemporaryFolder
        let path: String
        let store: PreferenceStore
        let volume: Preference<Int>
        let frame: Preference<Frame>
        let issues = Recorder<PreferenceError>()
        let changes = Recorder<Int>()
        private let fileSystem = FaultyFileSystem()
        private var observation: PreferenceObservation?
        private var holder: OpenFile?

        init(_ place: Place) throws {
            self.place = place
            folder = try TemporaryFolder()
            path = place == .device ? "/dev/null/notes/preferences.jsonl" : folder.path("notes/preferences.jsonl")
            if place == .fileForFolder { try folder.write("", to: "notes") }
            if place.hasFile {
                try SystemFileSystem().makeFolder(folder.path("notes"))
                try folder.write(Self.text, to: "notes/preferences.jsonl")
            }
            let backend = FileBackend(
                path: path,
                fileSystem: fileSystem,
                lockTimeout: .milliseconds(200),
                watcher: nil,
                worker: WorkerQueue(isManual: true)
            )
            store = PreferenceStore(backend: backend)
            volume = Preference("volume", default: 5, in: store)
            frame = Preference("frame", default: Frame(), in: store)
            store.issueHandler = { [issues] in if $0.code != .misuse { issues.record($0) } }
            switch place {
            case .healthy, .empty, .device, .fileForFolder: break
            case .unreachable:
                let calls: Set = ["open", "stat", "lstat", "readlink", "mkdir", "readdir"]
                fileSystem.begin(.init(.error(.accessDenied), isLasting: true, calls: calls))
            case .readOnly: fileSystem.denyWriting(.readOnlyFileSystem)
            case .readOnlyAndEmpty:
                fileSystem.begin(.init(.error(.readOnlyFileSystem), isLasting: true, calls: ["mkdir"]))
            case .full: fileSystem.begin(.init(.error(.noSpace), isLasting: true, calls: ["write"]))
            case .locked:
                let holder = try SystemFileSystem().open(path, for: .appending)
                #expect(try SystemFileSystem().lock(holder))
                self.holder = holder
            }
            observation = volume.observe { [changes] in changes.record($0.new) }
        }

        static let text = #"{"volume":3,"frame":{"x":1,"width":50},"old":4}"# + "\n"

        /// The value of a name in the file, as another program reads it; nil if it has none.
        func stored(_ name: String) throws -> PropertyListValue? { try contents()[name] }

        func contents() throws -> [String: PropertyListValue] {
            guard place.isReadable else { return [:] }
            let host = PreferenceBackendHost(changed: { _ in }, report: { _ in })
            return try FileBackend(path: path, watcher: nil).load(host: host)
        }
    }

    // MARK: Calls

    /// The effect that a call promises to have had when it returns.
    enum Promise: Sendable {
        /// The preference `volume`, or `new`, or `frame`'s width, is stored with 7.
        case stores, storesNew, storesWidth
        /// The preference `volume` isn't stored.
        case removes
        /// Nothing but what the library keeps for itself is stored.
        case removesAll
        /// The values that are stored were read.
        case reads
        /// Nothing.
        case nothing
    }

    private struct Call: Sendable {
        let name: String
        let promise: Promise
        let throwing: Bool
        let run: @Sendable (Fixture) async throws -> Void

        /// Creates a call of a blocking form.
        static func blocking(
            _ name: String,
            _ promise: Promise,
            throwing: Bool = true,
            _ body: @escaping @Sendable (Fixture) throws -> Void
        ) -> Call {
            Call(name: name, promise: promise, throwing: throwing) { try body($0) }
        }

        /// Creates a call of an `async` form.
        static func async(
            _ name: String,
            _ promise: Promise,
            _ body: @escaping @Sendable (Fixture) async throws -> Void
        ) -> Call {
            Call(name: name, promise: promise, throwing: true) { try await body($0) }
        }
    }

    private static let steps: [PreferenceMigration] = [.init(1, onNewStores: true) { $0["volume"] = 7 }]

    private static let calls: [Call] = [
        .blocking("write", .stores) { try $0.volume.write(7) },
        .async("write, async", .stores) { try await $0.volume.write(7) },
        .blocking("AnyPreference.write", .stores) { try AnyPreference($0.volume).write(7) },
        .async("AnyPreference.write, async", .stores) { try await AnyPreference($0.volume).write(7) },
        .blocking("store.write", .stores) { try $0.store.write(7, for: "volume") },
        .async("store.write, async", .stores) { try await $0.store.write(7, for: "volume") },
        .blocking("update", .stores) { try $0.volume.update { $0 = 7 } },
        .async("update, async", .stores) { try await $0.volume.update { $0 = 7 } },
        .blocking("transaction that writes", .stores) { fixture in
            try fixture.store.transaction { $0[fixture.volume] = 7 }
        },
        .async("transaction that writes, async", .stores) { fixture in
            try await fixture.store.transaction { $0[fixture.volume] = 7 }
        },
        .blocking("transaction that reads", .stores) { fixture in
            try fixture.store.transaction { $0[fixture.volume] += 7 - $0[fixture.volume] }
        },
        .async("transaction that reads, async", .stores) { fixture in
            try await fixture.store.transaction { $0[fixture.volume] += 7 - $0[fixture.volume] }
        },
        .blocking("transaction by name", .stores) { try $0.store.transaction { $0["volume"] = 7 } },
        .blocking("write of a new name", .storesNew) { try $0.store.write(7, for: "new") },
        .blocking("write of a member", .storesWidth) { try $0.frame[\.width].write(7) },
        .async("write of a member, async", .storesWidth) { try await $0.frame[\.width].write(7) },
        .blocking("write of a struct", .storesWidth) { try $0.frame.write(Frame(x: 1, width: 7)) },
        .async("write of a struct, async", .storesWidth) { try await $0.frame.write(Frame(x: 1, width: 7)) },
        .blocking("update of a struct", .storesWidth) { try $0.frame.update { $0.width = 7 } },
        .blocking("store.write of nil", .removes) { try $0.store.write(nil, for: "volume") },
        .blocking("AnyPreference.write of nil", .removes) { try AnyPreference($0.volume).write(nil) },
        .async("AnyPreference.write of nil, async", .removes) { try await AnyPreference($0.volume).write(nil) },
        .blocking("transaction that resets", .removes) { fixture in
            try fixture.store.transaction { $0.reset(fixture.volume) }
        },
        .async("transaction that resets, async", .removes) { fixture in
            try await fixture.store.transaction { $0.reset(fixture.volume) }
        },
        .blocking("migrate", .stores) { try $0.store.migrate(to: 1, steps: steps) },
        .async("migrate, async", .stores) { try await $0.store.migrate(to: 1, steps: steps) },
        .blocking("migrate, dry run", .reads) { try $0.store.migrate(to: 1, steps: steps, dryRun: true) },
        .blocking("read", .reads) { _ = try $0.volume.read() },
        .blocking("load", .reads) { try $0.store.load() },
        .async("load, async", .reads) { try await $0.store.load() },
        .blocking("transaction that only reads", .reads) { fixture in
            try fixture.store.transaction { _ = $0[fixture.volume] }
        },
        .blocking("flush", .nothing) { try $0.store.flush() },
        .async("flush, async", .nothing) { try await $0.store.flush() },
        .blocking("value", .stores, throwing: false) { $0.volume.value = 7 },
        .blocking("subscript of the store", .stores, throwing: false) { $0.store["volume"] = 7 },
        .blocking("value of a member", .storesWidth, throwing: false) { $0.frame[\.width].value = 7 },
        .blocking("value of a struct", .storesWidth, throwing: false) { $0.frame.value = Frame(x: 1, width: 7) },
        .blocking("reset", .removes, throwing: false) { $0.volume.reset() },
        .blocking("store.reset", .removes, throwing: false) { $0.store.reset($0.volume) },
        .blocking("subscript of the store, nil", .removes, throwing: false) { $0.store["volume"] = nil },
        .blocking("removeAll", .removesAll, throwing: false) { $0.store.removeAll() },
        .blocking("migrate from a name", .nothing, throwing: false) { $0.volume.migrate(from: "old") },
        .blocking("value, read", .nothing, throwing: false) { _ = $0.volume.value },
        .blocking("observe", .nothing, throwing: false) { $0.volume.observe(includingCurrent: true) { _ in }.cancel() },
    ]

    // MARK: The law

    @Test(arguments: Place.allCases)
    func callKeepsItsPromiseOrSaysThatItDoesNot(place: Place) async throws {
        for call in Self.calls {
            // Once as the first use of the store, and once after a read.
            for isOpened in [false, true] {
                let fixture = try Fixture(place)
                let context = Comment(rawValue: "\(call.name), \(place)\(isOpened ? ", after a read" : "")")
                if isOpened { _ = fixture.volume.value }
                let reported = fixture.issues.elements.count
                let before = try fixture.contents()
                let shown = (fixture.place.isReadable ? before["volume"] : nil) ?? 5
                do {
                    try await call.run(fixture)
                    try check(call, fixture, before, isReported: fixture.issues.elements.count > reported, context)
                } catch let error as PreferenceError {
                    #expect(call.throwing && !place.isWritable, "\(context): \(error)")
                    try same(fixture.contents(), before, context)
                    #expect(fixture.changes.elements.isEmpty, context)
                    same(PropertyListValue.integer(Int64(fixture.volume.value)), shown, context)
                    let expected: [PreferenceError.Code] =
                        switch place {
                        case .locked: [.busy]
                        case .full: [.unavailable]
                        case .readOnly, .readOnlyAndEmpty: [.readOnly]
                        default: [.unavailable, .notPermitted, .notDurable]
                        }
                    #expect(expected.contains(error.code), "\(context): \(error)")
                }
            }
        }
    }

    /// Checks a call that has returned.
    private func check(
        _ call: Call,
        _ fixture: Fixture,
        _ before: [String: PropertyListValue],
        isReported: Bool,
        _ context: Comment
    ) throws {
        let place = fixture.place
        let stored = try fixture.contents()
        let kept: Bool
        switch call.promise {
        case .stores: kept = stored["volume"] == 7
        case .storesNew: kept = stored["new"] == 7
        case .storesWidth:
            kept = stored["frame"] == ["x": place.hasFile ? 1 : stored["frame"]?[member: "x"] ?? 0, "width": 7]
        case .removes: kept = stored["volume"] == nil && place.isReadable
        case .removesAll: kept = stored.isEmpty && place.isReadable
        case .reads: kept = place.isReadable
        case .nothing: kept = true
        }
        guard !call.throwing else {
            #expect(kept, context)
            // Where the store can't be opened, there is nothing that a flush has to wait for, if nothing was set.
            return
        }
        switch call.promise {
        case .nothing, .reads: return
        case .removesAll:
            #expect(kept || isReported && stored == before, context)
        default:
            if kept { return }
            #expect(!fixture.issues.elements.isEmpty, context)
            same(stored, before, context)
            // A store that couldn't be opened shows what was set; one that couldn't be written doesn't.
            let isShown =
                switch call.promise {
                case .stores: fixture.volume.value == 7
                case .storesWidth: fixture.frame.value.width == 7
                default: fixture.volume.value == 5
                }
            same(isShown, !place.isReadable, context)
        }
    }
}
