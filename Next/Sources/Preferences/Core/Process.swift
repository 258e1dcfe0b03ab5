internal import CPreferences

/// The threads of one process: a child of `fork` gets its own, and opens its own stores.
final class Process: @unchecked Sendable {  // constants
    /// Guards what is one for all: the newest process, the list of the publish locks, and which of them lead where. Taken before a publish
    /// lock, never under one.
    static let lock = Lock<Void>(())

    private let generation = preferences_generation()
    let pool = Pool()

    nonisolated(unsafe) private static var newest: Process?

    /// Registers the handlers once.
    private static let handlers: Void = preferences_handle_forks({ PublishLock.lockAll() }, { PublishLock.unlockAll() })

    /// The one that the process which calls has.
    static var current: Process {
        _ = handlers
        return lock.withLock { _ in
            if let newest, newest.generation == preferences_generation() { return newest }
            // A parent's stays, as its threads would use it.
            if let newest { _ = Unmanaged.passRetained(newest) }
            let process = Process()
            newest = process
            return process
        }
    }
}
