#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A wait of the calling thread.
package enum Pause {
    /// Lets other threads run for about this long.
    package static func sleep(microseconds: UInt32) {
        usleep(microseconds)
    }
}
