import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Every form of every call over places that fail: it does all that its comment promises, or says that it didn't and changes nothing; a value
/// that a property sets is shown, and stored when the place is mended.
@Suite(.timeLimit(.minutes(5)))
struct FailingPlacesTests {
    enum Place: CaseIterable, Sendable {
        /// A place without a fault, with a file and without one.
        case healthy, empty
        /// `XDG_CONFIG_HOME=/dev/null`, and a file where a folder should be.
        case device, fileForFolder
        /// A home folder of mode 000.
        case unreachable
        /// A read-only mount, with a file and without one.
        case readOnly, readOnlyAndEmpty
        case full, locked

        var isReadable: Bool { ![.device, .fileForFolder, .unreachable].contains(self) }
        var isWritable: Bool { self == .healthy || self == .empty }
        var hasFile: Bool { [.healthy, .readOnly, .full, .locked].contains(self) }

        /// The code of a call that fails.
        var code: PreferenceError.Code {
            switch self {
            case .locked: .busy
            case .full: .noSpace
            case .readOnly, .readOnlyAndEmpty: .readOnly
            default: .unavailable
            }
        }
    }

    private final class Fixture {
        let place: Place
        let folder: TemporaryFolder
        let path: String
        let system: FileSystem
        let store: PreferenceStore
        let volume: Preference<Int>
        let issues: Recorder<PreferenceError>
        let changes = Recorder<Int>()
        private var observation: PreferenceObservation?
        private var held: Int32 = -1

        init(_ place: Place) throws {
            self.place = place
            folder = try TemporaryFolder()
            path = place == .device ? "/dev/null/notes/a.jsonl" : folder.path("notes/a.jsonl")
            if place == .fileForFolder { try folder.write("", to: "notes") }
            if place.hasFile {
                mkdir(folder.path("notes"), 0o700)
                try folder.write("{\"volume\":3,\"old\":4}\n", to: "notes/a.jsonl")
            }
            let faulty = FaultyFileSystem()
            system = place == .readOnly ? ReadOnlyFileSystem(EROFS) : faulty
            store = fileStore(path, system, timeout: .milliseconds(200))
            issues = store.recordIssues()
            volume = Preference("volume", default: 5, in: store)
            switch place {
            case .unreachable:
                let calls: Set = ["open", "stat", "lstat", "readlink", "mkdir", "opendir"]
                faulty.begin(.init(code: EACCES, isLasting: true, calls: calls))
            case .readOnlyAndEmpty: faulty.begin(.init(code: EROFS, isLasting: true, calls: ["mkdir"]))
            case .full: faulty.begin(.init(code: ENOSPC, isLasting: true, calls: ["write"]))
            case .locked:
                held = open(path, O_RDWR)
                flock(held, LOCK_EX)
            default: break
            }
            observation = volume.observe { [changes] in changes.record($0.new) }
        }

        deinit { if held >= 0 { close(held) } }

        /// The values in the file, as another program reads them.
        func contents() throws -> [String: PropertyListValue] {
            guard place.isReadable else { return [:] }
            guard case .contents(_, let changes) = try Log(path).look() else { return [:] }
            return Dictionary(changes.map { ($0.name, $0.value) }) { $1 }.compactMapValues(\.self)
        }
    }

    /// What a call has done when it returns.
    enum Promise: Sendable { case stores, removes, reads, nothing }

    private struct Call: Sendable {
        let name: String
        let promise: Promise
        let run: @Sendable (Fixture) async throws -> Void

        init(_ name: String, _ promise: Promise, _ body: @escaping @Sendable (Fixture) throws -> Void) {
            (self.name, self.promise, run) = (name, promise, { try body($0) })
        }

        init(async name: String, _ promise: Promise, _ body: @escaping @Sendable (Fixture) async throws -> Void) {
            (self.name, self.promise, run) = (name, promise, body)
        }
    }

