import DashboardInterface

/// The dashboard's logic; it reads, writes and follows preferences without knowing where they live.
public struct DashboardModel<Preferences: DashboardPreferences>: Sendable {
    private let preferences: Preferences

    /// Makes a dashboard over the preferences it is given.
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

    /// The title, now and after each change by whomever.
    public func titles() -> some AsyncSequence<String, Never> & Sendable {
        preferences.selected.updates.map { $0.rawValue.uppercased() }
    }

    /// Calls back with the title after each change, but not for the present one.
    public func onTitleChange(_ body: @escaping @Sendable (String) -> Void) -> some Sendable & AnyObject {
        preferences.selected.observe { body($0.new.rawValue.uppercased()) }
    }
}
