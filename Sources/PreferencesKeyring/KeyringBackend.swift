internal import DurableFile
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A backend over a system's keyring with a cache in memory, which is read again when it is stale.
///
/// The keyring is called on a thread of the library, one call at a time. A call that doesn't return in time is left to that thread:
/// calls that wait behind it fail at their own deadlines, and nothing else waits.
final class KeyringBackend: PreferenceBackend {
    private let keyring: any Keyring
    private let limits: KeyringLimits
    private let worker = WorkerQueue(hasOwnThread: true)
    /// Marks the cache as stale after a time, and tries again to read a keyring that could not be read.
    private let timer: WorkerQueue
    private let state = Lock(State())

    private struct Item {
        var bytes: [UInt8]
        /// The value that the store shows for the bytes: the one that it set, whose type may differ from the one that a read gives.
        var value: PropertyListValue
    }

    private struct State {
        var host: PreferenceBackendHost?
        var items: [String: Item] = [:]
        /// The items that existed at the last read and could not be read, each with the reason.
        var locked: [String: PreferenceError] = [:]
        /// The names of those of them that were reported.
        var reportedLocked: Set<String> = []
        /// Notifies of an unlocking, if the keyring does.
        var observation: (any Sendable)?
        /// Whether the store has the items, so that changes are passed on.
        var isLoaded = false
        var isStale = true
        var isTimerSet = false
        /// Whether a failed read was reported and no read has succeeded since.
        var isReported = false
        /// The time until the next try to read the items, after a failure.
        var retryPause: Duration?
        var isRetrySet = false
        /// Whether such a try is under way; no caller waits for it, so it must not prompt.
        var isRetrying = false
        /// The error of a call that used up its time: the store's call with this deadline must not wait for another.
        var failure: (deadline: ContinuousClock.Instant, error: PreferenceError)?

        /// Whether there are, or may be, items that were not read yet.
        var isUnreadLeft: Bool { !isLoaded || !locked.isEmpty }
    }

    init(
        _ keyring: any Keyring,
        limits: KeyringLimits = KeyringLimits(),
        timer: WorkerQueue = WorkerQueue(isBlocking: true)
    ) {
        self.keyring = keyring
        self.limits = limits
        self.timer = timer
    }

    /// False, because a keyring doesn't notify of changes: its values are requested again after a time.
    let listsAllNames = false

    /// The time limit of a call with a prompt and of a call that waits behind it.
    var timeout: Duration? { limits.prompt + limits.call * 2 }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        let (isRetrying, isObserving) = state.withLock { state in
            state.host = host
            return (state.isRetrying, state.observation != nil)
        }
        if !isObserving {
            // Before the first read, so that no unlocking is missed. Called with the turn, so by one thread at a time.
            let observation = keyring.observeUnlocking { [weak self] in self?.noteUnlocking() }
            state.withLock { $0.observation = observation }
        }
        try look(mayPrompt: !isRetrying)
        return state.withLock { state in
            state.isLoaded = true
            return state.items.mapValues(\.value)
        }
    }

    func catchUp() throws(PreferenceError) { try look(mayPrompt: !state.withLock { $0.isRetrying }) }

    /// Reads all items if they are stale, and passes the differences on; keeps the cached items if that fails.
    func values(for names: Set<String>) -> [String: PropertyListValue] {
        let (shown, isStale) = state.withLock { state in
            (names.reduce(into: [String: PropertyListValue]()) { $0[$1] = state.items[$1]?.value }, state.isStale)
        }
        if isStale {
            do throws(PreferenceError) {
                try look(mayPrompt: false)
            } catch {
                setTimer(limits.pauseAfterFailure)
                if !state.withLock({ exchange(&$0.isReported, with: true) }) {
                    state.withLock { $0.host }?.report(error)
                }
            }
        }
        reportLocked(among: names)
        return shown
    }

    func failure(of name: String) -> PreferenceError? {
        state.withLock { $0.items[name] == nil ? $0.locked[name] : nil }
    }

    var lockedNames: Set<String> { state.withLock { Set($0.locked.keys) } }

    /// Reports the names in use whose items are locked, once each until they can be read.
    private func reportLocked(among names: Set<String>) {
        let (host, errors) = state.withLock { state -> (PreferenceBackendHost?, [PreferenceError]) in
            guard !state.locked.isEmpty else { return (nil, []) }
            let errors = names.sorted().compactMap { name -> PreferenceError? in
                guard state.items[name] == nil, let error = state.locked[name] else { return nil }
                return state.reportedLocked.insert(name).inserted ? error.named(name) : nil
            }
            return (state.host, errors)
        }
        for error in errors { host?.report(error) }
    }

    /// Stores the changes one by one, and rolls back those that were stored if one fails.
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        do throws(PreferenceError) {
            let new = try encoded(changes)
            try look(mayPrompt: true)
            let old = state.withLock { $0.items }
            try checkUnlocked(changes, condition)
            let isStored = condition.holds(for: old.mapValues(\.value))
            if isStored {
                try store(new.filter { $0.value != old[$0.key]?.bytes }, over: old)
                state.withLock { state in
                    for (name, bytes) in new {
                        state.items[name] = bytes.flatMap { bytes in
                            changes[name].flatMap(\.self).map { Item(bytes: bytes, value: $0) }
                        }
                    }
                }
            }
            return PreferenceBackendCommit(isStored: isStored)
        } catch {
            if error.code == .outcomeUnknown {
                let host = state.withLock { state in
                    state.isStale = true
                    return state.host
                }
                host?.outdated()
            }
            throw error
        }
    }
}

