#if Etcd
import EtcdTestSupport
import FileTestSupport
import NIOCore
import NIOPosix
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of callers that wait for a server: tasks suspend, threads wait until a deadline, event loops are never blocked.
@Suite(.timeLimit(.minutes(5)))
struct BlackHoleTests {
    /// An endpoint that never answers delays only the tasks that wait for it.
    ///
    /// Other tests block threads of the pool too, perhaps for longer than a timeout; then it is repeated with a longer one.
    @Test
    func tasksThatWriteToAnEndpointThatNeverAnswersBlockNoOtherTask() async throws {
        let hole = try BlackHole()
        for timeout in [2, 8, 32] where try await doesAnotherTaskRun(duringWritesTo: hole, for: .seconds(timeout)) {
            return
        }
        Issue.record("a task that needs no server waited until the writes had ended")
    }

    /// Returns whether another task continues while eight wait.
    private func doesAnotherTaskRun(duringWritesTo hole: BlackHole, for timeout: Duration) async throws -> Bool {
        var configuration = EtcdConfiguration(endpoints: [hole.url])
        configuration.timeout = timeout
        let store = try PreferenceStore.etcd(freshSuite(), configuration)
        let (begun, ended) = (Counter(), Counter())
        let writers = (0..<8).map { index in
            Task {
                begun.next()
                defer { ended.next() }
                try await Preference("\(index)", default: 0, in: store).write(1)
            }
        }
        let endedByThen = await Task {
            while begun.value < 8 { await Task.yield() }
            for _ in 0..<1000 { await Task.yield() }
            return ended.value
        }.value
        for writer in writers {
            let error = await #expect(throws: PreferenceError.self) { try await writer.value }
            #expect([.unavailable, .busy].contains(error?.code))
        }
        return endedByThen == 0
    }

    @Test(needsEtcd)
    func blockingCallsOnAnEventLoopThrowMisuse() async throws {
        let suite = freshSuite()
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        try await PreferenceStore.etcd(suite, configuration).write(5, for: "count")
        let store = try PreferenceStore.etcd(suite, configuration)
        let reports = Reports(of: store)
        let count = Preference("count", default: 0, in: store)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let codes = try await loop.submit {
            [{ try count.write(1) }, { try count.update { $0 += 1 } }, { try store.transaction { $0[count] += 1 } }]
                .map { (call: () throws -> Void) in code { try call() } }
        }.get()
        same(codes, [.misuse, .misuse, .misuse])
        #expect(reports.codes.isEmpty)
        // A read can't throw: it reports the error and returns the default, and the value arrives later as a change.
        let read = try await loop.submit { count.value }.get()
        same(read, 0)
        same(reports.codes, [.misuse])
        try await eventually("the value is loaded elsewhere") { count.value == 5 }
        try await same(loop.submit { count.value }.get(), 5)
        try await count.update { $0 += 1 }
        same(count.value, 6)
    }
}

private func code(_ body: () throws -> Void) -> PreferenceError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? PreferenceError)?.code
    }
}
#endif
