/// A control by its kind, title and binding.
public struct Control<Value>: View, Leaf {
    public let kind: String
    public let title: String
    public let value: Binding<Value>
    /// The choices of a picker.
    public var choices: [String] = []
    /// Whether a user can enter a value.
    var values: (Value) -> Bool = { _ in true }
    /// Whether it is evaluated again if its value changes; otherwise only if it gets another binding.
    public var isTracked = true
    /// Called when a drag begins and ends.
    var onEditingChanged: @MainActor (Bool) -> Void = { _ in }
    public typealias Body = Never

    var shown: Any? { value.wrappedValue }
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [] }
}

/// A control of any value.
protocol AnyControl {
    var kind: String { get }
    var title: String { get }
    var choices: [String] { get }
}

extension Control: AnyControl {}

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
    Control(kind: "Toggle", title: title, value: isOn)
}
@MainActor public func TextField(_ title: String, text: Binding<String>, axis: Axis = .horizontal) -> Control<String> {
    Control(kind: axis == .vertical ? "TextField of lines" : "TextField", title: title, value: text)
}
@MainActor public func SecureField(_ title: String, text: Binding<String>, prompt: Text?) -> Control<String> {
    Control(kind: "SecureField", title: title, value: text, choices: [prompt?.text].compactMap(\.self))
}
/// A stand-in for the controls of UIKit and AppKit, which aren't notified of changes.
@MainActor public func UntrackedField(_ title: String, text: Binding<String>) -> Control<String> {
    Control(kind: "TextField", title: title, value: text, isTracked: false)
}
@MainActor public func Picker<Value, Content: View>(
    _ title: String,
    selection: Binding<Value>,
    @ViewBuilder content: () -> Content
) -> Control<Value> {
    let content = content()
    var control = Control(kind: "Picker", title: title, value: selection, choices: texts(in: content))
    let tags = tags(in: content)
    // A view that is shown without tags here has those of its data.
    if !tags.isEmpty { control.values = { value in tags.contains { areEqual($0, value) } } }
    return control
}
@MainActor public func Stepper<Value: Strideable>(
    _ title: String,
    value: Binding<Value>,
    in bounds: ClosedRange<Value>
) -> Control<Value> {
    Control(kind: "Stepper \(bounds)", title: title, value: value)
}
@MainActor public func Slider<Value: BinaryFloatingPoint>(
    value: Binding<Value>,
    in bounds: ClosedRange<Value>,
    step: Value? = nil,
    @ViewBuilder label: () -> ViewList,
    onEditingChanged: @escaping @MainActor (Bool) -> Void = { _ in }
) -> Control<Value> where Value.Stride: BinaryFloatingPoint {
    // SwiftUI traps, too.
    precondition(bounds.lowerBound < bounds.upperBound, "a slider needs a range")
    let step = step.map { " by \($0)" } ?? ""
    let title = texts(in: label()).joined()
    return Control(kind: "Slider \(bounds)\(step)", title: title, value: value, onEditingChanged: onEditingChanged)
}
@MainActor public func ColorPicker(_ title: String, selection: Binding<Color>) -> Control<Color> {
    Control(kind: "ColorPicker", title: title, value: selection)
}
@MainActor public func List<Value>(_ title: String, selection: Binding<Value>) -> Control<Value> {
    Control(kind: "List", title: title, value: selection)
}

@MainActor private func texts(in view: any View) -> [String] {
    switch view {
    case let text as Text: [text.text]
    case let list as ViewList: list.views.flatMap { texts(in: $0) }
    case let modified as Modified: texts(in: modified.view)
    case let identified as Identified: texts(in: identified.view)
    default: []
    }
}

@MainActor private func tags(in view: any View) -> [Any] {
    switch view {
    case let list as ViewList: list.views.flatMap { tags(in: $0) }
    case let identified as Identified: tags(in: identified.view)
    case let modified as Modified:
        if case .tag(let tag) = modified.modifier { [tag.base] } else { tags(in: modified.view) }
    default: []
    }
}

// Each shows its child views.

@MainActor public func ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>(
    _ data: Data,
    id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: (Data.Element) -> Content
) -> ViewList {
    // SwiftUI's result is undefined.
    precondition(Set(data.map { $0[keyPath: id] }).count == data.count, "two elements have one id")
    return ViewList(views: data.map { Identified(view: content($0), id: AnyHashable($0[keyPath: id])) })
}
@MainActor public func ForEach<Data: RandomAccessCollection, Content: View>(
    _ data: Data,
    @ViewBuilder content: (Data.Element) -> Content
) -> ViewList where Data.Element: Identifiable { ForEach(data, id: \.id, content: content) }
@MainActor public func Form<Content: View>(@ViewBuilder content: () -> Content) -> Content { content() }
@MainActor public func Section<Content: View>(_ title: String, @ViewBuilder content: () -> Content) -> Content {
    content()
}
@MainActor public func Section<Content: View>(
    @ViewBuilder content: () -> Content,
    @ViewBuilder header: () -> ViewList
) -> ViewList {
    let titles = texts(in: header())
    return ViewList(views: [Text("# " + titles.joined()), content()])
}
@MainActor public func List<Content: View>(@ViewBuilder content: () -> Content) -> Content { content() }
@MainActor public func HStack<Content: View>(@ViewBuilder content: () -> Content) -> Content { content() }
@MainActor public func VStack<Content: View>(
    alignment: HorizontalAlignment,
    @ViewBuilder content: () -> Content
) -> Content { content() }
@MainActor public func LabeledContent<Content: View>(_ title: String, @ViewBuilder content: () -> Content) -> ViewList {
    ViewList(views: [Text(title), content()])
}

public enum HorizontalAlignment { case leading }
public enum Axis: Sendable { case horizontal, vertical }
