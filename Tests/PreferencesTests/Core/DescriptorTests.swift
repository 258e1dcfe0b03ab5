#if canImport(Glibc)
import FileTestSupport
import Glibc
import Observation
import TestSupport
import Testing

@testable import Preferences

/// A process that may open no more files: nothing ends it, and what needs none goes on.
struct DescriptorTests {
    @Test
    func openStoresGoOnWithoutADescriptor() async {
        await #expect(processExitsWith: .success) {
            let database = Database()
            let store = PreferenceStore(backend: LockedBackend(database))
            let count = Preference("count", default: 0, in: store)
            same(count.value, 0)
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            getrlimit(__rlimit_resource_t(7), &limit)
            limit.rlim_cur = 64
            setrlimit(__rlimit_resource_t(7), &limit)
            var opened: [Int32] = []
            while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { opened.append(descriptor) }
            let (signals, seen) = (countSignals { _ = count.value }, Counter())
            let observation = count.observe { _ in seen.next() }
            for value in 1...100 { count.value = value }
            #expect(signals.value == 1 && seen.value == 100 && database["count"] == 100)
            // What is kept is stored by the pool.
            #expect(database.tryLock())
            count.value = 101
            database.unlock()
            while database["count"] != 101 { sched_yield() }
            // A store that is opened now, and a task.
            let later = PreferenceStore(backend: LockedBackend(Database()))
            try await later.write(1, for: "a")
            same(later["a"], 1)
            for descriptor in opened { close(descriptor) }
            withExtendedLifetime(observation) {}
        }
    }
}
#endif
