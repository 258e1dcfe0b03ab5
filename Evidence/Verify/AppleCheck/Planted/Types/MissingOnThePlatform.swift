// error on macOS: 'sizeLimitExceededNotification' is unavailable in macOS
// error on iOS: cannot find 'Process' in scope
// error on tvOS: cannot find 'Process' in scope
// error on watchOS: cannot find 'Process' in scope
// error on visionOS: cannot find 'Process' in scope
#if canImport(Darwin)
internal import Foundation

#if os(macOS)
func notification() -> Notification.Name { UserDefaults.sizeLimitExceededNotification }
#else
func process() { _ = Process() }
#endif
#endif
