#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Preferences
import PreferencesEtcd

/// An experiment with eight tasks that write to an endpoint that never answers, and a task that wakes up every 20 ms.
enum BlackHoleExperiment {
    private static let tick = Duration.milliseconds(20)
    private static let timeout = Duration.seconds(2)
    /// A write that blocked a thread of Swift's pool would make a tick late by the timeout; a busy machine does by less.
    private static let limit = timeout / 2

    static func run(_ seconds: Int) async throws -> Int32 {
        let hole = try BlackHole()
        var configuration = EtcdConfiguration(endpoints: [hole.url])
        configuration.timeout = timeout
        let store = try PreferenceStore.etcd("blackhole", configuration)
        store.issueHandler = { _ in }
        let end = ContinuousClock.now + .seconds(seconds)
        let writers = (0..<8).map { index in
            Task { () -> (failed: Int, stored: Int) in
                var (failed, stored) = (0, 0)
                while ContinuousClock.now < end {
                    do {
                        try await Preference("\(index)", default: 0, in: store).write(1)
                        stored += 1
                    } catch {
                        failed += 1
                    }
                }
                return (failed, stored)
            }
        }
        var (ticks, latest) = (0, Duration.zero)
        while ContinuousClock.now < end {
            let due = ContinuousClock.now + tick
            try await Task.sleep(until: due, clock: .continuous)
            latest = max(latest, due.duration(to: .now))
            ticks += 1
        }
        var (failed, stored) = (0, 0)
        for writer in writers {
            let writes = await writer.value
            failed += writes.failed
            stored += writes.stored
        }
        print("writes that failed at their deadline: \(failed), stored: \(stored)")
        print("ticks of another task, each 20 ms: \(ticks), the latest was late by \(latest)")
        withExtendedLifetime(hole) {}
        guard failed > 0, stored == 0, ticks > 0, latest <= limit else {
            print("FAILURE: writes must fail, none may be stored, and no tick may be late by more than \(limit)")
            return 1
        }
        return 0
    }
}
#endif
