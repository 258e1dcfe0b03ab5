#if canImport(Darwin) || STANDINS
/// What the cloud backend needs of `NSUbiquitousKeyValueStore`.
protocol CloudValues: Sendable {
    /// Everything that is there just now.
    var contents: [String: Any] { get }
    /// Stores an object of a property list, or removes the name.
    func set(_ object: Any?, for name: String)
    /// Writes to the disk and asks for what the cloud has; false where that can't be.
    func synchronize() -> Bool
    /// Tells of changes that others made, until what is returned is released.
    func observe(_ body: @escaping @Sendable (CloudChange) -> Void) -> any AnyObject & Sendable
}

/// Why the cloud's values changed.
enum CloudChange: Sendable, Hashable {
    /// Another device set values, or the first values arrived.
    case values
    /// What was set does not fit, so it is not stored in the cloud.
    case quotaExceeded
    /// Another account's values have taken the place of these.
    case accountChanged
}
#endif