// MARK: Reading

extension KeyringBackend {
    /// Throws if an item that changes, or on whose value the changes depend, can't be read.
    private func checkUnlocked(
        _ changes: [String: PropertyListValue?],
        _ condition: PreferenceCondition
    ) throws(PreferenceError) {
        let locked = state.withLock { $0.locked }
        let found = locked.keys.sorted().first { name in
            changes[name] != nil || condition.values[name] != nil
                || condition.isComplete && name.hasPrefix(condition.prefix)
        }
        if let found, let error = locked[found] { throw error.named(found) }
    }

    /// Reads all items, and passes the differences on; what can't be read is tried again after a time.
    private func look(mayPrompt: Bool) throws(PreferenceError) {
        let found: KeyringItems
        do throws(PreferenceError) {
            found = try perform(mayPrompt: mayPrompt) { (keyring, call) throws(PreferenceError) in
                try keyring.items(call)
            }
        } catch {
            if state.withLock(\.isUnreadLeft) { retryLater() }
            throw error
        }
        state.withLock { state in
            var changes: [String: PropertyListValue?] = [:]
            // An item that is locked now keeps the value that it had.
            for name in state.items.keys where found.bytes[name] == nil && found.locked[name] == nil {
                state.items[name] = nil
                changes.updateValue(nil, forKey: name)
            }
            for (name, bytes) in found.bytes where state.items[name]?.bytes != bytes {
                let value = PropertyListValue(ofKeyring: bytes)
                state.items[name] = Item(bytes: bytes, value: value)
                changes.updateValue(value, forKey: name)
            }
            if state.isLoaded { state.host?.collect(changes) }
            state.isReported = false
            state.locked = found.locked
            state.reportedLocked = state.reportedLocked.filter { found.locked[$0] != nil }
        }
        setTimer(limits.timeToLive)
        if found.locked.isEmpty { state.withLock { $0.retryPause = nil } } else { retryLater() }
    }

    /// Marks the values as up to date, or as usable after a failure, for some time.
    private func setTimer(_ time: Duration) {
        let isNew = state.withLock { state in
            state.isStale = false
            return !exchange(&state.isTimerSet, with: true)
        }
        guard isNew else { return }
        // If the timer is already set, it fires earlier.
        timer.run(after: time) { [weak self] in
            let host = self?.state.withLock { state in
                (state.isStale, state.isTimerSet) = (true, false)
                return state.host
            }
            host?.outdated()
        }
    }
}

// MARK: Trying again

extension KeyringBackend {
    /// Reads the items again after a time, less often with each failure: not each keyring says when it is unlocked.
    private func retryLater() {
        let pause = state.withLock { state -> Duration? in
            guard !state.isRetrySet else { return nil }
            state.isRetrySet = true
            let pause = min(state.retryPause.map { $0 * 2 } ?? limits.timeToLive, limits.pauseAfterFailure)
            state.retryPause = pause
            return pause
        }
        if let pause { timer.run(after: pause) { [weak self] in self?.retry() } }
    }

    private func retry() {
        let isUnreadLeft = state.withLock { state in
            state.isRetrySet = false
            return state.isUnreadLeft
        }
        if isUnreadLeft { readAgain() }
    }

