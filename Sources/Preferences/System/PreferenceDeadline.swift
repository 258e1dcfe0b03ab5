internal import CPreferences

/// The time at which a call must end, or a period that begins when the call first waits.
public struct PreferenceDeadline: Sendable {
    /// Nanoseconds of a monotonic clock; a period is negative.
    private var end: Int64

    private init(end: Int64) { self.end = end }

    /// The call must not wait at all.
    public static let now = PreferenceDeadline(end: 0)
    static let never = PreferenceDeadline(end: .max)
    /// The longest that a property set waits, 0.1 s.
    static let patience = PreferenceDeadline(end: -100_000_000)

    /// Creates the deadline of a call that begins now.
    public init(after duration: Duration) {
        self = .period(duration)
        _ = start()
    }

    static func period(_ duration: Duration) -> PreferenceDeadline { PreferenceDeadline(end: -duration.nanoseconds) }

    /// Begins the period, unless it has begun; a call that needn't wait never asks for the time.
    package mutating func start() -> PreferenceDeadline {
        if end < 0 { end = preferences_now() - end }
        return self
    }

    /// Whether the call must throw `WouldWait` instead of waiting.
    public var isNow: Bool { end == 0 }

    /// The time that is left, at most three hundred years.
    public var remaining: Duration { .nanoseconds(rest < 0 ? .max : rest) }

    /// The nanoseconds that are left; -1 for ever.
    var rest: Int64 {
        if end == .max { return -1 }
        return end == 0 ? 0 : max(0, end - preferences_now())
    }

    /// The call would have had to wait; it is repeated on a thread that may.
    public struct WouldWait: Error {
        /// Creates the error.
        public init() {}
    }
}

extension Duration {
    /// The whole nanoseconds, at most three hundred years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 9_000_000_000 else { return 9_000_000_000 * 1_000_000_000 }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

/// Blocks the thread for a time.
package func pauseThread(for time: Duration) { FileSystem.system.sleep(nanoseconds: time.nanoseconds) }
