import DashboardInterface
import Preferences

/// All preferences of the app, in one place: each with its name, default and store.
public struct AppPreferences: PreferenceGroup, DashboardPreferences {
    /// The item that the sidebar shows.
    public let selected = Preference("dashboard.selected", default: DashboardItem.templates)
    /// Whether the sidebar is hidden.
    public let isSidebarHidden = Preference("dashboard.sidebarHidden", default: false)

    /// Creates the group over the standard store, or over the one of `init(in:)`.
    public init() {}
}
