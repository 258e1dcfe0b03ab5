public import Preferences

/// A place where a backend keeps values, such as a file: empty at first, and usable by several instances at the same time.
public struct PreferenceBackendPlace: Sendable {
    let open: @Sendable () throws -> any PreferenceBackend
    let failNextWrite: (@Sendable () -> Void)?
    let isShared: Bool

    /// Creates a place that holds no values yet.
    ///
    /// - Parameters:
    ///   - failNextWrite: Makes the next `apply` of any instance throw, by breaking what is below the backend; `nil` if a
    ///     test can't do that.
    ///   - open: Creates an instance over the place; each call creates another one, as if in another process.
    public init(
        failNextWrite: (@Sendable () -> Void)? = nil,
        open: @escaping @Sendable () throws -> any PreferenceBackend
    ) {
        self.init(failNextWrite: failNextWrite, isShared: true, open: open)
    }

    init(
        failNextWrite: (@Sendable () -> Void)? = nil,
        isShared: Bool,
        open: @escaping @Sendable () throws -> any PreferenceBackend
    ) {
        self.open = open
        self.failNextWrite = failNextWrite
        self.isShared = isShared
    }
}
