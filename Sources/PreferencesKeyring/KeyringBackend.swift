internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A backend over a system's keyring, of which it reads all items at once.
///
/// Each call of the keyring is made on a thread of its own while the caller waits until the deadline. A call that doesn't return in time is
/// left to its thread; until it returns, later calls fail at their own deadlines.
final class KeyringBackend: Backend, @unchecked Sendable {  // used within a turn, except `state`
    private let keyring: any Keyring
    private let limits: KeyringLimits
    /// Runs a body after a time.
    private let later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    /// The items as they were read last; one that is locked now stays as it was.
    private var items: [String: [UInt8]] = [:]
    /// The items that couldn't be read.
    private var lockedItems: [String: PreferenceError] = [:]
    /// The newest call, which might still run if it was given up.
    private var last: KeyringCall?
    /// Notifies of an unlocking, if the keyring does.
    private var observation: (any Sendable)?
    private let state = Lock(State())

    private struct State {
        var host: PreferenceBackendHost?
        /// The locked items that were never read.
        var unread: [String: PreferenceError] = [:]
        /// Until when what was read counts as up to date.
        var freshUntil = ContinuousClock.now
        /// The time until the next try to read what could not be read; nil if there is nothing.
        var pause: Duration?
        var isRetrySet = false
    }

    let place = "the system's keyring"
    /// That of a call with a prompt and of a call that waits behind it.
    var timeout: Duration { limits.prompt + unattendedTimeout }
    var unattendedTimeout: Duration { limits.call * 2 }
    /// A name that is locked has a value, though it shows none: its removal must reach the keyring.
    let storesEqualValues = true
    var isStale: Bool? { state.withLock { $0.freshUntil <= .now } }
    var locked: [String: PreferenceError] { state.withLock { $0.unread } }

    init(
        _ keyring: any Keyring,
        limits: KeyringLimits = KeyringLimits(),
        later: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = {
            Pool.current.run(after: $0, $1)
        }
    ) {
        (self.keyring, self.limits, self.later) = (keyring, limits, later)
    }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
        state.withLock { $0.host = host }
        // Before the first read, so that no unlocking is missed.
        if observation == nil { observation = keyring.observeUnlocking { [weak self] in self?.noteUnlocking() } }
        // A store that could not be opened shows nothing yet.
        items = [:]
        var deadline = deadline
        return try look(until: deadline.start())
    }

    func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges {
        var deadline = deadline
        let changes = try look(until: deadline.start())
        return changes.isEmpty ? .none : .changes([changes])
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        if deadline.isNow { throw PreferenceDeadline.WouldWait() }
        var deadline = deadline
        let changes = try body(try catchUp(until: deadline.start()))
        try store(changes, until: deadline)
    }
}

// MARK: Reading

extension KeyringBackend {
    /// Reads all items, and returns what has changed.
    private func look(until deadline: PreferenceDeadline) throws(PreferenceError) -> [StoredChange] {
        let found: KeyringItems
        do throws(PreferenceError) {
            found = try perform(until: deadline) { (keyring, call) throws(PreferenceError) in try keyring.items(call) }
        } catch {
            state.withLock { state in
                state.freshUntil = .now + limits.pauseAfterFailure
                state.pause = state.pause ?? limits.timeToLive
            }
            retryLater()
            throw error
        }
        let known = items
        items = found.bytes
        for name in found.locked.keys { items[name] = known[name] }
        lockedItems = found.locked
        let unread = found.locked.filter { known[$0.key] == nil }
        state.withLock { state in
            state.freshUntil = .now + limits.timeToLive
            state.unread = unread
            state.pause = found.locked.isEmpty ? nil : state.pause ?? limits.timeToLive
        }
        retryLater()
        let removed = known.keys.filter { items[$0] == nil }.map { StoredChange($0, nil) }
        let changed = found.bytes.filter { known[$0.key] != $0.value }
        return removed + changed.map { StoredChange($0.key, PropertyListValue(ofKeyring: $0.value)) }
    }

