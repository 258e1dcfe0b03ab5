@MainActor
@preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public typealias Body = Never
}

extension View where Body == Never {
    // With a return, so that the result builder isn't applied.
    public var body: Never { return fatalError("a leaf has no body") }
}

/// A view that the host shows itself, with its child views.
@MainActor
protocol Leaf {
    /// The child views, with the environment that they see; reads everything that the view shows.
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)]
    /// The value of a control.
    var shown: Any? { get }
    /// Whether the view is evaluated again if the values that it reads change.
    var isTracked: Bool { get }
}

extension Leaf {
    var shown: Any? { nil }
    var isTracked: Bool { true }
}

@resultBuilder
@MainActor
public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> ViewList {
        var views: [any View] = []
        for view in repeat each content { views.append(view) }
        return ViewList(views: views)
    }

    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildOptional(_ content: ViewList?) -> ViewList { content ?? ViewList(views: []) }
}

public struct ViewList: View, Leaf {
    let views: [any View]
    public typealias Body = Never
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] {
        views.map { ($0, environment) }
    }
}

public struct Text: View, Leaf {
    public let text: String
    public init(_ text: String) { self.text = text }
    public typealias Body = Never
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [] }
}

/// A control by its title and binding; that is all of Toggle, TextField, Picker, Stepper and List that matters here.
public struct Control<Value>: View, Leaf {
    public let title: String
    public let value: Binding<Value>
    /// Whether it is evaluated again if its value changes; otherwise only if it gets another binding.
    public var isTracked = true
    public typealias Body = Never

    var shown: Any? { value.wrappedValue }
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [] }
}

/// A button by its title.
public struct Button: View, Leaf {
    public let title: String
    let action: @MainActor () -> Void
    public typealias Body = Never

    public init(_ title: String, action: @escaping @MainActor () -> Void) {
        self.title = title
        self.action = action
    }

    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [] }
}

@MainActor public func Toggle(_ title: String, isOn: Binding<Bool>) -> Control<Bool> {
    Control(title: title, value: isOn)
}
@MainActor public func TextField(_ title: String, text: Binding<String>) -> Control<String> {
    Control(title: title, value: text)
}
/// A stand-in for the controls of UIKit and AppKit, which aren't notified of changes.
@MainActor public func UntrackedField(_ title: String, text: Binding<String>) -> Control<String> {
    Control(title: title, value: text, isTracked: false)
}
@MainActor public func Picker<Value, Content: View>(
    _ title: String,
    selection: Binding<Value>,
    @ViewBuilder content: () -> Content
) -> Control<Value> {
    Control(title: title, value: selection)
}
@MainActor public func Stepper<Value: Strideable>(
    _ title: String,
    value: Binding<Value>,
    in bounds: ClosedRange<Value>
) -> Control<Value> {
    Control(title: title, value: value)
}
@MainActor public func List<Value>(_ title: String, selection: Binding<Value>) -> Control<Value> {
    Control(title: title, value: selection)
}

// Each shows its child views.

@MainActor public func ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>(
    _ data: Data,
    id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: (Data.Element) -> Content
) -> ViewList {
    ViewList(views: data.map { content($0) })
}
@MainActor public func ForEach<Data: RandomAccessCollection, Content: View>(
    _ data: Data,
    @ViewBuilder content: (Data.Element) -> Content
) -> ViewList where Data.Element: Identifiable {
    ViewList(views: data.map { content($0) })
}
@MainActor public func Form<Content: View>(@ViewBuilder content: () -> Content) -> Content { content() }
@MainActor public func Section<Content: View>(_ title: String, @ViewBuilder content: () -> Content) -> Content {
    content()
}
@MainActor public func List<Content: View>(@ViewBuilder content: () -> Content) -> Content { content() }
@MainActor public func HStack<Content: View>(@ViewBuilder content: () -> Content) -> Content { content() }

@MainActor @preconcurrency
public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder static var previews: Previews { get }
}

extension View {
    public func disabled(_ isDisabled: Bool) -> some View { self }
}

extension View {
    public func environment<Value>(_ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> some View {
        EnvironmentWriter(view: self) { $0[keyPath: keyPath] = value }
    }
}

struct EnvironmentWriter: View, Leaf {
    let view: any View
    let write: (inout EnvironmentValues) -> Void
    typealias Body = Never

    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] {
        var environment = environment
        write(&environment)
        return [(view, environment)]
    }
}
