// error: risks causing data races
#if canImport(Darwin)
internal import Foundation

func race(_ defaults: sending UserDefaults) {
    Task.detached { defaults.removeObject(forKey: "first") }
    defaults.removeObject(forKey: "second")
}
#endif
