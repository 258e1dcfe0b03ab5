/// Elements that are taken in the order in which they came, each in constant time however many wait.
package struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var first: Element? { head < elements.count ? elements[head] : nil }

    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    package mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        // What was taken is let go of at once, its place when it is worth moving the rest.
        elements[head] = nil
        head += 1
        if head == elements.count {
            removeAll()
        } else if head >= 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    package mutating func removeAll() {
        elements.removeAll(keepingCapacity: elements.capacity <= 64)
        head = 0
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
