internal import CDurableFile
internal import Synchronization

/// The preparation of each `fork`, so that a child finds the library as it is between two calls.
///
/// A child of `fork` has only the thread that called it. A lock that another thread of the parent held at that moment stays held
/// there, also one of Swift's runtime. So the forking thread does the following first, and undoes it afterwards:
///
/// 1. It closes the gate: each thread of the library ends the job that it runs, and begins no other one.
/// 2. It takes the turn of each source, so that the calls of the program's other threads end.
/// 3. It takes the locks in the order in which all threads take them (`ForkRank`).
///
/// All of that takes at most `longestWait`: a job may be an observer that never returns.
///
/// The child starts no threads. Swift's runtime has a lock for each first use whose word is the kernel's identifier of the thread that has
/// it, and in a child it goes on using that of the parent's thread: if another thread waits for such a lock, both spin for ever.
package enum ForkGate {
    private struct State {
        /// The thread that is forking.
        var forkingThread: UInt?
    }

    /// The longest time for which a `fork` waits for other threads.
    static let longestWait = Duration.seconds(1)
    /// The time for which it tries to take locks that are held for moments, whatever the waits before have taken.
    private static let shortWait = Duration.milliseconds(200)

    private static let state = Condition(State())
    /// The last lock that is taken, as participants are created under other ones.
    private static let participants = Lock(Participants())
    /// The number of participants that were ever added.
    private static let additions = Atomic(0)
    private static let mayStart = Atomic(true)
    private static let isInstalled: Void = durable_file_handle_forks { step in
        switch step {
        case durable_file_fork_begins: ForkGate.prepare()
        case durable_file_fork_in_parent: ForkGate.finish(inChild: false)
        default: ForkGate.finish(inChild: true)
        }
    }

    /// Whether the process may start threads: false in a child of `fork`.
    package static var mayStartThreads: Bool { mayStart.load(ordering: .relaxed) }

    private static var thread: UInt { UInt(bitPattern: c_thread_identity()) }

    // MARK: The library's threads

    // Both in sequential consistency: a thread counts itself and then looks at the gate, a fork closes the gate and then looks at the count.
    private static let isClosed = Atomic(false)
    /// The number of threads that run jobs, and of those that are being started.
    private static let running = Atomic(0)

    /// Whether the calling thread is one of those that are counted.
    private static var isCounted: Bool {
        get { durable_file_thread_mark().pointee }
        set { durable_file_thread_mark().pointee = newValue }
    }

    /// Counts a thread that is being started.
    static func noteStarting() { running.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// Records that a thread that was counted can't be started.
    static func noteNotStarted() { subtract() }

    /// Records that the calling thread, which was counted, has started.
    static func noteStarted() { isCounted = true }

    /// Counts the calling thread as running; returns false if a thread forks, which will then wake those that wait for jobs.
    static func enterIfOpen() -> Bool {
        isCounted = true
        running.wrappingAdd(1, ordering: .sequentiallyConsistent)
        guard isClosed.load(ordering: .sequentiallyConsistent) else { return true }
        leave()
        return false
    }

    /// Counts the calling thread as running, after waiting for the end of a `fork`.
    static func enter() {
        while !enterIfOpen() { waitUntilOpen { _ in } }
    }

    /// Records that the calling thread waits, with no lock.
    static func leave() {
        guard isCounted else { return }
        isCounted = false
        subtract()
    }

    /// Runs a call of the system that may take long, with no lock; a `fork` doesn't wait for it.
    static func waiting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard isCounted else { return try body() }
        leave()
        defer { enter() }
        return try body()
    }

    /// Waits for the end of a `fork`, if a thread forks: for a thread of the library with a long job, between two steps of that and with no
    /// lock.
    package static func pauseIfClosed() {
        guard isClosed.load(ordering: .sequentiallyConsistent), isCounted else { return }
        leave()
        enter()
    }

    private static func subtract() {
        running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        if isClosed.load(ordering: .sequentiallyConsistent) { state.signal { _ in } }
    }

    private static func waitUntilOpen(_ body: (inout State) -> Void) {
        state.wait { state -> Condition<State>.Wait<Void> in
            if state.forkingThread != nil { return .until(nil) }
            body(&state)
            return .done(())
        }
    }

    // MARK: Participants

    /// Adds an object whose locks are taken; returns its place. It must be removed first thing when it is deinitialized.
    package static func add(_ participant: any ForkParticipant) -> Int {
        isInstalled
        return participants.withLock { participants in
            additions.wrappingAdd(1, ordering: .sequentiallyConsistent)
            return participants.add(participant)
        }
    }

    package static func remove(_ place: Int) { participants.withLock { $0.remove(place) } }

    // MARK: The steps of a fork

    private struct Fork {
        let deadline: Duration
        /// The locks in the order in which they are taken.
        var steps: [Step] = []
        var isListHeld = false
        var isGateHeld = false

        struct Step {
            let participant: any ForkParticipant
            let rank: ForkRank
            var isHeld = false
        }

        /// Tries until a time, and at least once.
        func attempt(until deadline: Duration, _ body: () -> Bool) -> Bool {
            var tries = 0
            while !body() {
                if SystemFileSystem().now() >= deadline { return false }
                tries += 1
                if tries < 20 { sched_yield() } else { Pause.sleep(microseconds: 50) }
            }
            return true
        }

        /// Adds the participants that aren't here yet.
        mutating func add(_ participants: [any ForkParticipant]) {
            let known = Set(steps.map { ObjectIdentifier($0.participant) })
            steps += participants.filter { !known.contains(ObjectIdentifier($0)) }.flatMap { participant in
                participant.forkRanks.map { Step(participant: participant, rank: $0) }
            }
            steps.sort { ($0.rank.rawValue, $0.participant.forkOrder) < ($1.rank.rawValue, $1.participant.forkOrder) }
        }

        /// Takes the turns, the newest source's first: a thread that has one may wait for that of an older source, over which it is.
        mutating func takeTurns() {
            for place in steps.indices.reversed() where steps[place].rank == .turns && !steps[place].isHeld {
                let step = steps[place]
                steps[place].isHeld = attempt(until: deadline) { step.participant.take(.turns) }
            }
        }

        mutating func takeLocks() {
            let end = max(deadline, SystemFileSystem().now() + shortWait)
            for place in steps.indices where steps[place].rank != .turns {
                let step = steps[place]
                // A file's lock is held as long as another process has the file.
                let end = step.rank == .logs ? deadline : end
                steps[place].isHeld = attempt(until: end) { step.participant.take(step.rank) }
            }
        }

        /// Releases the locks, but not the turns, to take them again.
        mutating func releaseLocks() {
            for place in steps.indices.reversed() where steps[place].rank != .turns && steps[place].isHeld {
                _ = steps[place].participant.release(steps[place].rank, inChild: false)
                steps[place].isHeld = false
            }
        }

        /// Releases what was taken, but for the turns, or these alone; in a child all of it. Returns what is left to do.
        func release(turns: Bool, inChild: Bool) -> [WorkerQueue.Job] {
            steps.reversed().compactMap { step in
                guard (step.rank == .turns) == turns, step.isHeld || inChild else { return nil }
                return step.participant.release(step.rank, inChild: inChild)
            }
        }

        /// Lets the child begin; returns what has to be released without a lock.
        func startInChild() -> [WorkerQueue.Job] {
            var jobs: [WorkerQueue.Job] = []
            for step in steps where step.participant.forkRanks.last == step.rank {
                jobs += step.participant.startInChild(isWhole: step.isHeld)
            }
            return jobs
        }
    }

    // Used by the thread that has closed the gate only.
    nonisolated(unsafe) private static var fork = Fork(deadline: .zero)

    /// Has Swift's runtime look up the types that the child's step uses, once: there another thread of the program might have had the
    /// runtime's lock for new types.
    private static let isRehearsed: Void = {
        for isChild in [false, true] {
            let empty = Fork(deadline: .zero)
            let dropped = isChild ? empty.startInChild() : []
            for job in dropped + empty.release(turns: true, inChild: isChild) { WorkerQueue().run(job) }
            withExtendedLifetime(dropped) {}
            withExtendedLifetime(empty) {}
        }
    }()

    private static func prepare() {
        isRehearsed
        // Else another thread might create it now: it would have to wait, and the child's would be in creation for ever.
        _ = WorkerPool.shared
        let deadline = SystemFileSystem().now() + longestWait
        close()
        fork = Fork(deadline: deadline)
        waitForThreads()
        while true {
            let (all, count) = participants.withLock { ($0.all, additions.load(ordering: .sequentiallyConsistent)) }
            fork.add(all)
            fork.takeTurns()
            fork.takeLocks()
            fork.isListHeld = fork.attempt(until: SystemFileSystem().now() + shortWait) { participants.take() }
            // Else another thread has added one in between, whose locks are to be taken, too.
            let isComplete = additions.load(ordering: .sequentiallyConsistent) == count
            if isComplete || !fork.isListHeld || SystemFileSystem().now() >= deadline { break }
            participants.release(inChild: false)
            fork.releaseLocks()
        }
        // A thread that the program has started in between begins with waiting for a job.
        waitForThreads()
        fork.isGateHeld = fork.attempt(until: SystemFileSystem().now() + shortWait) { state.take() }
    }

    /// Closes the gate; waits while another thread forks.
    private static func close() {
        let isRunning = isCounted
        leave()
        waitUntilOpen { state in
            state.forkingThread = thread
            isClosed.store(true, ordering: .sequentiallyConsistent)
        }
        guard isRunning else { return }
        isCounted = true
        running.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    /// Waits until no other thread of the library runs, or until the deadline.
    private static func waitForThreads() {
        let (deadline, own) = (fork.deadline, isCounted ? 1 : 0)
        state.wait { state -> Condition<State>.Wait<Void> in
            if running.load(ordering: .sequentiallyConsistent) <= own { return .done(()) }
            let rest = deadline - SystemFileSystem().now()
            return rest > .zero ? .until(rest) : .done(())
        }
    }

    private static func finish(inChild: Bool) {
        let done = fork
        fork = Fork(deadline: .zero)
        if done.isGateHeld || inChild { state.release(inChild: inChild) }
        if done.isListHeld || inChild { participants.release(inChild: inChild) }
        _ = done.release(turns: false, inChild: inChild)
        if inChild { mayStart.store(false, ordering: .relaxed) }
        let dropped = inChild ? done.startInChild() : []
        let jobs = done.release(turns: true, inChild: inChild)
        if inChild { running.store(isCounted ? 1 : 0, ordering: .sequentiallyConsistent) }
        state.signal { state in
            state.forkingThread = nil
            isClosed.store(false, ordering: .sequentiallyConsistent)
        }
        // All that there are now: threads that were started meanwhile wait, too.
        if !inChild { for participant in participants.withLock({ $0.all }) { participant.endFork() } }
        for job in jobs { WorkerQueue().run(job) }
        // Here, without a lock: what is released might use anything.
        withExtendedLifetime(dropped) {}
        withExtendedLifetime(done) {}
    }
}

/// The locks that a `fork` takes, in this order.
package enum ForkRank: Int, Sendable {
    /// The turns at backends.
    case turns
    /// The registries under whose locks stores are created.
    case registries
    /// The logs' locks.
    case logs
    /// The locks of sources.
    case sources
    /// The locks of stores, in the order of their creation.
    case stores
    /// The locks of stored values.
    case values
    /// Other locks, under which no other one is taken.
    case leaves
    /// The locks of the owners of threads.
    case threads
}

/// An object with locks that a `fork` takes, so that its child finds them free and what they guard whole.
package protocol ForkParticipant: AnyObject, Sendable {
    /// The ranks of the object's locks, in their order.
    var forkRanks: [ForkRank] { get }
    /// The position among the objects of a rank.
    var forkOrder: UInt64 { get }
    /// Takes all locks of a rank without waiting; returns false, with none taken, if another thread has one.
    func take(_ rank: ForkRank) -> Bool
    /// Releases the locks of a rank; in the child also those that another thread had. Returns what is left to do without a lock.
    func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job?
    /// Forgets the parent's threads, with no lock; `isWhole` if the locks of the last rank were taken. Returns what has to be released
    /// later.
    func startInChild(isWhole: Bool) -> [WorkerQueue.Job]
    /// Wakes the threads that wait for the end of the `fork`.
    func endFork()
}

extension ForkParticipant {
    package var forkOrder: UInt64 { 0 }
    package func startInChild(isWhole: Bool) -> [WorkerQueue.Job] { [] }
    package func endFork() {}
}

/// The objects with locks that a `fork` takes.
private struct Participants {
    private struct Entry {
        // Not weak: that makes each retain of an object slow. Nil in a free place; optional entries would be one more type to create.
        var object: UnsafeMutableRawPointer?
        unowned(unsafe) let participant: any ForkParticipant
    }

    private var entries: [Entry] = []
    private var free: [Int] = []

    init() { entries.reserveCapacity(32) }

    mutating func add(_ participant: any ForkParticipant) -> Int {
        let entry = Entry(
            object: Unmanaged.passUnretained(participant as AnyObject).toOpaque(),
            participant: participant
        )
        guard let place = free.popLast() else {
            entries.append(entry)
            return entries.count - 1
        }
        entries[place] = entry
        return place
    }

    mutating func remove(_ place: Int) {
        entries[place].object = nil
        free.append(place)
    }

    /// The objects, without those that are being deinitialized and wait for being removed.
    var all: [any ForkParticipant] {
        entries.compactMap { entry in
            guard let pointer = entry.object else { return nil }
            let object = Unmanaged<AnyObject>.fromOpaque(pointer).retain()
            // Asked with a reference, so that the answer stays true. Without it, the last reference might be that of this function.
            guard !durable_file_is_deinitializing(pointer) else {
                object.release()
                return nil
            }
            let participant = entry.participant
            object.release()
            return participant
        }
    }
}

// A list is used by one thread at a time.
extension Participants: @unchecked Sendable {}
