internal import Observation
@_spi(Reflection) internal import Swift
internal import Synchronization

/// A host that shows a view: it evaluates its body, evaluates invalidated bodies again, and counts the evaluations.
///
/// As in SwiftUI, a view that is created again isn't evaluated if it equals the one before.
@MainActor
public final class Host {
    private let root: Node
    /// The number of evaluations of bodies, by the name of the view's type.
    public fileprivate(set) var bodies: [String: Int] = [:]
    /// The animations with which bodies were evaluated so far.
    public fileprivate(set) var animations: [Animation] = []

    /// The actions of `onChange` that the evaluations since the last one demand.
    fileprivate var actionsOfChanges: [@MainActor () -> Void] = []

    public init(_ view: any View) {
        root = Node(view, environment: EnvironmentValues())
        root.evaluate(in: self)
    }

    /// Evaluates the bodies that were invalidated since the last time, as the next frame would; a new view replaces the old one.
    public func update(to view: (any View)? = nil) {
        if let view {
            root.view = view
            root.evaluate(in: self)
        } else {
            root.update(in: self)
        }
        let actions = actionsOfChanges
        actionsOfChanges = []
        guard !actions.isEmpty else { return }
        for action in actions { action() }
        update()
    }

    /// The texts shown, from first to last.
    public var texts: [String] { root.all { ($0.view as? Text)?.text } }

    /// Returns the binding of a control, by its title.
    public func control<Value>(_ title: String, of type: Value.Type = Value.self) -> Binding<Value>? {
        node(title, of: type)?.control.value
    }

    /// Returns the value that a control shows, by its title: the one entered last, or the value at the last evaluation.
    public func shown<Value>(in title: String, of type: Value.Type = Value.self) -> Value? {
        node(title, of: type)?.node.shown as? Value
    }

    /// Acts on a control as a user does: it gets the focus, shows the value and sets it.
    public func enter<Value>(_ value: Value, into title: String) {
        guard let (node, control) = node(title, of: Value.self) else { preconditionFailure("no control \(title)") }
        precondition(node.environment.isEnabled, "the control \(title) is disabled")
        precondition(control.values(value), "the control \(title) doesn't offer \(value)")
        node.shown = value
        for case .focused(let isFocused) in modifiers(around: title) where !isFocused.wrappedValue {
            isFocused.wrappedValue = true
        }
        control.value.wrappedValue = value
    }

    /// Drags a slider through some values; `isEnded` is false while a finger stays on it.
    public func drag(_ title: String, through values: [Double], isEnded: Bool = true) {
        node(title, of: Double.self)?.control.onEditingChanged(true)
        for value in values {
            update()
            enter(value, into: title)
        }
        if isEnded { release(title) }
    }

    /// Ends a drag.
    public func release(_ title: String) {
        update()
        node(title, of: Double.self)?.control.onEditingChanged(false)
    }

    /// Submits the text of a control, as Return does.
    public func submit(_ title: String) {
        for case .onSubmit(let action) in modifiers(around: title) { return action() }
    }

    /// Takes the focus from a control.
    public func leave(_ title: String) {
        for case .focused(let isFocused) in modifiers(around: title) { isFocused.wrappedValue = false }
    }

    /// Performs an action of a control that assistive technologies offer; returns whether there is one.
    public func perform(_ action: String, on title: String) -> Bool {
        for case .accessibilityAction(action, let body) in modifiers(around: title) {
            body()
            return true
        }
        return false
    }

    /// Runs the tasks of `task(id:)` that have begun, to their ends.
    public func finishTasks() async { for task in root.all({ $0.task }) { await task.value } }

    /// Takes all views off the screen.
    public func disappear() { root.disappear() }

    public func press(_ title: String) { press(title, below: root) }

    /// Presses a button of the context menu of a control; returns whether there is one that is enabled.
    public func choose(_ button: String, inMenuOf title: String) -> Bool {
        for case .contextMenu(let items) in modifiers(around: title) {
            let menu = Node(items(), environment: EnvironmentValues())
            menu.evaluate(in: self)
            return press(button, below: menu)
        }
        return false
    }

    /// The texts and controls from first to last, a control as "kind title = value".
    public var outline: [String] {
        root.all { node in
            if let text = node.view as? Text { return text.text }
            guard let control = node.view as? any AnyControl else { return nil }
            let choices = control.choices.isEmpty ? "" : " of \(control.choices.joined(separator: ", "))"
            let value = node.shown.map { "\($0)" } ?? ""
            return
                "\(control.kind) \(control.title) = \(value)\(choices)\(node.environment.isEnabled ? "" : ", disabled")"
        }
    }

    @discardableResult
    private func press(_ title: String, below node: Node) -> Bool {
        let button = node.all { node in
            node.environment.isEnabled ? (node.view as? Button).flatMap { $0.title == title ? $0 : nil } : nil
        }.first
        button?.action()
        return button != nil
    }

    /// Returns the modifiers of the views that contain a control, the innermost first.
    private func modifiers(around title: String) -> [Modified.Modifier] {
        let path = root.path { ($0.view as? any AnyControl)?.title == title } ?? []
        return path.reversed().compactMap { ($0.view as? Modified)?.modifier }
    }

    private func node<Value>(_ title: String, of type: Value.Type) -> (node: Node, control: Control<Value>)? {
        root.all { node -> (Node, Control<Value>)? in
            guard let control = node.view as? Control<Value>, control.title == title else { return nil }
            return (node, control)
        }.first
    }
}

enum Evaluation {
    /// Whether a body is being evaluated whose bindings were updated.
    @TaskLocal static var isRunning = false
}