    /// Reads what couldn't be read again after a time, less often with each failure: not each keyring notifies when it is unlocked.
    private func retryLater() {
        let pause = state.withLock { state -> Duration? in
            guard !state.isRetrySet, let pause = state.pause else { return nil }
            state.isRetrySet = true
            state.pause = min(pause * 2, limits.pauseAfterFailure)
            return pause
        }
        guard let pause else { return }
        later(pause) { [weak self] in
            self?.state.withLock { state in
                state.isRetrySet = false
                return state.pause == nil ? nil : state.host
            }?.changed()
        }
    }

    /// Handles a notification that items may be readable now: what could not be read is read soon, everything else before it is used.
    private func noteUnlocking() {
        state.withLock { state in
            state.freshUntil = .now
            return state.pause == nil ? nil : state.host
        }?.changed()
    }
}

// MARK: Writing

extension KeyringBackend {
    /// Stores the changes one by one, and rolls back those that were stored if one fails.
    private func store(_ changes: [StoredChange], until deadline: PreferenceDeadline) throws(PreferenceError) {
        var new: [String: [UInt8]?] = [:]
        for change in changes { new.updateValue(try change.value?.bytesOfKeyring(), forKey: change.name) }
        let names = new.keys.sorted()
        for name in names { if let error = lockedItems[name] { throw error.named(name) } }
        var done: [String] = []
        do throws(PreferenceError) {
            for case (let name, let bytes?) in names.map({ ($0, new[$0]) }) where bytes != items[name] {
                try store(bytes, for: name, until: deadline)
                done.append(name)
            }
        } catch {
            if error.code == .outcomeUnknown {
                noteUnknownOutcome()
            } else {
                try rollBack(done, because: error, until: deadline)
            }
            throw error
        }
        for (name, bytes) in new { items[name] = bytes }
    }

    private func rollBack(
        _ names: [String],
        because cause: PreferenceError,
        until deadline: PreferenceDeadline
    ) throws(PreferenceError) {
        for name in names.reversed() {
            do throws(PreferenceError) { try store(items[name], for: name, until: deadline) } catch {
                noteUnknownOutcome()
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

    private func noteUnknownOutcome() { state.withLock { $0.freshUntil = .now } }

    private func store(_ bytes: [UInt8]?, for name: String, until deadline: PreferenceDeadline) throws(PreferenceError)
    {
        try perform(until: deadline) { (keyring, call) throws(PreferenceError) in
            try keyring.set(bytes, for: name, call)
        }
    }
}

// MARK: Calling the keyring

extension KeyringBackend {
    /// Calls the keyring on another thread, and waits until the deadline.
    private func perform<Result: Sendable>(
        until deadline: PreferenceDeadline,
        _ body: @escaping @Sendable (any Keyring, KeyringCall) throws(PreferenceError) -> Result
    ) throws(PreferenceError) -> Result {
        let rest = deadline.remaining
        let limit = min(limits.call, rest)
        let isShort = rest < limits.call
        let late: PreferenceError = isShort ? .keyringBusy : .keyringLate
        if let last, !last.isFinished(within: limit) { throw late }
        // Who has only a short time, as a property that is set, doesn't have the user asked.
        let call = KeyringCall(mayPrompt: rest > unattendedTimeout, within: limit, limits)
        let outcome = Lock<Swift.Result<Result, PreferenceError>?>(nil)
        let isStarted = Pool.startThread { [keyring] in
            let result = Swift.Result { () throws(PreferenceError) in try body(keyring, call) }
            outcome.withLock { $0 = result }
            call.finish()
        }
        guard isStarted else {
            throw PreferenceError(
                .unavailable,
                "no thread can be made for the system's keyring; nothing was changed. Try again"
            )
        }
        last = call
        let phase = call.wait(grace: limit / 10)
        switch outcome.withLock({ $0 }) {
        case .success(let result): return result
        case .failure(let error) where isShort && call.isCancelled && error.code == .unavailable: throw late
        case .failure(let error): throw error
        case nil: throw phase == .writing ? .keyringOutcomeUnknown("it did not return in time") : late
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
