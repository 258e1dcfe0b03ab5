import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// A file whose lock another process holds: each call waits for it within one deadline from its start, tasks don't block threads.
@Suite(.timeLimit(.minutes(2)))
struct LockedFileTests {
    private let folder: TemporaryFolder
    private let path: String
    private let fileSystem = FaultyFileSystem()
    private let holder: OpenFile
    private let issues = Recorder<PreferenceError>()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("preferences.jsonl")
        holder = try SystemFileSystem().open(path, for: .creating)
    }

    /// Returns an open store of the file, whose lock another descriptor holds from now on.
    private func lockedStore(waiting timeout: Duration) throws -> PreferenceStore {
        let store = PreferenceStore(
            backend: FileBackend(path: path, fileSystem: fileSystem, lockTimeout: timeout, watcher: nil)
        )
        store.issueHandler = { [issues] in issues.record($0) }
        store["volume"] = 3
        #expect(try SystemFileSystem().lock(holder))
        return store
    }

    private func unlock() { #expect(throws: Never.self) { try SystemFileSystem().unlock(holder) } }

    /// Unlocks the file after a call has waited for its lock for a while.
    private func unlockLater() {
        fileSystem.beforeEachCall { [fileSystem, holder] call, _ in
            guard call == "flock", fileSystem.now() > .milliseconds(200) else { return }
            #expect(throws: Never.self) { try SystemFileSystem().unlock(holder) }
        }
    }

    @Test
    func threadsThatWaitForAnotherOneHaveTheirOwnDeadlines() async throws {
        let store = try lockedStore(waiting: .milliseconds(50))
        let (attempts, ends, gate) = (Counter(), Counter(), Condition(false))
        fileSystem.beforeEachCall { call, _ in
            guard call == "flock" else { return }
            attempts.next()
            gate.wait { $0 ? .done(()) : .until(nil) }
        }
        #expect(
            Pool.startThread {
                store["volume"] = 4
                ends.next()
            }
        )
        await eventually { attempts.value == 1 }
        let codes = Recorder<PreferenceError.Code?>()
        await onThreads(4) { thread in
            do throws(PreferenceError) {
                switch thread {
                case 0: try store.write(5, for: "volume")
                case 1: try Preference("volume", default: 0, in: store).write(5)
                case 2: try Preference("mute", default: false, in: store).write(true)
                default: try store.write(nil, for: "volume")
                }
                codes.record(nil)
            } catch {
                codes.record(error.code)
            }
        }
        same(codes.elements, Array(repeating: .busy, count: 4), "while the first one still waits")
        #expect(issues.elements.isEmpty)
        gate.signal { $0 = true }
        await eventually { ends.value == 1 }
        same(issues.elements.map(\.code), [.busy])
        unlock()
        try await store.write(6, for: "volume")
        same(store.contents, ["volume": 6])
    }

    @Test
    func tasksThatWaitForALockedFileHoldUpNoOtherTask() async throws {
        fileSystem.startClock()
        let store = try lockedStore(waiting: .seconds(3600))
        let many = 64
        let writers = startWriters(many, to: store)
        let calls = try #require(store.core.layers.waitingSource).state.withLock { $0.calls }
        await eventually { calls.count == many - 1 }
        await Task { for _ in 0..<1000 { await Task.yield() } }.value
        same(calls.count, many - 1, "all of them still wait")
        same(store["volume"], 3, "an open store is read without waiting")
        writers[many - 1].cancel()
        await expectError(.unavailable) { try await writers[many - 1].value }
        unlock()
        for writer in writers.dropLast() { try await writer.value }
        same(store.contents.count, many)
        #expect(issues.elements.isEmpty)
    }

    @Test
    func tasksThatWaitEndTogether() async throws {
        fileSystem.startClock()
        let store = try lockedStore(waiting: .milliseconds(100))
        let writers = (0..<8).map { index in Task { try await store.write(.integer(index), for: "volume") } }
        for writer in writers { await expectError(.busy) { try await writer.value } }
        same(store["volume"], 3)
    }

    @Test
    func asyncSetThatWaitsIsAnnouncedOnce() async throws {
        let volume = Preference("volume", default: 0, in: try lockedStore(waiting: .seconds(5)))
        let (before, after) = (Recorder<Int>(), Recorder<Int>())
        let observations = [
            volume.observe(at: .willSet) { before.record($0.new) }, volume.observe { after.record($0.new) },
        ]
        unlockLater()
        try await volume.write(4)
        #expect(before.elements == [4] && after.elements == [4])
        #expect(issues.elements.isEmpty)
        withExtendedLifetime(observations) {}
    }
}
