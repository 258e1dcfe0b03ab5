public import Preferences
public import Testing

/// Gives each test in-memory stores of its own in place of `.standard` and of every `.suite`.
///
/// On a suite it counts for each test inside, and for each case of a test with arguments, one by one; the nearest trait
/// counts. So tests that write the same names can run at the same time, and none touches the user's store. What
/// `PreferenceStore.withIsolatedStores` says of detached tasks and threads holds here too.
///
///     @Suite(.isolatedStores) struct LibraryTests {
///         @Test(.isolatedStores(["books": 3])) func countIsShown() { … }
///     }
public struct IsolatedStoresTrait: TestTrait, SuiteTrait, TestScoping {
    let contents: [String: PropertyListValue]

    /// Whether tests inside a suite have it too: always.
    public var isRecursive: Bool { true }

    /// Runs a test, or one case of it, with stores of its own.
    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await PreferenceStore.withIsolatedStores(contents) { try await function() }
    }
}

extension Trait where Self == IsolatedStoresTrait {
    /// Gives each test in-memory stores of its own, empty at first.
    public static var isolatedStores: Self { isolatedStores([:]) }

    /// Gives each test in-memory stores of its own; `.standard` holds `contents` at first.
    public static func isolatedStores(_ contents: [String: PropertyListValue]) -> Self {
        IsolatedStoresTrait(contents: contents)
    }
}
