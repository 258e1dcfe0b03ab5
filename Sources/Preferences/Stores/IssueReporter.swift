internal import DurableFile
internal import Synchronization

/// The handler of a store for errors that can't be thrown.
package final class IssueReporter: Sendable {
    typealias Handler = @Sendable (PreferenceError) -> Void

    /// Distinguishes reporters, also from an earlier one at the same address; never zero.
    let id = count.wrappingAdd(1, ordering: .relaxed).newValue
    private let guarded = Lock<GuardedHandler?>(nil)
    private static let count = Atomic<UInt64>(0)
    private static let standard = Lock(GuardedHandler { writeToLog($0.description) })

    /// A handler as the state of a lock. Each use of a bare function there would wrap it in two more functions.
    private struct GuardedHandler {
        let call: Handler
    }

    func setHandler(_ handler: Handler?) {
        let replaced = guarded.withLock { exchange(&$0, with: handler.map(GuardedHandler.init)) }
        // Releasing a handler may release the last reference to anything, so it is not done under the lock.
        withExtendedLifetime(replaced) {}
    }

    var currentHandler: Handler? { guarded.withLock { $0?.call } }
    var hasHandler: Bool { currentHandler != nil }

    /// An issue, queued until the handler that is running on its thread returns.
    private struct Report: Sendable {
        let error: PreferenceError
        let reporters: [IssueReporter]
        /// The number of issues that led to this one, each raised by the handler of the one before.
        var depth = 0
    }

    /// The descriptions of the issues that are reported once and were reported.
    private let reported = Lock<Set<String>>([])

    /// Returns whether an issue that is reported once was not reported yet, and records that it is now.
    func noteReported(_ issue: PreferenceError) -> Bool {
        let description = issue.description
        return reported.withLock { $0.insert(description).inserted }
    }

    /// The threads that are running a handler, each with the issue being handled and those raised on the thread since then.
    private static let running = Lock<[ThreadIdentity: FirstInFirstOut<Report>]>([:])

    /// Calls the handlers of the reporters with an issue, or the default handler if they have none.
    ///
    /// If a handler is running on this thread, the issue is queued until that handler returns.
    static func report(_ error: PreferenceError, to reporters: [IssueReporter]) {
        let thread = ThreadIdentity.current
        let isNested = running.withLock { running in
            let depth = running[thread]?.first.map { $0.depth + 1 }
            running[thread, default: FirstInFirstOut()].append(
                Report(error: error, reporters: reporters, depth: depth ?? 0)
            )
            return depth != nil
        }
        if isNested { return }
        while let report = running.withLock({ $0[thread]?.first }) {
            call(with: report)
            // An issue stays first in the queue until it has been handled. It is released without the lock.
            let handled = running.withLock { running in
                let handled = running[thread]?.popFirst()
                if running[thread]?.first == nil { running[thread] = nil }
                return handled
            }
            withExtendedLifetime(handled) {}
        }
    }

    // MARK: Forking

    static func take() -> Bool {
        guard running.take() else { return false }
        if standard.take() { return true }
        running.release(inChild: false)
        return false
    }

    static func release(inChild: Bool) {
        standard.release(inChild: inChild)
        running.release(inChild: inChild)
    }

    /// Forgets the handlers that run on threads of the parent, whose identities new threads may get.
    static func forgetThreads() {
        running.withLock { running in
            if !running.isEmpty { running = running.filter { $0.key == .current } }
        }
    }

    private static func call(with report: Report) {
        // As with observers that answer each other, there has to be an end.
        guard report.depth <= FeedbackDepth.limit else {
            let error = PreferenceError(
                .feedbackLoop,
                "issue handlers caused an issue for each issue, \(report.depth) times; this one goes to the log. Let a handler write to no store",
                cause: report.error
            )
            return writeToLog(error.description)
        }
        let handlers = report.reporters.compactMap(\.currentHandler)
        for handler in handlers.isEmpty ? [standardHandler] : handlers { handler(report.error) }
    }

    static var standardHandler: Handler {
        get { standard.withLock { $0.call } }
        set {
            let replaced = standard.withLock { exchange(&$0, with: GuardedHandler(call: newValue)) }
            withExtendedLifetime(replaced) {}
        }
    }
}

#if !canImport(Darwin)
internal import DurableFile

/// Writes a message to standard error as one line.
func writeToLog(_ message: String) {
    StandardError.write("preferences: \(message)\n")
}
#endif

#if canImport(Darwin)
internal import os

/// Writes a message to the unified log.
func writeToLog(_ message: String) {
    Logger(subsystem: "swift-preferences", category: "issues").error("\(message, privacy: .public)")
}
#endif
