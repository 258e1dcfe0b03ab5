internal import CDurableFile
internal import DurableFile

/// Which of the stores that a whole program shares a store is.
enum SharedStore: Hashable, Sendable {
    case standard
    case suite(String)
}

/// The stores that a whole program shares: made at first mention, kept for good.
enum SharedStores {
    private enum Key: Hashable, Sendable {
        case program(SharedStore)
        /// A store that another module defines.
        case other(String)
    }

    private struct Registry {
        var stores: [Key: PreferenceStore] = [:]
        /// Stores of a caller's own that show shared ones.
        var layered: [Layered] = []
    }

    private struct Layered {
        weak var store: PreferenceStore?
    }

    private static let registry = Lock(Registry())

    static func store(_ shared: SharedStore) -> PreferenceStore {
        store(.program(shared), isStandard: shared == .standard) { shared.layers() }
    }

    /// Returns the store of a name in another module, whose values are secrets; the first call for the name makes it.
    static func secretStore(_ name: String, layers: @escaping @Sendable () -> [Layer]) -> PreferenceStore {
        store(.other(name), isSecret: true, layers: layers)
    }

    private static func store(
        _ key: Key,
        isStandard: Bool = false,
        isSecret: Bool = false,
        layers: @escaping @Sendable () -> [Layer]
    ) -> PreferenceStore {
        registry.withLock { registry in
            if let store = registry.stores[key] { return store }
            let store = PreferenceStore(standIn: .memory(isStandard: isStandard, isSecret: isSecret)) {
                IsolatedProgram.isOn || TestProcess.isIsolated() ? [Layer(source: Source([:]))] : layers()
            }
            registry.stores[key] = store
            return store
        }
    }

    /// Remembers a layered store, so that `forgetValues` reaches it.
    static func register(layered store: PreferenceStore) {
        let others = registry.withLock { registry in
            let others = registry.layered.compactMap(\.store)
            registry.layered.removeAll { $0.store == nil }
            registry.layered.append(Layered(store: store))
            return others
        }
        // One of these may be the last reference, and what ends with it may be anybody's code: not under the lock.
        withExtendedLifetime(others) {}
    }

    /// Where `isNeeded`, makes every store with a stand-in forget the decoded values that it keeps.
    static func forgetValues(if isNeeded: () -> Bool) {
        let touched = registry.withLock { registry -> [PreferenceStore] in
            guard isNeeded() else { return [] }
            let stores = Array(registry.stores.values) + registry.layered.compactMap(\.store)
            for store in stores { store.core.state.withLock { $0.forgetValues() } }
            return stores
        }
        withExtendedLifetime(touched) {}
    }
}

extension PreferenceStore {
    /// The store of this program.
    ///
    /// On Apple platforms `UserDefaults.standard`. Elsewhere the file of `applicationIdentifier`. Where that can't be
    /// opened, the cause is reported once and reads give defaults; what is set is kept in memory, and stored once the
    /// file can be opened, which each set and each change in the file's folder tries again. `update`, transactions that
    /// read, and `migrate` throw `unavailable` until then, and `flush()` throws until all is stored.
    ///
    /// A program that is started with `PREFERENCES_ISOLATED=1` in its environment, or with the arguments
    /// `-PreferencesIsolated YES`, has this store and every suite in memory, empty at first and without what an
    /// administrator imposes: for previews and for tests of its interface. In a test process, too, they are in memory; see
    /// `isolatesTestProcesses`.
    public static let standard = SharedStores.store(.standard)

