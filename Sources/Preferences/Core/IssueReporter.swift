internal import CPreferences
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

    static var standardHandler: Handler {
        get { standard.withLock { $0.call } }
        set {
            let replaced = standard.withLock { exchange(&$0, with: GuardedHandler(call: newValue)) }
            withExtendedLifetime(replaced) {}
        }
    }

    // MARK: Reporting

    /// The issues that wait for the handler that runs on a thread.
    private final class Running {
        var waiting: [(reporter: IssueReporter, error: PreferenceError, depth: Int)] = []
        /// The number of issues that led to the one that is handled, each raised by the handler of the one before.
        var depth = 0
    }

    /// The length of a chain of issues above which it counts as a loop.
    private static let depthLimit = 1000

    /// Calls the handler, or the default handler if there is none; if a handler runs on this thread, after that has returned.
    func report(_ error: PreferenceError) {
        let thread = preferences_state()
        if let running = thread.pointee.running {
            let running = Unmanaged<Running>.fromOpaque(running).takeUnretainedValue()
            return running.waiting.append((self, error, running.depth + 1))
        }
        let running = Running()
        running.waiting = [(self, error, 0)]
        thread.pointee.running = Unmanaged.passUnretained(running).toOpaque()
        while !running.waiting.isEmpty {
            let (reporter, error, depth) = running.waiting.removeFirst()
            running.depth = depth
            reporter.call(with: error, depth)
        }
        thread.pointee.running = nil
    }

    private func call(with error: PreferenceError, _ depth: Int) {
        // As with observers that answer each other, there has to be an end.
        guard depth <= Self.depthLimit else {
            let loop = PreferenceError(
                .feedbackLoop,
                "issue handlers caused an issue for each issue, \(depth) times; this one goes to the log. Let a handler write to no store",
                cause: error
            )
            return writeToLog(loop.description)
        }
        (currentHandler ?? Self.standardHandler)(error)
    }
}

#if canImport(Darwin)
internal import os

/// Writes a message to the unified log.
func writeToLog(_ message: String) {
    Logger(subsystem: "swift-preferences", category: "issues").error("\(message, privacy: .public)")
}
#else
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Writes a message to standard error as one line.
func writeToLog(_ message: String) {
    var text = "preferences: \(message)\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
#endif