    private static let calls = [
        Call("write", .stores) { try $0.volume.write(7) },
        Call(async: "write, async", .stores) { try await $0.volume.write(7) },
        Call("AnyPreference.write", .stores) { try AnyPreference($0.volume).write(7) },
        Call("store.write", .stores) { try $0.store.write(7, for: "volume") },
        Call(async: "store.write, async", .stores) { try await $0.store.write(7, for: "volume") },
        Call("update", .stores) { try $0.volume.update { $0 = 7 } },
        Call(async: "update, async", .stores) { try await $0.volume.update { $0 = 7 } },
        Call("transaction", .stores) { fixture in try fixture.store.transaction { $0[fixture.volume] = 7 } },
        Call("transaction by name", .stores) { try $0.store.transaction { $0["volume"] = 7 } },
        Call(async: "transaction, async", .stores) { fixture in
            try await fixture.store.transaction { $0[fixture.volume] += 7 - $0[fixture.volume] }
        },
        Call("write of nil", .removes) { try $0.store.write(nil, for: "volume") },
        Call("transaction that resets", .removes) { fixture in
            try fixture.store.transaction { $0.reset(fixture.volume) }
        },
        Call("read", .reads) { _ = try $0.volume.read() },
        Call("load", .reads) { try $0.store.load() },
        Call(async: "load, async", .reads) { try await $0.store.load() },
        Call("transaction that only reads", .reads) { fixture in
            try fixture.store.transaction { _ = $0[fixture.volume] }
        },
        Call("flush", .nothing) { try $0.store.flush() },
        Call(async: "flush, async", .nothing) { try await $0.store.flush() },
    ]

    private static let sets = [
        Call("value", .stores) { $0.volume.value = 7 },
        Call("subscript", .stores) { $0.store["volume"] = 7 },
        Call("reset", .removes) { $0.volume.reset() },
        Call("subscript, nil", .removes) { $0.store["volume"] = nil },
    ]

    @Test(arguments: Place.allCases)
    func callKeepsItsPromiseOrSaysThatItDoesNot(place: Place) async throws {
        for call in Self.calls {
            // Once as the first use of the store, and once after a read.
            for isOpened in [false, true] {
                let fixture = try Fixture(place)
                let context: Comment = "\(call.name), \(place)\(isOpened ? ", after a read" : "")"
                if isOpened { _ = fixture.volume.value }
                let before = try fixture.contents()
                do {
                    try await call.run(fixture)
                    let stored = try fixture.contents()["volume"]
                    switch call.promise {
                    case .stores: same(stored, 7, context)
                    case .removes: same(stored == nil && place.isReadable, true, context)
                    case .reads: same(place.isReadable, true, context)
                    case .nothing: break
                    }
                } catch let error as PreferenceError {
                    same(error.code, place.code, context)
                    same(place.isWritable, false, context)
                    same(try fixture.contents(), before, context)
                    same(fixture.changes.elements, [], context)
                    let shown = place.isReadable ? before["volume"] : nil
                    same(PropertyListValue.integer(Int64(fixture.volume.value)), shown ?? 5, context)
                }
            }
        }
    }

    @Test(arguments: Place.allCases)
    func propertyShowsWhatIsSet(place: Place) async throws {
        for call in Self.sets {
            let fixture = try Fixture(place)
            let context: Comment = "\(call.name), \(place)"
            try await call.run(fixture)
            let isSet = call.promise == .stores
            same(fixture.volume.value, isSet ? 7 : 5, context)
            if place.isWritable {
                same(try fixture.contents()["volume"], isSet ? 7 : nil, context)
                same(fixture.issues.elements.count, 0, context)
            } else if place == .locked {
                same(fixture.issues.elements.count, 0, context)
            } else if isSet || place.hasFile || !place.isReadable {
                same(fixture.issues.elements.map(\.code), [place.code], context)
            }
        }
    }
}
