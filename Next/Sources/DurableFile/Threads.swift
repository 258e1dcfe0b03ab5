// The parts of the replaced module that tests use.

import Foundation
@_exported import Preferences

#if canImport(Glibc)
@_exported import Glibc
#else
@_exported import Darwin
#endif

package enum Pause {
    package static func sleep(microseconds: UInt32) { usleep(microseconds) }
}

package enum WorkerQueue {
    /// Runs `body` on a new thread.
    package static func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        Pool.startThread(body)
    }
}

package typealias Lock = Preferences.Lock

package typealias Condition = Preferences.Condition
