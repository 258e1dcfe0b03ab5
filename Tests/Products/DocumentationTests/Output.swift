import Synchronization

/// The output of a snippet, whose calls of `print` it records, so that a test can compare it with the document.
final class Output: Sendable {
    private let printed = Mutex<[String]>([])

    var lines: [String] { printed.withLock { $0 } }

    /// Records a line as `Swift.print` would print it; that can't be called with another call's variadic items.
    var print: @Sendable (Any...) -> Void {
        { items in self.printed.withLock { $0.append(items.map { "\($0)" }.joined(separator: " ")) } }
    }
}
