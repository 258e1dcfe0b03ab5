/// One step of a store's migration: what leads to a version of its data.
public struct PreferenceMigration: Sendable {
    /// The version that the store is of after the step; from 1.
    public let version: Int
    let body: @Sendable (inout PreferenceTransaction) throws -> Void

    /// Makes a step.
    ///
    /// The body reads and writes the transaction only. It may run again where another process changes what it read, and
    /// does nothing for good until the whole step is stored, together with the version.
    public init(_ version: Int, _ body: @escaping @Sendable (inout PreferenceTransaction) throws -> Void) {
        self.version = version
        self.body = body
    }
}
