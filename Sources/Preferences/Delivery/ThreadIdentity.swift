internal import CDurableFile

/// The identity of a thread, unique among the threads that run at the same time.
package struct ThreadIdentity: Hashable, Sendable {
    private let value: UInt

    /// The calling thread.
    package static var current: ThreadIdentity {
        ThreadIdentity(value: UInt(bitPattern: c_thread_identity()))
    }

    /// Whether the caller is on the main actor.
    ///
    /// That isn't the same as the main thread: on Linux the main actor of an asynchronous program runs on other threads. Swift has no
    /// public way to ask that doesn't trap.
    static var isOnMainActor: Bool {
        let executor = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UnsafeRawPointer, UInt).self)
        return c_thread_runs_main_actor(executor.0)
    }

    /// Creates an identity for tests, which need no threads.
    init(value: UInt) {
        self.value = value
    }
}

/// The number of changes that led to the work of the current thread, each made by an observer of the one before.
///
/// It belongs to the thread and not to a store, so that feedback between several stores counts, too.
enum FeedbackDepth {
    /// The length of a chain of observers' reactions above which it counts as a loop.
    static var limit: Int { 1000 }

    /// The calling thread's depth; 0 if it isn't reacting to a change.
    static var current: Int { Int(c_thread_answer_depth().pointee & ~bodyBit) }

    /// Whether the calling thread may set anything: it isn't deeper than the limit, and no closure of a call runs on it. One comparison,
    /// because each set asks.
    static var isFree: Bool { c_thread_answer_depth().pointee <= Int64(limit) }

    /// The bit of a thread's number that is set while a closure of a call of a store runs on it, but not in the observers that
    /// this closure calls.
    private static var bodyBit: Int64 { 1 << 40 }

    /// Whether a closure of a call of a store runs on the calling thread.
    static var isRunningBody: Bool { c_thread_answer_depth().pointee & bodyBit != 0 }

    /// Records that a closure of a call of a store begins to run; returns what `endBody` needs.
    static func beginBody() -> Int64 {
        let place = c_thread_answer_depth()
        defer { place.pointee |= bodyBit }
        return place.pointee
    }

    static func endBody(_ before: Int64) { c_thread_answer_depth().pointee = before }

    /// Runs `body` as the reaction to a change of that depth.
    static func reacting(toChangeAt depth: Int, _ body: () -> Void) {
        let place = c_thread_answer_depth()
        let before = place.pointee
        place.pointee = Int64(depth) + 1
        body()
        place.pointee = before
    }
}
