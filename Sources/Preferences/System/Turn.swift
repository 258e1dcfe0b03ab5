internal import CPreferences
internal import Synchronization

/// A lock with a deadline that knows the thread that has it.
final class Turn: Sendable {
    private let word = LockWord()
    private let owner = Atomic<UInt>(0)

    /// Whether the calling thread has it.
    var isMine: Bool { owner.load(ordering: .relaxed) == preferences_thread() }

    /// Takes the turn if it is free.
    func tryEnter() -> Bool {
        guard word.tryLock() else { return false }
        return own()
    }

    /// Takes the turn; returns false if the deadline has passed, or at once if the thread has it already.
    func enter(until deadline: PreferenceDeadline) -> Bool {
        guard !isMine, word.lockSlowly(until: deadline) else { return false }
        return own()
    }

    /// Takes the turn if it is free; else its holder's `leave` returns true.
    func enterOrMark() -> Bool { word.lockOrMark() && own() }

    private func own() -> Bool {
        owner.store(preferences_thread(), ordering: .relaxed)
        return true
    }

    /// Returns whether another thread, or this one in its turn, might have left something to do.
    func leave() -> Bool {
        owner.store(0, ordering: .relaxed)
        return word.unlock()
    }
}
