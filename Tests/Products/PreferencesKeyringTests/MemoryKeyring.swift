@testable import Preferences
@testable import PreferencesKeyring

/// A keyring in memory whose calls a test can make fail or hang.
final class MemoryKeyring: Keyring {
    /// The way in which a call fails.
    enum Fault {
        /// The call has no effect.
        case before
        /// The call takes effect, but there is no answer.
        case after
    }

    private struct State {
        var items: [String: [UInt8]] = [:]
        var calls: [String] = []
        var faults: [Int: Fault] = [:]
        var error: PreferenceError?
        var locked: Set<String> = []
        var isHeld = false
        var isWriteHeld = false
        var waiting = 0
    }

    private let state = Condition(State())

    init(_ items: [String: String] = [:]) {
        state.withLock { $0.items = items.mapValues { Array($0.utf8) } }
    }

    /// The items as strings, as another program reads and changes them.
    var texts: [String: String] {
        get { state.withLock { $0.items.mapValues { String(decoding: $0, as: UTF8.self) } } }
        set { state.withLock { $0.items = newValue.mapValues { Array($0.utf8) } } }
    }

    subscript(name: String) -> [UInt8]? {
        get { state.withLock { $0.items[name] } }
        set { state.withLock { $0.items[name] = newValue } }
    }

    /// The calls so far: `items`, with `!` if they may prompt, `set name` and `remove name`.
    var calls: [String] { state.withLock { $0.calls } }

    func forgetCalls() { state.withLock { $0.calls = [] } }

    /// Lets a later call fail, counted from the next one.
    func fail(call number: Int = 0, _ fault: Fault) {
        state.withLock { $0.faults[$0.calls.count + number] = fault }
    }

    /// Lets all calls fail with the error, or none if it is `nil`.
    func failAll(with error: PreferenceError?) { state.withLock { $0.error = error } }

    /// Locks the items of these names alone.
    func lock(_ names: Set<String>) { state.withLock { $0.locked = names } }

    func hold() { state.withLock { $0.isHeld = true } }

    /// Blocks each write after it took effect, before it returns.
    func hangAfterWriting() { state.withLock { $0.isWriteHeld = true } }

    func goOn() { state.signal { ($0.isHeld, $0.isWriteHeld) = (false, false) } }

    /// Waits until a call hangs.
    func waitForCall() { state.wait { $0.waiting > 0 ? .done(()) : .until(nil) } }

    func items(_ call: KeyringCall) throws(PreferenceError) -> KeyringItems {
        try enter(call.mayPrompt ? "items!" : "items") { state in
            let locked = state.locked.intersection(state.items.keys)
            let error = PreferenceError(.unavailable, "a test locked this item; nothing was changed")
            return KeyringItems(
                bytes: state.items.filter { !locked.contains($0.key) },
                locked: Dictionary(uniqueKeysWithValues: locked.map { ($0, error) })
            )
        }
    }

    func set(_ bytes: [UInt8]?, for name: String, _ call: KeyringCall) throws(PreferenceError) {
        let title = bytes == nil ? "remove \(name)" : "set \(name)"
        try enter(title, beginning: call) { $0.items[name] = bytes }
    }

    private func enter<Result>(
        _ title: String,
        beginning call: KeyringCall? = nil,
        _ body: (inout State) -> Result
    ) throws(PreferenceError) -> Result {
        let fault: Fault? = state.signal { state in
            defer { state.calls.append(title) }
            state.waiting += 1
            return state.faults[state.calls.count]
        }
        state.wait { $0.isHeld ? .until(nil) : .done(()) }
        let error = state.withLock { state in
            state.waiting -= 1
            return state.error
        }
        if let error { throw error }
        if fault == .before { throw PreferenceError(.unavailable, "a test made this call fail; nothing was changed") }
        if let call, !call.beginWriting() { throw .keyringLate }
        let result = state.withLock(body)
        if call != nil { state.wait { $0.isWriteHeld ? .until(nil) : .done(()) } }
        if fault == .after {
            throw call == nil
                ? PreferenceError(.unavailable, "a test made this call fail; nothing was changed")
                : .keyringOutcomeUnknown("a test")
        }
        return result
    }
}
