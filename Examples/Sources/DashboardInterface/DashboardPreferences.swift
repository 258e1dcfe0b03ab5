public import Preferences

/// The preferences that the dashboard needs, in any store.
public protocol DashboardPreferences: Sendable {
    /// The item that the sidebar shows.
    var selected: Preference<DashboardItem> { get }
    /// Whether the sidebar is hidden.
    var isSidebarHidden: Preference<Bool> { get }
}

/// An item of the sidebar.
public enum DashboardItem: String, CaseIterable, Sendable {
    case templates, projects, settings
}
