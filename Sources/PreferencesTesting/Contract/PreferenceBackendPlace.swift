public import Preferences

/// A place where a backend keeps values, such as a file: empty at first, and open to several instances at once.
public struct PreferenceBackendPlace: Sendable {
    let open: @Sendable () throws -> any PreferenceBackend
    let failNextWrite: (@Sendable () -> Void)?
    let isShared: Bool

    /// Makes a place that nobody has written to.
    ///
    /// - Parameters:
    ///   - failNextWrite: Makes the next `apply` of any instance throw, by breaking what is below the backend; nil where a
    ///     test can't.
    ///   - open: Makes an instance over the place; each call another one, as another process would have.
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
