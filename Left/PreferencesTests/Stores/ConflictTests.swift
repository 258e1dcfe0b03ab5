import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Updates whose values another program changes during each run.
@Suite(.timeLimit(.minutes(5)))
struct ConflictTests {
    private let folder: TemporaryFolder
    private let store: PreferenceStore
    private let other: PreferenceStore
    private let issues = Recorder<PreferenceError>()

    init() throws {
        folder = try TemporaryFolder()
        let path = folder.path("preferences.jsonl")
        store = PreferenceStore(backend: FileBackend(path: path, lockTimeout: .seconds(60), watcher: nil))
        // As another process: with a cache and a lock of its own.
        other = PreferenceStore(backend: FileBackend(path: path, lockTimeout: .milliseconds(20), watcher: nil))
        store.issueHandler = { [issues] in issues.record($0) }
        store["volume"] = 0
    }

    /// Sets as another program does, on a thread of its own; returns the error.
    private func set(_ value: Int64) -> PreferenceError? {
        let outcome = Condition<Result<Void, PreferenceError>?>(nil)
        let isStarted = Pool.startThread { [other] in
            let result = Result { () throws(PreferenceError) in try other.write(.integer(value), for: "volume") }
            outcome.signal { $0 = result }
        }
        #expect(isStarted)
        let result = outcome.wait { result in result.map { .done($0) } ?? .until(nil) }
        if case .failure(let error) = result { return error }
        return nil
    }

    @Test
    func updateThatWasInConflictOftenHoldsTheFilesLock() throws {
        let volume = Preference("volume", default: 0, in: store)
        var runs = 0
        try volume.update { value in
            runs += 1
            let error = set(Int64(runs * 100))
            same(error?.code == .busy, runs > 16, "run \(runs): \(String(describing: error))")
            value += 1
        }
        same(runs, 17)
        same(volume.value, 1601)
        #expect(set(1) == nil)
    }

    @Test(arguments: [false, true])
    func bodyThatUsesAStoreWithTheFilesLockIsMisuse(isFlush: Bool) throws {
        let volume = Preference("volume", default: 0, in: store)
        let mute = Preference("mute", default: false, in: store)
        var runs = 0
        #expect(throws: PreferenceError.self) {
            try volume.update { value in
                runs += 1
                if runs <= 16 { return #expect(set(Int64(runs * 100)) == nil) }
                value = 1
                if isFlush { try store.flush() } else { mute.value = true }
            }
        }
        same(runs, 17)
        #expect(volume.value == 1600 && !mute.value)
        same(issues.elements.map(\.code), isFlush ? [] : [.misuse])
        mute.value = true
        #expect(mute.value)
    }

    @Test
    func bodyWithTheFilesLockMayAskWhetherTheStoreIsWritable() throws {
        let volume = Preference("volume", default: 0, in: store)
        var runs = 0
        try volume.update { value in
            runs += 1
            if runs <= 16 { return #expect(set(Int64(runs * 100)) == nil) }
            value = store.isWritable ? 1 : 0
        }
        #expect(runs == 17 && volume.value == 1)
    }
}
