/// Stands in for SwiftUI's: a value that is read and set elsewhere, with the transaction for what a set updates.
@propertyWrapper
public struct Binding<Value> {
    private let get: @isolated(any) @Sendable () -> Value
    private let set: @isolated(any) @Sendable (Value, Transaction) -> Void
    public var transaction = Transaction()

    @preconcurrency
    public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value, Transaction) -> Void
    ) {
        self.get = get
        self.set = set
    }

    public var wrappedValue: Value {
        get { unisolated(get)() }
        nonmutating set {
            typealias Set = @Sendable (Value, Transaction) -> Void
            unsafeBitCast(set, to: Set.self)(newValue, transaction)
        }
    }

    public var projectedValue: Binding<Value> { self }

    public func animation(_ animation: Animation?) -> Binding<Value> {
        var binding = self
        binding.transaction.animation = animation
        return binding
    }

    private func unisolated<Result>(_ body: @escaping @isolated(any) @Sendable () -> Result) -> @Sendable () -> Result {
        unsafeBitCast(body, to: (@Sendable () -> Result).self)
    }
}

public struct Animation: Hashable, Sendable {
    public static let `default` = Animation()
}

/// What goes along with an update.
public struct Transaction {
    public var animation: Animation?
    @TaskLocal static var current: Animation?

    public init(animation: Animation? = nil) {
        self.animation = animation
    }
}

public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
    try Transaction.$current.withValue(transaction.animation, operation: body)
}
