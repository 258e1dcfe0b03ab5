// error: capture of 'defaults' with non-Sendable type 'UserDefaults' in a '@Sendable' closure
#if canImport(Darwin)
internal import Foundation

func capture(_ defaults: UserDefaults) -> @Sendable () -> Any? {
    { defaults.object(forKey: "name") }
}
#endif
