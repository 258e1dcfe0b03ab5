import Foundation
import Preferences

/// A stand-in for a database that several programs use, and that one of them can lock.
final class Database: Sendable {
    private struct State {
        var rows: [String: PropertyListValue] = [:]
        var version = 0
        var isLocked = false
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Condition(State())

    func observe(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(changed) } }

    func tryLock() -> Bool { state.withLock { !exchange(&$0.isLocked, with: true) } }

    func unlock() { state.signal { $0.isLocked = false } }

    func waitForUnlock(atMost duration: Duration) { state.wait(atMost: duration) { !$0.isLocked } }

    func read() -> (rows: [String: PropertyListValue], version: Int) { state.withLock { ($0.rows, $0.version) } }

    subscript(name: String) -> PropertyListValue? { state.withLock { $0.rows[name] } }

    /// Returns the new version.
    @discardableResult
    func store(_ changes: [StoredChange]) -> Int {
        let (observers, version) = state.withLock { state in
            for change in changes { state.rows[change.name] = change.value }
            state.version += 1
            return (state.observers, state.version)
        }
        for changed in observers { changed() }
        return version
    }
}

/// A stand-in for a server with a log of all changes, which a test can keep from answering.
final class Server: Sendable {
    private struct State {
        var log: [[StoredChange]] = []
        var observers: [@Sendable () -> Void] = []
        var isSilent = false
        /// The time that a call must have.
        var slowness = Duration.zero
        var waiting = 0
    }

    private let state = Condition(State())

    /// Lets calls wait until it is reachable again, or their time is over.
    func setSilent(_ isSilent: Bool) { state.signal { $0.isSilent = isSilent } }

    /// Lets calls end at once that don't have the time.
    func setSlowness(_ slowness: Duration) { state.withLock { $0.slowness = slowness } }

    /// The number of calls that wait.
    var waiting: Int { state.withLock { $0.waiting } }
    var values: [String: PropertyListValue] { state.withLock { values($0) } }

    func observe(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(changed) } }

    func readAll(within duration: Duration) throws -> (rows: [String: PropertyListValue], revision: Int) {
        try answer(within: duration) { (values($0), $0.log.count) }
    }

    func readChanges(after revision: Int, within duration: Duration) throws -> (log: [[StoredChange]], revision: Int) {
        try answer(within: duration) { (Array($0.log[revision...]), $0.log.count) }
    }

    /// Returns the new revision, or nil if there were changes since.
    func store(_ changes: [StoredChange], ifRevisionIs revision: Int, within duration: Duration) throws -> Int? {
        let stored: (revision: Int, observers: [@Sendable () -> Void])? = try answer(within: duration) { state in
            guard state.log.count == revision else { return nil }
            state.log.append(changes)
            return (state.log.count, state.observers)
        }
        for changed in stored?.observers ?? [] { changed() }
        return stored?.revision
    }

    private func answer<Result>(within duration: Duration, _ body: (inout State) -> Result) throws -> Result {
        state.withLock { $0.waiting += 1 }
        defer { state.withLock { $0.waiting -= 1 } }
        let hasTime = state.withLock { duration >= $0.slowness }
        guard hasTime, state.wait(atMost: duration, until: { !$0.isSilent }) else {
            throw PreferenceError(.busy, "the server didn't answer in time; nothing was changed. Try again")
        }
        return state.withLock(body)
    }

    private func values(_ state: State) -> [String: PropertyListValue] {
        state.log.joined().reduce(into: [:]) { $0[$1.name] = $1.value }
    }
}

extension Condition {
    /// Waits until the state fulfils a condition; returns false if it doesn't within the time.
    @discardableResult
    func wait(atMost duration: Duration, until isFulfilled: (State) -> Bool) -> Bool {
        let end = ContinuousClock.now + min(duration, .seconds(1_000_000))
        return wait { state in
            if isFulfilled(state) { return .done(true) }
            let rest = end - ContinuousClock.now
            return rest > .zero ? .until(rest) : .done(false)
        }
    }
}