    /// The store of a name that several programs may share.
    ///
    /// On Apple platforms `UserDefaults(suiteName:)`, for an app group; elsewhere the file of that name. One name gives
    /// one store, however often it is asked for. An invalid name traps: `suite(named:)` takes names that users type.
    public static func suite(_ name: String) -> PreferenceStore {
        do throws(PreferencesError) {
            return try suite(named: name)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// As `suite(_:)`, but throws `invalidName` for a name that can't be one.
    public static func suite(named name: String) throws(PreferencesError) -> PreferenceStore {
        try SuiteLocation.check(name)
        try SharedStore.checkSuite(name)
        return SharedStores.store(.suite(name))
    }

    /// Makes a store that shows several as one: the first that has a name answers.
    ///
    /// Writes go to the first layer that takes them; `arguments`, `environment`, `managed` and `system` don't. A name
    /// that a managed layer has can't be changed: `write` throws `managed`. A value that is set below a stronger layer's
    /// is stored and reported as `hidden`, once for each name; `update` and transactions read and write as if the read-only
    /// layers above the writable one were absent. `Preference.source` tells which layer answers. A layer's change is
    /// visible in the layered store as soon as in the layer.
    public static func layered(_ layers: [PreferenceStore]) -> PreferenceStore {
        let showsShared = layers.contains { $0.standIn != nil }
        let store = PreferenceStore(layers: layers, standIn: showsShared ? .layers(layers) : nil)
        if showsShared { SharedStores.register(layered: store) }
        return store
    }
}

extension PreferenceStore {
    /// The stores that the calling code sees in place of the shared ones, to be taken along to detached tasks, queues
    /// and threads.
    public static var isolation: PreferenceIsolation {
        PreferenceIsolation.current
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
        try IsolationScope.with(scope(contents), body)
    }

    /// As the synchronous form, for an asynchronous `body`, which runs on the caller's actor.
    public nonisolated(nonsending) static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolationScope.with(scope(contents), body)
    }

    private static func scope(_ contents: [String: PropertyListValue]) -> IsolationScope {
        IsolationScope(contents) { SharedStores.forgetValues(if: $0) }
    }
}

extension PreferenceStore {
    /// Whether `.standard` and every suite keep their values in memory in a test process, so that a test without
    /// `withIsolatedStores` or the trait `.isolatedStores` never touches the user's preferences; `true` unless set.
    ///
    /// A test process is one in which Swift Testing or XCTest is loaded. Its tests share these stores: the first use
    /// outside a scope says so in the log. Set `false` before the first use of a shared store; a later change traps.
    public static var isolatesTestProcesses: Bool {
        get { TestProcess.isIsolatedSetting.value }
        set { TestProcess.isIsolatedSetting.set(newValue) }
    }
}

extension PreferenceStore {
    /// Returns the store of a name that all of the program shares and whose values are secrets, as `.keyring`; the first call for
    /// the name creates it.
    ///
    /// Strings that the backend returns are read by the declared type, as those of a text layer. The store is in memory if
    /// `.standard` is: inside `withIsolatedStores`, in test processes and in programs that are started isolated.
    ///
    /// - Parameters:
    ///   - name: Distinguishes it from other such stores.
    ///   - makeBackend: Creates the backend, at the first use and outside of isolation only; what it throws is what the store
    ///     can't be opened for.
    package static func secret(
        _ name: String,
        backend makeBackend: @escaping @Sendable () throws(PreferencesError) -> any PreferenceBackend
    ) -> PreferenceStore {
        SharedStores.secretStore(name) {
            let source: Source
            do throws(PreferencesError) { source = Source(try makeBackend()) } catch {
                source = Source(NoBackend(because: error))
            }
            return [Layer(source: source, isText: true)]
        }
    }

    /// Returns the store of a name as above, with the layers of another store, which is asked for at the first use.
    package static func secret(
        _ name: String,
        over store: @escaping @Sendable () throws(PreferencesError) -> PreferenceStore
    ) -> PreferenceStore {
        SharedStores.secretStore(name) {
            do throws(PreferencesError) { return try store().asLayers } catch {
                return [Layer(source: Source(NoBackend(because: error)))]
            }
        }
    }
}

/// Whether the program runs tests, and what that means for the shared stores.
enum TestProcess {
    fileprivate static let isIsolatedSetting = ProgramSetting(true, "PreferenceStore.isolatesTestProcesses")

    /// Whether the shared stores are in memory, which can't be changed from now on; says so the first time.
    static func isIsolated() -> Bool {
        // Xcode starts an app that hosts tests with this variable, and loads XCTest later.
        guard c_process_runs_tests() || CurrentProcess.variable("XCTestConfigurationFilePath") != nil else {
            return false
        }
        let (isIsolated, isFirst) = isIsolatedSetting.fix()
        if isIsolated, isFirst {
            writeToLog(
                """
                in this test process the standard store and every suite are in memory, and all tests share them; \
                isolate each test with the trait .isolatedStores or PreferenceStore.withIsolatedStores, \
                or set PreferenceStore.isolatesTestProcesses to false before the first use of a store
                """
            )
        }
        return isIsolated
    }
}

extension PreferenceStore {
    /// Names the suite of `.standard` where that is a file; on Apple platforms, where the bundle does, it has no
    /// effect.
    ///
    /// The executable's name unless set. Set it first thing in the program: the first read or write of `.standard`
    /// fixes it, and a later change, or a name that can't be a suite's, traps.
    public static var applicationIdentifier: String? {
        get { ApplicationIdentifier.setting.value }
        set {
            do throws(PreferencesError) {
                if let newValue { try SuiteLocation.check(newValue) }
            } catch {
                preconditionFailure("\(error)")
            }
            ApplicationIdentifier.setting.set(newValue)
        }
    }
}

/// The program's name for its own suite.
package enum ApplicationIdentifier {
    fileprivate static let setting = ProgramSetting<String?>(nil, "PreferenceStore.applicationIdentifier")

    /// Returns the name, which can't be changed from now on.
    package static func fix() throws(PreferencesError) -> String {
        let (name, _) = setting.fix()
        return if let name { name } else { try SuiteLocation.defaultName() }
    }
}

/// A value that a program sets before it uses a shared store, and not after.
private final class ProgramSetting<Value: Equatable & Sendable>: Sendable {
    private let state: Lock<(value: Value, isFixed: Bool)>
    private let name: String

    init(_ value: Value, _ name: String) {
        state = Lock((value, false))
        self.name = name
    }

    var value: Value { state.withLock { $0.value } }

    func set(_ value: Value) {
        state.withLock { state in
            precondition(
                !state.isFixed || state.value == value,
                "\(name) was set after the first use of a shared store. Set it first thing in the program."
            )
            state.value = value
        }
    }

    /// Returns the value, which can't be changed from now on, and whether it could be until now.
    func fix() -> (value: Value, isFirst: Bool) {
        state.withLock { state in (state.value, !exchange(&state.isFixed, with: true)) }
    }
}
