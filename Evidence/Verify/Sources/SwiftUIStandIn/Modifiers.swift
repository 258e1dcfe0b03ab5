/// A view with a modifier that acts on events of the controls inside of it.
struct Modified: View, Leaf {
    enum Modifier {
        case tag(AnyHashable)
        case contextMenu(@MainActor () -> ViewList)
        case accessibilityAction(String, @MainActor () -> Void)
        case onSubmit(@MainActor () -> Void)
        case onDisappear(@MainActor () -> Void)
        case focused(Binding<Bool>)
        /// Calls the function after an evaluation in which the value differs from the last one's.
        case onChange(AnyHashable, @MainActor () -> Void)
        /// Runs the function when the view appears, and again for each other value.
        case task(AnyHashable, @MainActor () async -> Void)
    }

    let view: any View
    let modifier: Modifier
    typealias Body = Never

    var shown: Any? {
        switch modifier {
        case .onChange(let value, _): value
        case .task(let id, _): id
        default: nil
        }
    }
    func content(in environment: EnvironmentValues) -> [(any View, EnvironmentValues)] { [(view, environment)] }
}

extension View {
    public func contextMenu(@ViewBuilder menuItems: @escaping @MainActor () -> ViewList) -> some View {
        Modified(view: self, modifier: .contextMenu(menuItems))
    }

    public func onSubmit(_ action: @escaping @MainActor () -> Void) -> some View {
        Modified(view: self, modifier: .onSubmit(action))
    }

    public func onDisappear(perform action: @escaping @MainActor () -> Void) -> some View {
        Modified(view: self, modifier: .onDisappear(action))
    }

    public func focused(_ condition: Binding<Bool>) -> some View {
        Modified(view: self, modifier: .focused(condition))
    }

    public func onChange<Value: Hashable>(of value: Value, _ action: @escaping @MainActor () -> Void) -> some View {
        Modified(view: self, modifier: .onChange(value, action))
    }

    public func task<Value: Hashable>(id: Value, _ action: @escaping @MainActor () async -> Void) -> some View {
        Modified(view: self, modifier: .task(id, action))
    }

    public func tag<Value: Hashable>(_ tag: Value) -> some View {
        Modified(view: self, modifier: .tag(AnyHashable(tag)))
    }
    public func labelsHidden() -> some View { self }
    public func autocorrectionDisabled() -> some View { self }
    public func accessibilityAction(named name: String, _ action: @escaping @MainActor () -> Void) -> some View {
        Modified(view: self, modifier: .accessibilityAction(name, action))
    }
    public func disabled(_ isDisabled: Bool) -> some View {
        EnvironmentWriter(view: self) { $0.isEnabled = $0.isEnabled && !isDisabled }
    }
    public func foregroundStyle(_ style: HierarchicalShapeStyle) -> some View { self }
}

extension Text {
    public func font(_ font: Font?) -> Text { self }
}

public struct Font: Sendable { public static let footnote = Font() }
public struct HierarchicalShapeStyle: Sendable { public static let secondary = HierarchicalShapeStyle() }

extension EnvironmentValues {
    public var isEnabled: Bool {
        get { self[IsEnabledKey.self] }
        set { self[IsEnabledKey.self] = newValue }
    }
}

private struct IsEnabledKey: EnvironmentKey {
    static let defaultValue = true
}
