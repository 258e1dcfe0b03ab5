import DurableFile

/// The elements that observers received, in order; any thread can add one.
final class Recorder<Element: Sendable>: Sendable {
    private let recorded = Lock<[Element]>([])

    func record(_ element: Element) {
        recorded.withLock { $0.append(element) }
    }

    var elements: [Element] { recorded.withLock { $0 } }

    /// Removes the elements and returns them.
    func drain() -> [Element] {
        recorded.withLock { recorded in
            defer { recorded = [] }
            return recorded
        }
    }
}
