internal import CDurableFile

/// Tells threads that run at the same time apart.
package struct ThreadIdentity: Hashable, Sendable {
    private let value: UInt

    /// The thread that asks.
    package static var current: ThreadIdentity {
        ThreadIdentity(value: UInt(bitPattern: c_thread_identity()))
    }

    /// Whether this is the thread that the process began with.
    ///
    /// A main-actor job may run elsewhere (on Linux after `dispatchMain()`), so false doesn't mean off the main actor.
    package static var isMain: Bool { c_thread_is_main() }

    /// An identity for tests, which need no threads.
    package init(value: UInt) {
        self.value = value
    }
}
