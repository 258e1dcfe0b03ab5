internal import Preferences

/// The items of one service in a system's keyring, by their names; the part of a keyring that differs between platforms.
///
/// It is called by one thread at a time, and never by the caller's.
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
        /// The time by which the call must end; it is cancelled then.
        var deadline: ContinuousClock.Instant
        var phase = Phase.reading
        var isCancelled = false
        var cancel: (@Sendable () -> Void)?
    }

    enum Phase {
        case reading
        /// From now on the call may change something.
        case writing
        case finished
        /// The caller no longer waits, and nothing was changed.
        case givenUp
    }

    /// Creates a call that begins now.
    ///
    /// - Parameter rest: The time that it may take, without a prompt and a write.
    init(mayPrompt: Bool, within rest: Duration, _ limits: KeyringLimits = KeyringLimits()) {
        self.mayPrompt = mayPrompt
        self.limits = limits
        state = Condition(State(deadline: .now + rest))
    }

    /// Whether its time was over before it returned.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Records that the call may change something from now on; returns false if it must not, because the caller has given up.
    ///
    /// It then has its whole time, as otherwise it would be unknown whether it has changed something.
    func beginWriting() -> Bool {
        state.withLock { state in
            guard state.phase == .reading, !state.isCancelled else { return state.phase == .writing }
            (state.phase, state.deadline) = (.writing, .now + limits.call)
            return true
        }
    }

    /// Runs `body`, which `cancel` ends; it is called at the deadline, on another thread.
    func cancelling<Result>(_ cancel: @escaping @Sendable () -> Void, _ body: () -> Result) -> Result {
        let isLate = state.withLock { state in
            state.cancel = cancel
            return state.isCancelled
        }
        if isLate { cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return body()
    }

    /// Runs `body` while the system may show its prompt, with the longer time limit; then the call has its usual limit again.
    func prompting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.signal { $0.deadline = .now + limits.prompt }
        defer { state.signal { $0.deadline = .now + limits.call } }
        return try body()
    }

    // MARK: The two threads

    func finish() { state.signal { $0.phase = .finished } }

    /// Waits until the call is finished, at most until its deadline; then cancels it, and waits for the grace period. Returns its phase.
    func wait(grace: Duration) -> Phase {
        let cancel = state.wait { state -> Condition.Wait<(@Sendable () -> Void)?> in
            if state.phase == .finished { return .done(nil) }
            let rest = state.deadline - .now
            if rest > .zero { return .until(rest) }
            state.isCancelled = true
            return .done(state.cancel)
        }
        cancel?()
        let end = ContinuousClock.now + grace
        return state.wait { state in
            if state.phase == .finished { return .done(.finished) }
            let rest = end - .now
            if rest > .zero { return .until(rest) }
            let phase = state.phase
            if phase == .reading { state.phase = .givenUp }
            return .done(phase)
        }
    }

    /// Waits at most some time until a call that was given up is finished; returns whether it is.
    func isFinished(within duration: Duration) -> Bool {
        let end = ContinuousClock.now + duration
        return state.wait { state in
            if state.phase == .finished { return .done(true) }
            let rest = end - .now
            return rest > .zero ? .until(rest) : .done(false)
        }
    }
}

extension PreferenceError {
    /// The error of a call that could not begin, or end, by the deadline of the store's call.
    static var keyringBusy: PreferenceError {
        PreferenceError(
            .busy,
            "the system's keyring did not answer in the time that was left; nothing was changed. Try again"
        )
    }

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
