/// A name and its new value; nil removes it.
package struct Change: Sendable {
    package let name: String
    package let value: PropertyListValue?
    /// The node of the name, if that is known, so that its entry needn't be searched.
    unowned(unsafe) let node: Node?

    package init(_ name: String, _ value: PropertyListValue?) { self.init(name, value, nil) }

    init(_ name: String, _ value: PropertyListValue?, _ node: Node?) {
        (self.name, self.value, self.node) = (name, value, node)
    }
}

/// The external changes that a backend has read since the last ones.
package enum Update: Sendable {
    case none
    /// Transactions of others, in their order.
    case changes([[Change]])
    /// Transactions, after which the place has another content: exactly the values of these.
    case contents(after: [[Change]], [Change])
}

/// A place where values are stored. The source calls it within its turn, one call at a time.
package protocol Backend: AnyObject, Sendable {
    /// The place for messages: a path, an address.
    var place: String { get }
    /// Whether a call may wait, for another process or a network.
    var mayWait: Bool { get }
    /// Whether `change` throws `WouldWait` before it waits, if the deadline is now; else a task never tries it on its own thread.
    var saysWhenItWaits: Bool { get }
    /// The longest that a call waits, from its begin to its end.
    var timeout: Duration { get }
    /// Whether a write could be stored now.
    var isWritable: Bool { get }

    /// Opens the place and returns all values. From then on, `changed` is called whenever there may be something new; it returns at once.
    func load(_ changed: @escaping @Sendable () -> Void) throws(PreferenceError) -> Update

    /// Changes the place: while no other process can, passes what others have changed to `body`, and stores the changes that it returns
    /// as one, or nothing if it throws. A place that can't be locked compares and stores, and runs `body` again after a conflict. If the
    /// deadline is now, it throws `WouldWait` before `body` runs, unless it needn't wait.
    func change(until deadline: Deadline, _ body: (Update) throws -> [Change]) throws
}

extension Backend {
    package var mayWait: Bool { true }
    package var saysWhenItWaits: Bool { false }
    package var timeout: Duration { .seconds(5) }
    package var isWritable: Bool { true }
}

/// Keeps nothing but what its source keeps, and rejects what a file would.
final class MemoryBackend: Backend {
    let place = "memory"
    let mayWait = false

    func load(_ changed: @escaping @Sendable () -> Void) -> Update { .none }

    func change(until deadline: Deadline, _ body: (Update) throws -> [Change]) throws {
        try JSONLine.check(try body(.none))
    }
}
