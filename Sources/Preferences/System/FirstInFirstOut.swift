/// A queue whose operations take constant time (amortized), whatever its length.
struct FirstInFirstOut<Element> {
    private var slots: [Element?] = []
    private var head = 0

    init() {}

    var count: Int { slots.count - head }
    var first: Element? { head < slots.count ? slots[head] : nil }

    /// The elements, oldest first.
    var elements: [Element] { slots[head...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        // Releases the element at once, and its slot when enough slots are free to make moving the rest worthwhile.
        slots[head] = nil
        head += 1
        if head == slots.count {
            removeAll()
        } else if head >= 64, head * 2 > slots.count {
            slots.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes the first element for which `isRemoved` is true, and returns it.
    mutating func removeFirst(where isRemoved: (Element) -> Bool) -> Element? {
        let index = slots[head...].firstIndex { $0.map(isRemoved) ?? false }
        return index.flatMap { slots.remove(at: $0) }
    }

    mutating func removeAll() {
        slots.removeAll(keepingCapacity: slots.capacity <= 64)
        head = 0
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
