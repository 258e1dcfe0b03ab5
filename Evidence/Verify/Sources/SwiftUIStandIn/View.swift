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
    public static func buildEither(first content: ViewList) -> ViewList { content }
    public static func buildEither(second content: ViewList) -> ViewList { content }
}

public struct ViewList: View, Leaf {
    let views: [any View]
    public typealias Body = Never
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] {
        views.map { ($0, environment) }
    }
}

/// The view of an element of `ForEach`, which keeps its state if its place in the row changes.
struct Identified: View, Leaf {
    let view: any View
    let id: AnyHashable
    typealias Body = Never

    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [(view, environment)] }
}

public struct Text: View, Leaf {
    public let text: String
    public init(_ text: String) { self.text = text }
    public init(verbatim text: String) { self.text = text }
    public typealias Body = Never
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [] }
}

@MainActor @preconcurrency
public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder static var previews: Previews { get }
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