/// A view's place in the tree.
@MainActor
final class Node {
    var view: any View
    var environment: EnvironmentValues
    var states: [String: AnyObject] = [:]
    /// The value that a control shows.
    var shown: Any?
    /// That of `task(id:)`, which a new id cancels.
    var task: Task<Void, Never>?
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
        let content: [(any View, EnvironmentValues)]
        if let leaf = view as? any Leaf, !leaf.isTracked {
            content = self.content(in: host)
        } else {
            content = withObservationTracking {
                self.content(in: host)
            } onChange: {
                invalidation.invalidate()
            }
        }
        let old = children
        defer { for node in old where !children.contains(where: { $0 === node }) { node.disappear() } }
        children = content.enumerated().map { index, content in
            let (view, environment) = content
            let id = (view as? Identified)?.id
            let known = id == nil ? old.dropFirst(index).first : old.first { ($0.view as? Identified)?.id == id }
            guard let known, type(of: known.view) == type(of: view) else {
                let node = Node(view, environment: environment)
                node.evaluate(in: host)
                return node
            }
            known.replace(view, environment, in: host)
            return known
        }
    }

    func disappear() {
        for child in children { child.disappear() }
        task?.cancel()
        if case .onDisappear(let action)? = (view as? Modified)?.modifier { action() }
    }

    /// Replaces the view by one that was created again, and evaluates it if it differs.
    private func replace(_ view: any View, _ environment: EnvironmentValues, in host: Host) {
        let isSame = areEqual(self.view, view) && areEqual(self.environment, environment)
        self.view = view
        self.environment = environment
        if isSame { update(in: host) } else { evaluate(in: host) }
    }

    private func content(in host: Host) -> [(any View, EnvironmentValues)] {
        let view = updated(view)
        return Evaluation.$isRunning.withValue(true) {
            if let leaf = view as? any Leaf {
                let last = shown
                shown = leaf.shown
                if case .onChange(let value, let action)? = (view as? Modified)?.modifier, let last,
                    last as? AnyHashable != value
                {
                    host.actionsOfChanges.append(action)
                }
                if case .task(let id, let action)? = (view as? Modified)?.modifier, last as? AnyHashable != id {
                    task?.cancel()
                    task = Task { await action() }
                }
                return leaf.content(in: environment)
            }
            host.bodies["\(type(of: view))", default: 0] += 1
            return [(body(of: view), environment)]
        }
    }

    func all<Found>(_ find: (Node) -> Found?) -> [Found] {
        (find(self).map { [$0] } ?? []) + children.flatMap { $0.all(find) }
    }

    /// Returns the nodes from this one to the first that a condition holds for.
    func path(to isFound: (Node) -> Bool) -> [Node]? {
        if isFound(self) { return [self] }
        for child in children {
            if let path = child.path(to: isFound) { return [self] + path }
        }
        return nil
    }

    private func body(of view: some View) -> any View { view.body }
}

// MARK: Dynamic properties

extension Node {
    /// Updates the fields of a view that the body sees, by their offsets as SwiftUI does.
    private func updated(_ view: some View) -> any View {
        let type = type(of: view)
        var view = view
        withUnsafeMutablePointer(to: &view) { update(fieldsOf: type, at: $0, path: "") }
        return view
    }

    private func update(fieldsOf type: Any.Type, at place: UnsafeMutableRawPointer, path: String) {
        _ = _forEachField(of: type) { name, offset, type, _ in
            if let type = type as? any DynamicProperty.Type {
                update(type, at: place + offset, path: path + "." + String(cString: name))
            }
            return true
        }
    }

    private func update<Property: DynamicProperty>(
        _ type: Property.Type,
        at place: UnsafeMutableRawPointer,
        path: String
    ) {
        let property = place.assumingMemoryBound(to: type)
        (property.pointee as? any ConnectedProperty)?.connect(to: self, path: path)
        update(fieldsOf: type, at: place, path: path)
        property.pointee.update()
    }
}

// MARK: Equality

/// A property with its own definition of equality.
protocol ComparedProperty {
    func isSame(as other: Any) -> Bool
}

extension Binding: ComparedProperty {
    func isSame(as other: Any) -> Bool { (other as? Binding).map { isEqual(to: $0) } ?? false }
}

/// Returns whether SwiftUI considers two values equal: by `==`, by identity, else by their fields; functions are never equal here.
func areEqual(_ left: Any, _ right: Any) -> Bool {
    guard type(of: left) == type(of: right) else { return false }
    if let left = left as? any ComparedProperty { return left.isSame(as: right) }
    if let left = left as? any Equatable { return isEqual(left, right) }
    if type(of: left) is AnyClass { return (left as AnyObject) === (right as AnyObject) }
    let (leftMirror, rightMirror) = (Mirror(reflecting: left), Mirror(reflecting: right))
    guard leftMirror.displayStyle != nil, leftMirror.children.count == rightMirror.children.count else { return false }
    return zip(leftMirror.children, rightMirror.children).allSatisfy {
        $0.label == $1.label && areEqual($0.value, $1.value)
    }
}

private func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool { left == right as? Value }

/// Returns whether a value that a view's body read has changed since.
private final class Invalidation: Sendable {
    private let state = Mutex<(isInvalid: Bool, animation: Animation?)>((false, nil))

    var isInvalid: Bool { state.withLock { $0.isInvalid } }
    var animation: Animation? { state.withLock { $0.animation } }

    func invalidate() {
        let animation = Transaction.current
        state.withLock { $0 = (true, animation) }
    }
}
