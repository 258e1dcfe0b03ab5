import DurableFile

/// What observers saw, in order; any thread may add.
final class Recorder<Element: Sendable>: Sendable {
    private let recorded = Lock<[Element]>([])

    func record(_ element: Element) {
        recorded.withLock { $0.append(element) }
    }

    var elements: [Element] { recorded.withLock { $0 } }
}
