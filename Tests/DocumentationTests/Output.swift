import Synchronization

/// Takes the place of `print` in a snippet, so that a test can compare what it prints with what the document shows.
final class Output: Sendable {
    private let printed = Mutex<[String]>([])

    var lines: [String] { printed.withLock { $0 } }

    /// As `Swift.print`, which can't be called with the items of another call.
    var print: @Sendable (Any...) -> Void {
        { items in self.printed.withLock { $0.append(items.map { "\($0)" }.joined(separator: " ")) } }
    }
}
