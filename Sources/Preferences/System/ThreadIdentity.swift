internal import CPreferences

/// The identity of a thread, unique among the threads that run at the same time.
package struct ThreadIdentity: Hashable, Sendable {
    private let value: UInt

    /// The calling thread.
    package static var current: ThreadIdentity { ThreadIdentity(value: preferences_thread()) }

    /// Whether the caller is on the main actor.
    ///
    /// That isn't the same as the main thread: on Linux the main actor of an asynchronous program runs on other threads. Swift has no
    /// public way to ask that doesn't trap.
    static var isOnMainActor: Bool {
        let executor = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UnsafeRawPointer, UInt).self)
        return preferences_runs_main_actor(executor.0)
    }
}
