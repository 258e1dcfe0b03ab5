internal import Synchronization

/// One scope of `withIsolatedStores`: the stores that replace the shared ones in it.
///
/// The scope stays open while this object lives, that is, while any task or thread runs in it. A task that outlives the call
/// which opened the scope therefore never reaches a shared store. The scope refers to stores only as objects, because their type
/// depends on this one.
package final class IsolationScope: Sendable {
    @TaskLocal private static var current: IsolationScope?

    private typealias Object = any AnyObject & Sendable
    /// The replacements by the identity of the original store, which is retained so that no other object gets its identity.
    private let replacements = Lock<[ObjectIdentifier: (original: Object, replacement: Object)]>([:])
    /// The initial contents of the standard store.
    let initialContents: [String: PropertyListValue]

    /// The number of open scopes in the process. While it is zero, reads don't look for a scope.
    private static let count = Atomic<Int>(0)

    /// Whether any scope is open, so that two readers of a shared store may have to see different stores.
    static var areOpen: Bool { count.load(ordering: .relaxed) > 0 }

    /// The scope that the caller runs in, if any.
    package static var inEffect: IsolationScope? { areOpen ? current : nil }

    /// Creates and opens a scope: from then on, reads of shared stores look for the scope that they run in.
    ///
    /// A decoded value cached by a shared store would be read without looking for a scope. Therefore these stores cache nothing
    /// while any scope is open, and reads cost nothing extra in programs that open none.
    ///
    /// - Parameter dropCachedValues: Calls its argument, which counts the scope, and drops all cached values if that returns true.
    init(_ initialContents: [String: PropertyListValue], dropCachedValues: (_ ifFirst: () -> Bool) -> Void) {
        self.initialContents = initialContents
        dropCachedValues { Self.count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 }
    }

    deinit {
        Self.count.wrappingSubtract(1, ordering: .relaxed)
    }

    /// Returns the replacement for `original` in this scope, and creates it at the first call.
    func replacement<Store: AnyObject & Sendable>(for original: Store, _ make: () -> Store) -> Store {
        let key = ObjectIdentifier(original)
        let known = replacements.withLock { $0[key]?.replacement }
        // Without the lock, because creating a layered store asks for the replacements of its layers.
        let made: Object = known ?? make()
        let replacement = replacements.withLock { replacements in
            if let known = replacements[key]?.replacement { return known }
            replacements[key] = (original, made)
            return made
        }
        return unsafeDowncast(replacement, to: Store.self)
    }

    static func with<Result, Failure: Error>(
        _ scope: IsolationScope?,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = $current.withValue(scope) { () -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    nonisolated(nonsending) static func with<Result, Failure: Error>(
        _ scope: IsolationScope?,
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome = await $current.withValue(scope) { () async -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

/// The stores that a piece of code sees in place of the shared ones. Pass it on to code that doesn't inherit the scope.
///
/// Child tasks and tasks created by `Task { … }` inherit the scope of `withIsolatedStores`. Detached tasks, dispatch queues,
/// threads and callbacks of other libraries don't; they have to run their code in the scope explicitly:
///
///     let isolation = PreferenceStore.isolation
///     queue.async { isolation.run { preferences.theme = .dark } }
///
/// Outside any scope it stands for the shared stores themselves, so code may always pass it on.
public struct PreferenceIsolation: Sendable {
    private let scope: IsolationScope?

    /// The caller's isolation.
    package static var current: PreferenceIsolation { PreferenceIsolation(scope: IsolationScope.inEffect) }

    /// Runs `body` in the scope in which this value was created, even if the call that opened the scope has returned.
    public func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try IsolationScope.with(scope, body)
    }

    /// Runs an asynchronous `body` as the synchronous form does. `body` runs on the caller's actor.
    public nonisolated(nonsending) func run<Result, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolationScope.with(scope, body)
    }
}
