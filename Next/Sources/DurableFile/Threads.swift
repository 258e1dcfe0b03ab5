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
        Thread { body() }.start()
        return true
    }
}

package typealias Lock = Preferences.Lock

/// A value that threads wait for.
package final class Condition<State: Sendable>: @unchecked Sendable {  // the lock guards the state
    package enum Wait<Result> {
        case done(Result)
        case until(Duration?)
    }

    private let condition = NSCondition()
    private var state: State

    package init(_ state: State) { self.state = state }

    package func signal<Result>(_ body: (inout State) -> Result) -> Result {
        condition.withLock {
            defer { condition.broadcast() }
            return body(&state)
        }
    }

    package func withLock<Result>(_ body: (inout State) -> Result) -> Result { condition.withLock { body(&state) } }

    package func wait<Result>(_ body: (inout State) -> Wait<Result>) -> Result {
        condition.withLock {
            while true {
                switch body(&state) {
                case .done(let result): return result
                case .until(nil): condition.wait()
                case .until(let rest?): _ = condition.wait(until: Date(timeIntervalSinceNow: rest / .seconds(1)))
                }
            }
        }
    }
}
