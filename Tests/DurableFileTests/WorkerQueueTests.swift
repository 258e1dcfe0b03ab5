import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

@Suite(.timeLimit(.minutes(60)))
struct WorkerQueueTests {
    @Test
    func idleThreadEndsAndComesBack() async {
        let pool = WorkerPool(idleTime: .milliseconds(1))
        let worker = WorkerQueue(pool)
        for _ in 1...3 {
            await withCheckedContinuation { continuation in worker.run { continuation.resume() } }
            while threads(pool) > 0 { await Task.yield() }
        }
    }

    @Test
    func threadEndsWithTheLastQueueOfItsPool() async {
        let pool = WorkerPool(idleTime: .seconds(3600))
        let ran = Lock(0)
        do {
            let (first, second) = (WorkerQueue(pool), WorkerQueue(pool))
            first.run { ran.withLock { $0 += 1 } }
            second.run(after: .seconds(3600)) { Issue.record("it was not due") }
        }
        while threads(pool) > 0 { await Task.yield() }
        same(ran.withLock { $0 }, 1)
    }

    /// A flush that waits for a job must return, and so must a flush of another queue that comes in between.
    @Test
    func jobsOfAThreadThatCanNotBeStartedRunWhereTheyAreAdded() {
        let ran = Lock<[Int]>([])
        let pool = WorkerPool { _ in false }
        let (worker, other) = (WorkerQueue(pool), WorkerQueue(pool))
        worker.run {
            worker.run { ran.withLock { $0.append(2) } }
            other.run(after: .seconds(60)) { ran.withLock { $0.append(3) } }
            ran.withLock { $0.append(1) }
        }
        same(ran.withLock { $0 }, [2, 3, 1])
    }

    @Test
    func childOfForkHasTheJobsThatDoNotWaitForTheDisk() {
        var schedule = JobSchedule()
        let (disk, other) = (schedule.addQueue(), schedule.addQueue())
        schedule.add({}, to: disk, due: .zero, isBlocking: true)
        schedule.add({}, to: other, due: .zero, isBlocking: false)
        schedule.addThread()
        let dropped = schedule.forgetThreads(isShared: true)
        #expect(dropped.count == 1 && schedule.threads == 0 && schedule.needsThread)
        schedule.addThread()
        guard case .run(let queue, _) = schedule.next(at: .zero, idleSince: .zero) else {
            Issue.record("the other job runs")
            return
        }
        same(queue, other)
    }

    @Test
    func jobThatNeverReturnsDelaysNoOtherQueue() async {
        let pool = WorkerPool()
        let gate = Condition(false)
        let (stuck, other) = (WorkerQueue(pool), WorkerQueue(pool))
        for worker in [stuck, WorkerQueue(pool), WorkerQueue(pool)] {
            worker.run { gate.wait { $0 ? .done(()) : .until(nil) } }
        }
        await withCheckedContinuation { continuation in other.run { continuation.resume() } }
        gate.signal { $0 = true }
    }

    @Test
    func jobsOfManyThreadsRunOnceEachAndInTheOrderOfTheirQueue() async {
        let pool = WorkerPool(idleTime: .milliseconds(1))
        let ran = (0..<8).map { _ in Counter() }
        await withTaskGroup { group in
            for counter in ran {
                group.addTask {
                    let worker = WorkerQueue(pool, isBlocking: Bool.random())
                    for number in 1...200 {
                        worker.run { same(counter.next(), number) }
                        if number.isMultiple(of: 50) { await Task.yield() }
                    }
                    await withCheckedContinuation { continuation in worker.run { continuation.resume() } }
                    same(counter.next(), 201)
                }
            }
        }
        while threads(pool) > 0 { await Task.yield() }
    }

    /// With the watcher's thread there are three.
    @Test
    func hundredLogsThatAreSetHaveTwoThreads() async throws {
        let folder = try TemporaryFolder()
        // Its clock stands still, so that no job takes long.
        let fileSystem = FaultyFileSystem()
        let pool = WorkerPool(fileSystem: fileSystem)
        let most = Lock(0)
        let (syncs, synced) = AsyncStream.makeStream(of: Void.self)
        fileSystem.beforeEachCall { call, _ in
            guard call == "fdatasync" else { return }
            most.withLock { $0 = max($0, threads(pool)) }
            synced.yield()
        }
        var logs = try (0..<100).map { number in
            let log = try LogFile.open(
                folder.path("log\(number)"),
                fileSystem: fileSystem,
                worker: WorkerQueue(pool, isBlocking: true)
            )
            try log.set("a", "1")
            return log
        }
        fileSystem.sleep(.milliseconds(80))
        var count = 0
        for await _ in syncs {
            count += 1
            if count == 100 { break }
        }
        #expect(most.withLock { $0 } == 2 && logs.count == 100)
        logs = []
        while threads(pool) > 0 { await Task.yield() }
    }
}

private func threads(_ pool: WorkerPool) -> Int { pool.schedule.withLock { $0.threads } }

struct JobScheduleTests {
    private final class Ran: Sendable {
        let jobs = Lock<[Int]>([])
    }

    private final class Run {
        var schedule = JobSchedule()
        private let ran = Ran()
        var jobs: [Int] { ran.jobs.withLock { $0 } }

        func queue() -> Int { schedule.addQueue() }

