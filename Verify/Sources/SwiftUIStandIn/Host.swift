internal import Observation
internal import Synchronization

/// Shows a view: evaluates its body, and again what was invalidated, and counts how often.
@MainActor
public final class Host {
    private let root: Node
    /// How often bodies were evaluated, by the name of the view's type.
    public fileprivate(set) var bodies: [String: Int] = [:]
    /// The animations with which bodies were evaluated so far.
    public fileprivate(set) var animations: [Animation] = []

    public init(_ view: any View) {
        root = Node(view, environment: EnvironmentValues())
        root.evaluate(in: self)
    }

    /// Does what was invalidated since the last time, as the next frame would; a new view takes the old one's place.
    public func update(to view: (any View)? = nil) {
        if let view {
            root.view = view
            root.evaluate(in: self)
        } else {
            root.update(in: self)
        }
    }

    /// The texts shown, from first to last.
    public var texts: [String] { root.all { ($0 as? Text)?.text } }

    /// The binding of a control, by its title.
    public func control<Value>(_ title: String, of type: Value.Type = Value.self) -> Binding<Value>? {
        root.all { view -> Binding<Value>? in
            guard let control = view as? Control<Value>, control.title == title else { return nil }
            return control.value
        }.first
    }
}

/// A view's place in the tree.
@MainActor
final class Node {
    var view: any View
    var environment: EnvironmentValues
    var states: [String: AnyObject] = [:]
    private var children: [Node] = []
    private var invalidation = Invalidation()

    init(_ view: any View, environment: EnvironmentValues) {
        self.view = view
        self.environment = environment
    }

    func update(in host: Host) {
        if invalidation.isInvalid {
            evaluate(in: host)
        } else {
            for child in children { child.update(in: host) }
        }
    }

    func evaluate(in host: Host) {
        if !(view is any Leaf), let animation = invalidation.animation { host.animations.append(animation) }
        let invalidation = Invalidation()
        self.invalidation = invalidation
        connect(view, path: "")
        let content = withObservationTracking {
            if let leaf = view as? any Leaf { return leaf.content(in: environment) }
            host.bodies["\(type(of: view))", default: 0] += 1
            return [(body(of: view), environment)]
        } onChange: {
            invalidation.invalidate()
        }
        let old = children
        children = content.enumerated().map { index, content in
            let (view, environment) = content
            guard index < old.count, type(of: old[index].view) == type(of: view) else {
                return Node(view, environment: environment)
            }
            old[index].view = view
            old[index].environment = environment
            return old[index]
        }
        for child in children { child.evaluate(in: host) }
    }

    func all<Found>(_ find: (any View) -> Found?) -> [Found] {
        (find(view).map { [$0] } ?? []) + children.flatMap { $0.all(find) }
    }

    private func body(of view: some View) -> any View { view.body }

    private func connect(_ value: Any, path: String) {
        for child in Mirror(reflecting: value).children {
            guard var property = child.value as? any DynamicProperty else { continue }
            let path = path + "." + (child.label ?? "")
            (property as? any ConnectedProperty)?.connect(to: self, path: path)
            connect(property, path: path)
            property.update()
        }
    }
}

/// Whether something that a view's body read has changed since.
private final class Invalidation: Sendable {
    private let state = Mutex<(isInvalid: Bool, animation: Animation?)>((false, nil))

    var isInvalid: Bool { state.withLock { $0.isInvalid } }
    var animation: Animation? { state.withLock { $0.animation } }

    func invalidate() {
        let animation = Transaction.current
        state.withLock { $0 = (true, animation) }
    }
}