    /// Handles a notification that items may be readable now.
    ///
    /// Items that can't be read so far are read soon, on another thread, because the program's main thread may post the notification;
    /// everything else is read before it is used.
    private func noteUnlocking() {
        let (host, isAnyLocked) = state.withLock { state in
            state.isStale = true
            return (state.host, state.isUnreadLeft || state.isReported)
        }
        host?.outdated()
        if isAnyLocked { timer.run { [weak self] in self?.readAgain() } }
    }

    /// Has the store load the items, or read them again, and notify observers. No caller waits for it, so the keyring must not prompt.
    private func readAgain() {
        let host = state.withLock { state in
            state.isRetrying = true
            return state.host
        }
        host?.changed()
        state.withLock { $0.isRetrying = false }
    }
}

// MARK: Writing

extension KeyringBackend {
    private func encoded(
        _ changes: [String: PropertyListValue?]
    ) throws(PreferenceError) -> [String: [UInt8]?] {
        var encoded: [String: [UInt8]?] = [:]
        for (name, value) in changes { encoded.updateValue(try value?.bytesOfKeyring(), forKey: name) }
        return encoded
    }

    private func store(_ changes: [String: [UInt8]?], over old: [String: Item]) throws(PreferenceError) {
        var done: [String] = []
        for (name, bytes) in changes.sorted(by: { $0.key < $1.key }) {
            do throws(PreferenceError) {
                try store(bytes, for: name)
            } catch {
                if error.code != .outcomeUnknown { try rollBack(done, to: old, because: error) }
                throw error
            }
            done.append(name)
        }
    }

    private func rollBack(
        _ names: [String],
        to old: [String: Item],
        because cause: PreferenceError
    ) throws(PreferenceError) {
        for name in names.reversed() {
            do throws(PreferenceError) {
                try store(old[name]?.bytes, for: name)
            } catch {
                throw PreferenceError(
                    .outcomeUnknown,
                    name: name,
                    "a part of the changes is stored in the system's keyring: one failed, and those before it could not be rolled "
                        + "back; load the store and read the values again",
                    cause: cause
                )
            }
        }
    }

    private func store(_ bytes: [UInt8]?, for name: String) throws(PreferenceError) {
        try perform(mayPrompt: true) { (keyring, call) throws(PreferenceError) in
            try keyring.set(bytes, for: name, call)
        }
    }
}

// MARK: Calling the keyring

extension KeyringBackend {
    /// Calls the keyring on its thread, and waits until the deadline.
    private func perform<Result: Sendable>(
        mayPrompt: Bool,
        _ body: @escaping @Sendable (any Keyring, KeyringCall) throws(PreferenceError) -> Result
    ) throws(PreferenceError) -> Result {
        let deadline = state.withLock { $0.host }?.deadline()
        if let failure = state.withLock({ $0.failure }), failure.deadline == deadline { throw failure.error }
        let call = KeyringCall(mayPrompt: mayPrompt, limits)
        let outcome = Lock<Swift.Result<Result, PreferenceError>?>(nil)
        worker.run { [keyring] in
            guard call.begin() else { return }
            let result = Swift.Result { () throws(PreferenceError) in try body(keyring, call) }
            outcome.withLock { $0 = result }
            call.finish()
        }
        do throws(PreferenceError) {
            // A keyring that can cancel its call ends it by the deadline.
            let phase = call.wait(grace: limits.call / 10)
            if let result = outcome.withLock({ $0 }) { return try result.get() }
            throw phase == .writing ? .keyringOutcomeUnknown("it did not return in time") : .keyringLate
        } catch {
            if let deadline, call.deadline <= .now { state.withLock { $0.failure = (deadline, error) } }
            throw error
        }
    }
}

// MARK: Values as bytes

extension PropertyListValue {
    /// Creates the value of an item: a string, which the declaration's type converts, or data if the bytes aren't UTF-8.
    fileprivate init(ofKeyring bytes: [UInt8]) {
        self = String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .data(Data(bytes))
    }

    /// Returns the bytes of an item: the text of a string, and the preferences file's text of any other value.
    fileprivate func bytesOfKeyring() throws(PreferenceError) -> [UInt8] {
        if case .string(let text) = self { return Array(text.utf8) }
        return Array(try json().utf8)
    }
}
