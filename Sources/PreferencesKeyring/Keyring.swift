internal import DurableFile
internal import Preferences

/// The items of one service in a system's keyring, by their names; the part of a keyring that differs between platforms.
///
/// Called on one thread at a time, which is never the caller's.
protocol Keyring: Sendable {
    /// Returns the bytes of each item.
    func items(_ call: KeyringCall) throws(PreferencesError) -> [String: [UInt8]]

    /// Stores an item's bytes, or removes the item if `bytes` is `nil`.
    ///
    /// - Throws: `outcomeUnknown` if it can't be told whether that was done; after any other error nothing was changed.
    func set(_ bytes: [UInt8]?, for name: String, _ call: KeyringCall) throws(PreferencesError)
}

/// How long the calls of a keyring may take, and how long what they returned is up to date.
package struct KeyringLimits: Sendable {
    /// How long a call may take without the time for a prompt.
    package var call: Duration
    /// How long the system's prompt waits for the user.
    package var prompt: Duration
    /// How long values that were read are taken for up to date.
    package var timeToLive: Duration
    /// How long after a failed call reads do without another.
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
        /// Not begun.
        case waiting
        case reading
        /// From here on something may be changed.
        case writing
        case finished
        /// The caller waits no longer, and nothing was changed.
        case givenUp
    }

    init(mayPrompt: Bool, _ limits: KeyringLimits = KeyringLimits()) {
        self.mayPrompt = mayPrompt
        self.limits = limits
        state = Condition(State(deadline: .now + limits.call))
    }

    /// By when the call must end, in which the keyring cancels what can be cancelled.
    var deadline: ContinuousClock.Instant { state.withLock { $0.deadline } }

    /// Notes that from here on something may be changed; false if nothing must be, as the caller has given up and was told so.
    func beginWriting() -> Bool {
        state.withLock { state in
            if state.phase == .reading { state.phase = .writing }
            return state.phase == .writing
        }
    }

    /// Runs `body` while the system's prompt may be shown, which has more time; then the call has its own time again.
    func prompting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.signal { $0.deadline = .now + limits.prompt }
        defer { state.signal { $0.deadline = .now + limits.call } }
        return try body()
    }

    // MARK: The two threads

    /// Notes that the call begins now; false if the caller has given up.
    func begin() -> Bool {
        state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.phase = .reading
            return true
        }
    }

    func finish() { state.signal { $0.phase = .finished } }

    /// Waits until the call is finished or the deadline is over by a grace; returns the phase in which the call is then.
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

extension PreferencesError {
    /// The error of a call that did not end in its time, before it changed anything.
    static var keyringLate: PreferencesError {
        PreferencesError(
            .unavailable,
            "the system's keyring did not answer in time; nothing was changed. Try again, and find out what its service is doing "
                + "if that goes on"
        )
    }

    /// The error of a write of which it can't be told whether it was done.
    static func keyringOutcomeUnknown(_ reason: String) -> PreferencesError {
        PreferencesError(
            .outcomeUnknown,
            "the system's keyring was asked to store this and did not say that it did (\(reason)); refresh the store and read the "
                + "value again"
        )
    }
}
