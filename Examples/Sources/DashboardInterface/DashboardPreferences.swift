public import Preferences

/// The preferences that the dashboard needs, whoever stores them and wherever.
public protocol DashboardPreferences: Sendable {
    /// The item that the sidebar shows.
    var selected: Preference<DashboardItem> { get }
    /// Whether the sidebar is hidden.
    var isSidebarHidden: Preference<Bool> { get }
}

/// What the sidebar offers.
public enum DashboardItem: String, CaseIterable, Sendable {
    case templates, projects, settings
}
