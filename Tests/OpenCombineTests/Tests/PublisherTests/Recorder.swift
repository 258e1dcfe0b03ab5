import Synchronization

/// The values that subscribers received, in order; any thread may add.
final class Recorder<Element: Sendable>: Sendable {
    private let recorded = Mutex<[Element]>([])

    func record(_ element: Element) {
        recorded.withLock { $0.append(element) }
    }

    var elements: [Element] { recorded.withLock { $0 } }
}