        /// Adds a job and, as a pool does, a thread if one is missing; returns the number of threads.
        @discardableResult
        func add(_ number: Int, to queue: Int, due: Int = 0, isBlocking: Bool = false) -> Int {
            let job: WorkerQueue.Job = { [ran] in ran.jobs.withLock { $0.append(number) } }
            schedule.add(job, to: queue, due: .milliseconds(due), isBlocking: isBlocking)
            if schedule.needsThread { schedule.addThread() }
            return schedule.threads
        }

        /// Starts the next job; returns its queue, or nil if no job can run now.
        func take(at now: Int, idleSince: Int? = nil) -> Int? {
            guard case .run(let queue, let job) = next(at: now, idleSince) else { return nil }
            job()
            if schedule.needsThread { schedule.addThread() }
            return queue
        }

        func next(at now: Int, _ idleSince: Int? = nil) -> JobSchedule.Next {
            schedule.next(at: .milliseconds(now), idleSince: .milliseconds(idleSince ?? now))
        }

        /// Returns how long a thread waits; nil if it runs a job or ends.
        func wait(at now: Int, idleSince: Int? = nil) -> Duration? {
            if case .wait(let duration) = next(at: now, idleSince) { duration } else { nil }
        }

        func isEnd(at now: Int, idleSince: Int) -> Bool {
            if case .end = next(at: now, idleSince) { true } else { false }
        }
    }

    @Test
    func jobsRunInTheOrderOfTheirTime() {
        let run = Run()
        let queue = run.queue()
        for (number, due) in [(1, 30), (2, 10), (3, 10), (4, 0)] { run.add(number, to: queue, due: due) }
        for now in [0, 5, 10, 10, 20] where run.take(at: now) != nil { run.schedule.finish(queue) }
        same(run.jobs, [4, 2, 3])
        same(run.wait(at: 20), .milliseconds(10))
        same(run.schedule.threads, 1)
    }

    @Test
    func jobsOfOneQueueNeverRunAtOnceHoweverLongOneTakes() {
        let run = Run()
        let (first, second) = (run.queue(), run.queue())
        same(run.add(1, to: first), 1)
        same(run.take(at: 0), first)
        // None of the other queues waits, and the working thread will look for the next job itself.
        same(run.add(2, to: first), 1)
        same(run.add(3, to: second), 2)
        same(run.take(at: 100), second)
        same(run.jobs, [1, 3])
        run.schedule.finish(second)
        same(run.take(at: 10_000), nil)
        run.schedule.finish(first)
        same(run.take(at: 10_000), first)
    }

    @Test
    func anotherThreadStartsWhenAJobTakesLong() {
        let run = Run()
        let queues = (0..<100).map { _ in run.queue() }
        for queue in queues { run.add(queue, to: queue) }
        same(run.schedule.threads, 1)
        same(run.take(at: 0), queues[0])
        // One idle thread, and no more while the job might still end.
        same(run.schedule.threads, 2)
        same(run.wait(at: 0), JobSchedule.longestTurn)
        #expect(run.take(at: 29) == nil && run.take(at: 30) == queues[1])
        same(run.schedule.threads, 3)
        // The stuck thread no longer counts: other threads run the remaining jobs without a wait, one at a time.
        same(run.wait(at: 31), .milliseconds(29))
        for queue in queues[2...] {
            run.schedule.finish(queue - 1)
            same(run.take(at: 31), queue)
        }
        same(run.schedule.threads, 3)
        same(run.jobs, queues)
    }

    @Test
    func notificationDoesNotWaitForTheDisk() {
        let run = Run()
        let (disk, other, observer, third) = (run.queue(), run.queue(), run.queue(), run.queue())
        run.add(1, to: disk, isBlocking: true)
        same(run.take(at: 0), disk)
        run.add(2, to: other, isBlocking: true)
        same(run.take(at: 1), nil)
        run.add(3, to: observer)
        same(run.take(at: 1), observer)
        run.add(4, to: third)
        same(run.take(at: 30), nil)
        #expect(run.take(at: 31) == other && run.take(at: 31) == third)
    }

    @Test
    func threadsThatAreNotNeededEnd() {
        let run = Run()
        let (first, second) = (run.queue(), run.queue())
        run.add(1, to: first)
        run.add(2, to: second)
        #expect(run.take(at: 0) == first && run.take(at: 30) == second)
        run.schedule.finish(first)
        run.schedule.finish(second)
        run.add(3, to: second, due: 5_000)
        same(run.schedule.threads, 2)
        // Of two idle threads one is enough.
        same(run.wait(at: 40, idleSince: 40), .milliseconds(1_000))
        #expect(run.isEnd(at: 1_040, idleSince: 40))
        same(run.wait(at: 1_040, idleSince: 40), .milliseconds(3_960))
        same(run.take(at: 5_000, idleSince: 40), second)
        run.schedule.finish(second)
        #expect(run.isEnd(at: 6_000, idleSince: 5_000))
        same(run.schedule.threads, 0)
        same(run.add(4, to: first, due: 7_000), 1)
    }

    @Test
    func queueThatIsGoneLeavesWhatIsDue() {
        let run = Run()
        let queue = run.queue()
        run.add(1, to: queue)
        run.add(2, to: queue, due: 1_000)
        let dropped = run.schedule.removeQueue(queue, at: .zero)
        same(dropped.count, 1)
        same(run.take(at: 0), queue)
        run.schedule.finish(queue)
        // Without a queue no job can be added.
        #expect(run.isEnd(at: 0, idleSince: 0))
    }
}
