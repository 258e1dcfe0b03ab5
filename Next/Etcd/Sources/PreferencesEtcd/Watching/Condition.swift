internal import CPreferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A value on whose changes threads can wait.
final class Condition<State>: @unchecked Sendable {  // every use of `state` is between lock and unlock
    enum Wait<Result> {
        case done(Result)
        /// Wait at most this long; for ever if nil.
        case until(Duration?)
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ initial: State) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        condition.makeMonotonic()
        state = initial
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Updates the state and wakes all waiting threads.
    func signal<Result>(_ body: (inout State) -> Result) -> Result {
        // After the unlock, as a woken thread would otherwise wait for the lock at once.
        defer { pthread_cond_broadcast(condition) }
        return withLock(body)
    }

    /// Waits until `body` returns a result; calls it at once, after each `signal`, and when the time that it returned is over.
    func wait<Result>(_ body: (inout State) -> Wait<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result): return result
            case .until(let duration?): condition.wait(mutex, atMost: max(duration, .zero))
            case .until(nil): pthread_cond_wait(condition, mutex)
            }
        }
    }
}

#if canImport(Darwin)
extension UnsafeMutablePointer<pthread_cond_t> {
    fileprivate func makeMonotonic() { pthread_cond_init(self, nil) }

    fileprivate func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, atMost duration: Duration) {
        var rest = timespec(duration)
        pthread_cond_timedwait_relative_np(self, mutex, &rest)
    }
}
#else
extension UnsafeMutablePointer<pthread_cond_t> {
    /// Measures waits by a clock that nobody sets.
    fileprivate func makeMonotonic() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(self, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    fileprivate func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, atMost duration: Duration) {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        var end = timespec(.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) + duration)
        pthread_cond_timedwait(self, mutex, &end)
    }
}
#endif

extension timespec {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}

enum Pause {
    static func sleep(microseconds: UInt32) { usleep(microseconds) }
}

enum Threads {
    private final class Job {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread; returns false if the system has none.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let job = Unmanaged.passRetained(Job(body))
        let failure = preferences_start_thread(
            { Unmanaged<Job>.fromOpaque($0!).takeRetainedValue().body() },
            job.toOpaque()
        )
        if failure != 0 { job.release() }
        return failure == 0
    }
}
