#if canImport(Darwin) || STANDINS
extension UserDefaultsSizeLimit {
    #if os(tvOS)
    /// From here on tvOS warns by `sizeLimitExceededNotification`; at 1 MB it ends the program.
    static let platform = UserDefaultsSizeLimit(limit: 512 * 1024)
    #elseif os(watchOS)
    static let platform = UserDefaultsSizeLimit(limit: 1024 * 1024)
    #else
    /// "Attempting to store >= 4194304 bytes of data in CFPreferences/NSUserDefaults on this platform is invalid", says
    /// the system's log.
    static let platform = UserDefaultsSizeLimit(limit: 4 * 1024 * 1024)
    #endif
}
#endif
