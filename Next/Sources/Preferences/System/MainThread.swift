internal import CPreferences

/// The main actor's executor.
enum MainThread {
    /// Whether the caller is on the main actor.
    ///
    /// That isn't the same as the main thread: on Linux the main actor of an asynchronous program runs on other threads. Swift has no
    /// public way to ask that doesn't trap.
    static var runsMainActor: Bool {
        let executor = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (UnsafeRawPointer, UInt).self)
        return preferences_runs_main_actor(executor.0)
    }
}
