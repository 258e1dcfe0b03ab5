import Foundation

/// The kernel's counts of the calling thread and of the process.
package enum ThreadUsage {
    /// The processor time of the calling thread.
    package static var time: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The largest resident memory that the process had so far, in bytes.
    package static var peakMemory: Int {
        var usage = rusage()
        // RUSAGE_SELF, which Glibc declares with another type than the parameter's.
        getrusage(0, &usage)
        return Int(usage.ru_maxrss) * memoryUnit
    }

    // getrusage(2) of both systems.
    #if canImport(Darwin)
    private static let memoryUnit = 1
    #else
    private static let memoryUnit = 1 << 10
    #endif
}
