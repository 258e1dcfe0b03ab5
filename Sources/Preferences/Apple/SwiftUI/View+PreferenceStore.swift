#if canImport(SwiftUI)
public import SwiftUI

extension EnvironmentValues {
    /// The store that stands in for the ones that preferences were declared in; nil for these themselves.
    public var preferenceStore: PreferenceStore? {
        get { self[PreferenceStoreKey.self] }
        set { self[PreferenceStoreKey.self] = newValue }
    }
}

private struct PreferenceStoreKey: EnvironmentKey {
    static let defaultValue: PreferenceStore? = nil
}

extension View {
    /// Makes each `PreferenceState` of the view and of those in it use a store: for previews, tests and accounts.
    ///
    ///     #Preview { SettingsView().preferenceStore(.inMemory(["theme": "dark"])) }
    public func preferenceStore(_ store: PreferenceStore?) -> some View {
        environment(\.preferenceStore, store)
    }
}
#endif
