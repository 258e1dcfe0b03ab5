internal import CDurableFile

/// Tells threads that run at the same time apart.
struct ThreadIdentity: Hashable, Sendable {
    private let value: UInt

    /// The thread that asks.
    static var current: ThreadIdentity {
        ThreadIdentity(value: UInt(bitPattern: c_thread_identity()))
    }

    /// Whether the caller is on the main actor.
    ///
    /// That is not the main thread: on Linux the main actor of an asynchronous program runs on others. Swift has no public
    /// way to ask without trapping.
    static var isOnMainActor: Bool {
        let executor = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UnsafeRawPointer, UInt).self)
        return c_thread_runs_main_actor(executor.0)
    }

    /// An identity for tests, which need no threads.
    init(value: UInt) {
        self.value = value
    }
}

/// How many changes led to what a thread does just now, each set in answer to the one before.
///
/// It goes with the thread and not with what it delivers, so that answers which go to and fro between several places
/// count as well.
enum AnswerDepth {
    /// How often observers may set in answer to a change that was set in answer to … before it is called a loop.
    static var limit: Int { 1000 }

    /// The calling thread's; 0 where it answers nothing.
    static var current: Int { Int(c_thread_answer_depth().pointee) }

    /// Runs `body` as the answer to a change of that depth.
    static func answering(_ depth: Int, _ body: () -> Void) {
        let place = c_thread_answer_depth()
        let before = place.pointee
        place.pointee = Int64(depth) + 1
        body()
        place.pointee = before
    }
}
