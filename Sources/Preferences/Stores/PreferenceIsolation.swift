/// The stores that a piece of code sees in place of the shared ones; taken along to where a scope isn't inherited.
///
/// Child tasks and tasks made with `Task { … }` inherit the scope of `withIsolatedStores`. Detached tasks, dispatch
/// queues, threads and callbacks of other libraries don't; they run their code in the scope that it belongs to:
///
///     let isolation = PreferenceStore.isolation
///     queue.async { isolation.run { Defaults.general.theme = .dark } }
///
/// Outside of a scope it stands for the shared stores themselves, so code may take it along always.
public struct PreferenceIsolation: Sendable {
    private let scope: IsolatedStores?

    fileprivate init(_ scope: IsolatedStores?) {
        self.scope = scope
    }

    /// Runs `body` as if it were called where this value was taken, also after that scope's own body has returned.
    public func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try IsolatedStores.with(scope, body)
    }

    /// As the synchronous form, for an asynchronous `body`, which runs on the caller's actor.
    public nonisolated(nonsending) func run<Result, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolatedStores.with(scope, body)
    }
}

extension PreferenceStore {
    /// The stores that the calling code sees in place of the shared ones, to be taken along to detached tasks, queues
    /// and threads.
    public static var isolation: PreferenceIsolation {
        PreferenceIsolation(IsolatedStores.inEffect)
    }

    /// Runs `body` with a fresh in-memory store in place of `.standard` and of every `.suite`.
    ///
    /// Preferences held anywhere, also in static lets and in objects made before, use the fresh stores while they are
    /// used inside `body`; each suite has its own. So do layered stores over a shared one. Stores of one's own, such as
    /// `file(at:)`, stay what they are. Child tasks and `Task { … }` inherit the scope, for as long as they run;
    /// detached tasks, dispatch queues and threads don't: `isolation` takes it along. Observations and iterators go on
    /// with the stores of the scope that they were made in. Scopes nest; the inner one counts. Any number may be open
    /// at once.
    ///
    /// - Parameters:
    ///   - contents: What `.standard` holds at first.
    ///   - body: What runs with the fresh stores, on the calling thread; its result and its error are passed on.
    public static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try IsolatedStores.with(IsolatedStores(contents), body)
    }

    /// As the synchronous form, for an asynchronous `body`, which runs on the caller's actor.
    public nonisolated(nonsending) static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolatedStores.with(IsolatedStores(contents), body)
    }
}
