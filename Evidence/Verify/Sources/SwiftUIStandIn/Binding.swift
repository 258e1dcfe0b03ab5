public import Observation

/// A mock of SwiftUI's binding: a current value, the location from which it was read, and the transaction for the updates that a set
/// causes. As in OpenSwiftUI, which follows SwiftUI's binaries.
@propertyWrapper
public struct Binding<Value>: DynamicProperty {
    let location: Location<Value>
    /// The value at the time when the binding was created or updated, which a body reads.
    private var value: Value
    public var transaction = Transaction()

    init(_ location: Location<Value>) {
        self.location = location
        value = location.get()
    }

    @preconcurrency
    public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void
    ) {
        self.init(FunctionLocation(get, set))
    }

    public var wrappedValue: Value {
        get { Evaluation.isRunning ? value : location.get() }
        nonmutating set { location.set(newValue, transaction) }
    }

    public var projectedValue: Binding<Value> { self }

    public func animation(_ animation: Animation? = .default) -> Binding<Value> {
        var binding = self
        binding.transaction.animation = animation
        return binding
    }

    public mutating func update() { value = location.get() }

    /// Returns whether SwiftUI would consider the two equal, and so not evaluate a view again that has one for the other.
    public func isEqual(to other: Binding) -> Bool {
        location.isEqual(to: other.location) && transaction == other.transaction && areEqual(value, other.value)
    }
}

extension Binding: @unchecked Sendable where Value: Sendable {}  // as SwiftUI's

/// The location that a binding reads and sets.
class Location<Value> {
    func get() -> Value { preconditionFailure("a location of no kind") }
    func set(_ value: Value, _ transaction: Transaction) { preconditionFailure("a location of no kind") }
    func isEqual(to other: Location<Value>) -> Bool { self === other }
}

/// Two functions, which SwiftUI compares by their contexts: those created in two evaluations of a body differ.
private final class FunctionLocation<Value>: Location<Value> {
    private let body: @Sendable () -> Value
    private let setBody: @Sendable (Value, Transaction) -> Void

    init(
        _ get: @escaping @isolated(any) @Sendable () -> Value,
        _ set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void
    ) {
        body = unsafeBitCast(get, to: (@Sendable () -> Value).self)
        setBody = unsafeBitCast(set, to: (@Sendable (Value, Transaction) -> Void).self)
    }

    override func get() -> Value { body() }
    override func set(_ value: Value, _ transaction: Transaction) { setBody(value, transaction) }
}

/// An object and a key path.
private final class ObjectLocation<Root: AnyObject, Value>: Location<Value> {
    private let root: Root
    private let keyPath: ReferenceWritableKeyPath<Root, Value>

    init(_ root: Root, _ keyPath: ReferenceWritableKeyPath<Root, Value>) {
        self.root = root
        self.keyPath = keyPath
    }

    override func get() -> Value { root[keyPath: keyPath] }
    override func set(_ value: Value, _ transaction: Transaction) {
        withTransaction(transaction) { root[keyPath: keyPath] = value }
    }
    override func isEqual(to other: Location<Value>) -> Bool {
        guard let other = other as? ObjectLocation else { return false }
        return root === other.root && keyPath == other.keyPath
    }
}

/// A mock of SwiftUI's wrapper: creates bindings to the properties of an observable object.
@propertyWrapper
@dynamicMemberLookup
public struct Bindable<Value: AnyObject & Observable> {
    public var wrappedValue: Value

    public init(_ wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public var projectedValue: Bindable<Value> { self }

    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding(ObjectLocation(wrappedValue, keyPath))
    }
}

public struct Animation: Hashable, Sendable {
    public static let `default` = Animation()
}

/// The data that accompanies an update.
public struct Transaction: Equatable {
    public var animation: Animation?
    @TaskLocal static var current: Animation?

    public init(animation: Animation? = nil) {
        self.animation = animation
    }
}

public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
    try Transaction.$current.withValue(transaction.animation, operation: body)
}
