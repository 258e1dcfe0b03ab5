import DashboardInterface

/// The logic of the dashboard, which reads, writes and observes preferences in any store.
public struct DashboardModel<Preferences: DashboardPreferences>: Sendable {
    private let preferences: Preferences

    /// Creates a dashboard over the given preferences.
    public init(_ preferences: Preferences) {
        self.preferences = preferences
    }

    /// The title over the selected item's content.
    public var title: String {
        preferences.selected.value.rawValue.uppercased()
    }

    /// Shows an item and, for it, the sidebar.
    public func show(_ item: DashboardItem) {
        preferences.selected.value = item
        preferences.isSidebarHidden.value = false
    }

    /// Returns the title now and after each change.
    public func titles() -> some AsyncSequence<String, Never> & Sendable {
        preferences.selected.updates.map { $0.rawValue.uppercased() }
    }

    /// Calls a closure with the title after each change, but not with the current one.
    public func onTitleChange(_ body: @escaping @Sendable (String) -> Void) -> some Sendable & AnyObject {
        preferences.selected.observe { body($0.new.rawValue.uppercased()) }
    }
}
