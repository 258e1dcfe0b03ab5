internal import DurableFile
internal import Preferences

/// The items of one service in a system's keyring, by their names; the part of a keyring that differs between platforms.
///
/// It is called on one thread at a time, and never on the caller's.
protocol Keyring: Sendable {
    /// Returns all items; throws if none can be read.
    func items(_ call: KeyringCall) throws(PreferenceError) -> KeyringItems

    /// Stores an item's bytes, or removes the item if `bytes` is `nil`.
    ///
    /// - Throws: `outcomeUnknown` if it is unknown whether the item was stored; after any other error nothing was changed.
    func set(_ bytes: [UInt8]?, for name: String, _ call: KeyringCall) throws(PreferenceError)

    /// Calls `body` on any thread when items that were locked may be readable, until the result is released; returns `nil` if the
    /// keyring doesn't notify of that, which is the default.
    func observeUnlocking(_ body: @escaping @Sendable () -> Void) -> (any Sendable)?
}

extension Keyring {
    func observeUnlocking(_ body: @escaping @Sendable () -> Void) -> (any Sendable)? { nil }
}

/// The items of a service.
struct KeyringItems: Sendable {
    /// The bytes of each item that could be read.
    var bytes: [String: [UInt8]] = [:]
    /// The other items, each with the error because of which it can't be read now.
    var locked: [String: PreferenceError] = [:]
}

/// The time limits of a keyring's calls, and the time for which their results count as up to date.
package struct KeyringLimits: Sendable {
    /// The time limit of a call, without the time for a prompt.
    package var call: Duration
    /// The time that the system's prompt waits for the user.
    package var prompt: Duration
    /// The time for which values that were read count as up to date.
    package var timeToLive: Duration
    /// The time after a failed call during which reads don't call again.
    package var pauseAfterFailure: Duration

    package init(
        call: Duration = .seconds(5),
        prompt: Duration = .seconds(60),
        timeToLive: Duration = .seconds(5),
        pauseAfterFailure: Duration = .seconds(60)
    ) {
        self.call = call
        self.prompt = prompt
        self.timeToLive = timeToLive
        self.pauseAfterFailure = pauseAfterFailure
    }
}

/// One call of a keyring, shared by the thread that makes it and the one that waits for it.
final class KeyringCall: Sendable {
    /// Whether the system may ask the user to unlock the keyring.
    let mayPrompt: Bool
    private let limits: KeyringLimits
    private let state: Condition<State>

    private struct State {
        var deadline: ContinuousClock.Instant
        var phase = Phase.waiting
    }

    enum Phase {
        /// Waits for its thread.
        case waiting
        case reading
        /// From now on the call may change something.
        case writing
        case finished
        /// The caller no longer waits, and nothing was changed.
        case givenUp
    }

    init(mayPrompt: Bool, _ limits: KeyringLimits = KeyringLimits()) {
        self.mayPrompt = mayPrompt
        self.limits = limits
        state = Condition(State(deadline: .now + limits.call))
    }

    /// The time by which the call must end; the keyring cancels it then if it can.
    var deadline: ContinuousClock.Instant { state.withLock { $0.deadline } }

    /// Records that the call may change something from now on; returns false if it must not, because the caller has given up.
    func beginWriting() -> Bool {
        state.withLock { state in
            if state.phase == .reading { state.phase = .writing }
            return state.phase == .writing
        }
    }

    /// Runs `body` while the system may show its prompt, with the longer time limit; then the call has its usual limit again.
    func prompting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.signal { $0.deadline = .now + limits.prompt }
        defer { state.signal { $0.deadline = .now + limits.call } }
        return try body()
    }

    // MARK: The two threads

    /// Records that the call begins now; returns false if the caller has given up.
    func begin() -> Bool {
        state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.phase = .reading
            return true
        }
    }

    func finish() { state.signal { $0.phase = .finished } }

    /// Waits until the call is finished, or until the grace period after its deadline is over; returns the call's phase then.
    func wait(grace: Duration) -> Phase {
        state.wait { state in
            if state.phase == .finished { return .done(.finished) }
            let rest = state.deadline + grace - .now
            if rest > .zero { return .until(rest) }
            let phase = state.phase
            if phase != .writing { state.phase = .givenUp }
            return .done(phase)
        }
    }
}

extension PreferenceError {
    /// The error of a call that exceeded its time limit before it changed anything.
    static var keyringLate: PreferenceError {
        PreferenceError(
            .unavailable,
            "the system's keyring did not answer in time; nothing was changed. Try again; if it happens again, find out why its "
                + "service doesn't answer"
        )
    }

    /// Returns the error of a write of which it is unknown whether it was stored.
    static func keyringOutcomeUnknown(_ reason: String) -> PreferenceError {
        PreferenceError(
            .outcomeUnknown,
            "the system's keyring was asked to store this but did not confirm it (\(reason)); load the store and read the "
                + "value again"
        )
    }
}
