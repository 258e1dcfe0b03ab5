internal import Observation

/// A stand-in for SwiftUI's protocol: a property that is updated before the body is evaluated.
public protocol DynamicProperty {
    mutating func update()
}

extension DynamicProperty {
    public mutating func update() {}
}

/// The state that a host connects with a view's place in the tree, by the property's path in the view.
@MainActor
protocol ConnectedProperty {
    func connect(to node: Node, path: String)
}

@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    private final class Link {
        var value: Value?
    }

    private let keyPath: KeyPath<EnvironmentValues, Value>
    private let link = Link()

    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
        self.keyPath = keyPath
    }

    public var wrappedValue: Value { link.value ?? EnvironmentValues()[keyPath: keyPath] }
}

extension Environment: ComparedProperty {
    func isSame(as other: Any) -> Bool { (other as? Environment)?.keyPath == keyPath }
}

extension Environment: ConnectedProperty {
    func connect(to node: Node, path: String) { link.value = node.environment[keyPath: keyPath] }
}

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

public struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]

    public init() {}

    public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

/// State that lives while the view has its place in the tree, whichever values the view is created with.
@propertyWrapper
public struct State<Value>: DynamicProperty {
    private final class Link {
        var storage: StateStorage<Value>
        init(_ storage: StateStorage<Value>) { self.storage = storage }
    }

    private let link: Link
    private let initial: Value

    public init(wrappedValue: Value) {
        initial = wrappedValue
        link = Link(StateStorage(wrappedValue))
    }

    public var wrappedValue: Value {
        get { link.storage.value }
        nonmutating set { link.storage.value = newValue }
    }

    public var projectedValue: Binding<Value> { Binding(StateLocation(link.storage)) }
}

/// The storage of a state, which stays the same one in its place of the tree.
private final class StateLocation<Value>: Location<Value> {
    private let storage: StateStorage<Value>
    init(_ storage: StateStorage<Value>) { self.storage = storage }

    override func get() -> Value { storage.value }
    override func set(_ value: Value, _ transaction: Transaction) {
        withTransaction(transaction) { storage.value = value }
    }
    override func isEqual(to other: Location<Value>) -> Bool { (other as? StateLocation)?.storage === storage }
}

/// Whether a control has the focus; `Host.enter` gives it, and `Host.submit` and `Host.leave` take it away.
@propertyWrapper
public struct FocusState<Value: Hashable>: DynamicProperty {
    @State private var state: Value

    public init() where Value == Bool { _state = State(wrappedValue: false) }

    public var wrappedValue: Value {
        get { state }
        nonmutating set { state = newValue }
    }

    public var projectedValue: Binding<Value> { $state }
}

extension State: ComparedProperty {
    func isSame(as other: Any) -> Bool { (other as? State).map { areEqual(initial, $0.initial) } ?? false }
}

extension State: ConnectedProperty {
    func connect(to node: Node, path: String) {
        if let storage = node.states[path] as? StateStorage<Value> {
            link.storage = storage
        } else {
            node.states[path] = link.storage
        }
    }
}

private final class StateStorage<Value>: Observable {
    private let registrar = ObservationRegistrar()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get {
            registrar.access(self, keyPath: \.value)
            return stored
        }
        set { registrar.withMutation(of: self, keyPath: \.value) { stored = newValue } }
    }
}
