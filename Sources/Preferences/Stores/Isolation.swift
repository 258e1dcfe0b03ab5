internal import DurableFile
internal import Synchronization

/// One scope of `withIsolatedStores`: what stands in for the shared stores.
///
/// It is open as long as it lives, and that is as long as any task or thread runs in it: also a task that outlives the
/// call which opened the scope never reaches a shared store. It knows stores as objects only, since they know it.
final class IsolationScope: Sendable {
    @TaskLocal private static var current: IsolationScope?

    private typealias Object = any AnyObject & Sendable
    /// By the store that is stood in for, which is kept so that its identity stays its own.
    private let standIns = Lock<[ObjectIdentifier: (original: Object, standIn: Object)]>([:])
    /// What the standard store holds at first.
    let initialContents: [String: PropertyListValue]

    /// How many scopes are open in the process; while none is, nothing looks any further.
    private static let count = Atomic<Int>(0)

    /// Whether a store with a stand-in may be read by somebody for whom another one answers.
    static var areOpen: Bool { count.load(ordering: .relaxed) > 0 }

    /// The scope that the caller runs in.
    static var inEffect: IsolationScope? { areOpen ? current : nil }

    /// Opens a scope: from here on, reads of shared stores look for the scope that they run in.
    ///
    /// A decoded value that a shared store has kept would be read without a look at the scope, so none is kept while any
    /// scope is open: that costs reads nothing where no test runs. `forgetValues` is to forget them where the closure that it
    /// is given, which counts the scope, says so.
    init(_ initialContents: [String: PropertyListValue], forgetValues: (_ ifFirst: () -> Bool) -> Void) {
        self.initialContents = initialContents
        forgetValues { Self.count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 }
    }

    deinit {
        Self.count.wrappingSubtract(1, ordering: .relaxed)
    }

    /// What stands in for `original` in this scope; made the first time.
    func standIn<Store: AnyObject & Sendable>(for original: Store, _ make: () -> Store) -> Store {
        let key = ObjectIdentifier(original)
        let known = standIns.withLock { $0[key]?.standIn }
        // Made without the lock, as layers ask for the stand-ins of theirs.
        let made: Object = known ?? make()
        let standIn = standIns.withLock { standIns in
            if let known = standIns[key]?.standIn { return known }
            standIns[key] = (original, made)
            return made
        }
        return unsafeDowncast(standIn, to: Store.self)
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

/// The stores that a piece of code sees in place of the shared ones; taken along to where a scope isn't inherited.
///
/// Child tasks and tasks made with `Task { … }` inherit the scope of `withIsolationScope`. Detached tasks, dispatch
/// queues, threads and callbacks of other libraries don't; they run their code in the scope that it belongs to:
///
///     let isolation = PreferenceStore.isolation
///     queue.async { isolation.run { Defaults.general.theme = .dark } }
///
/// Outside of a scope it stands for the shared stores themselves, so code may take it along always.
public struct PreferenceIsolation: Sendable {
    private let scope: IsolationScope?

    /// The caller's.
    static var current: PreferenceIsolation { PreferenceIsolation(scope: IsolationScope.inEffect) }

    /// Runs `body` as if it were called where this value was taken, also after that scope's own body has returned.
    public func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try IsolationScope.with(scope, body)
    }

    /// As the synchronous form, for an asynchronous `body`, which runs on the caller's actor.
    public nonisolated(nonsending) func run<Result, Failure: Error>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolationScope.with(scope, body)
    }
}

/// Whether the program was started on fresh stores, for previews and tests of its interface.
enum IsolatedProgram {
    /// `PREFERENCES_ISOLATED=1`, or the arguments `-PreferencesIsolated YES`.
    static let isOn = isOn(
        variable: CurrentProcess.variable("PREFERENCES_ISOLATED"),
        arguments: CommandLine.arguments
    )

    /// Anything but a clear no is a yes: a slip must not end in the user's store.
    static func isOn(variable: String?, arguments: [String]) -> Bool {
        if let index = arguments.lastIndex(of: "-PreferencesIsolated") {
            let value = arguments.index(after: index)
            return value == arguments.endIndex || !isNo(arguments[value])
        }
        return variable.map { !isNo($0) } ?? false
    }

    private static func isNo(_ text: String) -> Bool {
        ["", "0", "no", "false", "off"].contains(text.lowercased())
    }
}
