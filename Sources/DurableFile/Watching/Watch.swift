/// The watching of one file, which ends with the last reference to it.
package final class Watch: Sendable {
    private let watcher: Watcher
    private let number: Int

    init(_ watcher: Watcher, _ number: Int) {
        self.watcher = watcher
        self.number = number
    }

    deinit { watcher.cancel(number) }
}

/// What a watched file's owner is told.
package enum WatchEvent: Equatable, Sendable {
    /// Something happens to it.
    case touched
    /// Nothing has happened for a moment; `isWhole` where all of a large file has to be compared.
    case settled(isWhole: Bool)
}

/// What a watched file's owner found.
package struct WatchFinding: Sendable {
    /// Whether the file is missing or empty.
    package var isBlank: Bool
    /// Whether there is something to notify of.
    package var isNews: Bool

    package init(isBlank: Bool, isNews: Bool) {
        self.isBlank = isBlank
        self.isNews = isNews
    }
}
