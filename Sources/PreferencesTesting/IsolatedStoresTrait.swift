public import Preferences
public import Testing

/// A trait that gives each test its own in-memory stores in place of `.standard`, `.state` and of every `.suite`.
///
/// On a suite it applies to each test inside, and to each case of a test with arguments, separately; the nearest trait
/// wins. So tests that write the same names can run at the same time, and none touches the user's store. For detached tasks and
/// threads, the rules of `PreferenceStore.withIsolatedStores` apply.
///
///     @Suite(.isolatedStores) struct LibraryTests {
///         @Test(.isolatedStores(["books": 3])) func countIsShown() { … }
///     }
public struct IsolatedStoresTrait: TestTrait, SuiteTrait, TestScoping {
    let contents: [String: PropertyListValue]

    /// Whether tests inside a suite have the trait, too: always.
    public var isRecursive: Bool { true }

    /// Runs a test, or one case of it, with its own stores.
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
    /// A trait that gives each test its own in-memory stores, empty at first.
    public static var isolatedStores: Self { isolatedStores([:]) }

    /// Returns a trait that gives each test its own in-memory stores; `.standard` holds `contents` at first.
    public static func isolatedStores(_ contents: [String: PropertyListValue]) -> Self {
        IsolatedStoresTrait(contents: contents)
    }
}
