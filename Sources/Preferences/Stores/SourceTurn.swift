internal import DurableFile

/// Whose turn it is at a backend, and what is to be done before the turn is free again.
///
/// Pure: it holds no lock, waits for nobody and calls nobody. `Waiter` is who waits, as the caller knows it.
struct SourceTurn<Waiter> {
    private(set) var holder: ThreadIdentity?
    private var waiting = FirstInFirstOut<Waiter>()
    /// Whether the backend may know of something that the stores don't.
    private var needsRefresh = false

    /// What came of asking for the turn.
    enum Claim {
        case granted
        /// Ask again once the waiter is woken.
        case waiting
        /// The thread has it already and would wait for itself.
        case held
    }

    mutating func claim(by thread: ThreadIdentity, orWait waiter: () -> Waiter) -> Claim {
        guard let holder else {
            self.holder = thread
            return .granted
        }
        guard holder != thread else { return .held }
        waiting.append(waiter())
        return .waiting
    }

    /// Notes that the backend is to be asked for outside changes; true where `thread` has the turn now and is to do it.
    ///
    /// Else who has the turn does it before giving it back. Both are decided in one step, so that no call is lost.
    mutating func requestRefresh(by thread: ThreadIdentity) -> Bool {
        needsRefresh = true
        return claimIfFree(by: thread)
    }

    mutating func claimIfFree(by thread: ThreadIdentity) -> Bool {
        guard holder == nil else { return false }
        holder = thread
        return true
    }

    /// What the holder does next.
    enum Release {
        /// Ask the backend, publish, and release again.
        case refresh
        /// The turn is free; wake this one, who asks again. The turn isn't handed over: that would cost a change of
        /// threads for each set.
        case free(wake: Waiter?)
    }

    mutating func release() -> Release {
        if needsRefresh {
            needsRefresh = false
            return .refresh
        }
        holder = nil
        return .free(wake: waiting.popFirst())
    }
}

extension SourceTurn: Sendable where Waiter: Sendable {}
