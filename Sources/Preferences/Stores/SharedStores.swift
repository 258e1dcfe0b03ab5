internal import CDurableFile
internal import DurableFile

/// The identity of a store that the whole program shares.
package enum SharedStore: Hashable, Sendable {
    case standard
    case state
    case suite(String)
}

/// The stores that the whole program shares: created at the first use and never released.
package enum SharedStores {
    private enum Key: Hashable, Sendable {
        case program(SharedStore)
        /// A store that another module defines.
        case other(String)
    }

    private struct Registry {
        var stores: [Key: PreferenceStore] = [:]
        /// Layered, scoped and read-only stores over shared ones.
        var layered: [Layered] = []
    }

    private struct Layered {
        weak var store: PreferenceStore?
    }

    private static let registry = Lock(Registry())

    /// Takes the lock for a `fork` unless another thread has it, and returns whether it did.
    static func take() -> Bool { registry.take() }
    static func release(inChild: Bool) { registry.release(inChild: inChild) }

    static func store(_ shared: SharedStore) -> PreferenceStore {
        store(.program(shared), isStandard: shared == .standard) { shared.layers() }
    }

    /// Returns the store of that name for another module, whose values are secrets; creates it at the first call.
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
            let store = PreferenceStore(replacement: .memory(isStandard: isStandard, isSecret: isSecret)) {
                IsolatedProgram.isOn || TestProcess.isIsolated() ? [Layer(source: Source([:]))] : layers()
            }
            registry.stores[key] = store
            return store
        }
    }

    /// Adds a layered store to those that `dropCachedValues` reaches.
    package static func register(layered store: PreferenceStore) {
        let others = registry.withLock { registry in
            let others = registry.layered.compactMap(\.store)
            registry.layered.removeAll { $0.store == nil }
            registry.layered.append(Layered(store: store))
            return others
        }
        // Not under the lock: these may be the last references, and the deinitializers may run code of the program.
        withExtendedLifetime(others) {}
    }

    /// Drops the decoded values that stores with a replacement have cached, if `isNeeded` returns true.
    static func dropCachedValues(if isNeeded: () -> Bool) {
        let touched = registry.withLock { registry -> [PreferenceStore] in
            guard isNeeded() else { return [] }
            let stores = Array(registry.stores.values) + registry.layered.compactMap(\.store)
            for store in stores { store.core.state.withLock { $0.dropCachedValues() } }
            return stores
        }
        withExtendedLifetime(touched) {}
    }
}

extension PreferenceStore {
    /// The store of this program.
    ///
    /// On Apple platforms `UserDefaults.standard`; elsewhere the file of `applicationIdentifier`. If the file can't be opened,
    /// the error is reported once and reads give defaults. Values that properties and `reset()` set are shown, reported and kept in
    /// memory, and stored once the file can be opened; each write, and each change in the file's folder, tries again. Until then all
    /// that can throw, such as `write`, `update`, `read()`, `load()` and `flush()`, throws, and changes nothing.
    ///
    /// In a program started with `PREFERENCES_ISOLATED=1` in its environment, or with the arguments `-PreferencesIsolated YES`,
    /// this store, `state` and every suite are in memory, initially empty and without managed settings: for previews and for tests of
    /// the user interface. They are in memory in a test process, too; see `isolatesTestProcesses`.
    public static let standard = SharedStores.store(.standard)

    /// The store of what this program remembers by itself, such as the frames of windows, the last tab and counters: so that the
    /// settings in `standard` are those that the user made, and a person can keep their file in version control.
    ///
    ///     @Preference("window.frame", in: .state) var frame = Frame()
    ///
    /// On Apple platforms it is the suite of the bundle's identifier and `.state`; elsewhere the file `state.jsonl` in
    /// `$XDG_STATE_HOME/NAME`, otherwise in `~/.local/state/NAME`, or in the first folder of `$STATE_DIRECTORY`, which systemd sets for a
    /// service. `NAME` is `applicationIdentifier`. It has neither managed settings nor the system's defaults. It is in memory, initially
    /// empty, wherever `standard` is.
    public static let state = SharedStores.store(.state)

    /// Returns the store of a name that several programs may share.
    ///
    /// On Apple platforms it is `UserDefaults(suiteName:)`, for an app group; elsewhere the file of that name. The same name
    /// gives the same store, however often it is requested.
    ///
    /// It is for names that the program's source contains: an invalid name traps.
    ///
    /// - Precondition: `name` is valid: a folder's name of at most 200 bytes without a leading dot, and on Apple platforms neither
    ///   the program's own bundle identifier nor the global domain.
    public static func suite(_ name: String) -> PreferenceStore {
        do throws(PreferenceError) {
            try SuiteLocation.check(name)
            try SharedStore.checkSuite(name)
        } catch {
            preconditionFailure("\(error)")
        }
        return SharedStores.store(.suite(name))
    }

    /// Creates a store that combines several: the first that has a name determines its value.
    ///
    /// Writes go to the first writable layer; `arguments`, `environment`, `managed` and `system` are read-only. A name that a
    /// managed layer has can't be changed: `write` throws `managed`. A value set below a stronger layer's is stored and
    /// reported as `hidden`, once for each name; `update` and transactions read and write as if the read-only layers above the
    /// writable one were absent. `Preference.source` names the layer that a value comes from. A layer's change is visible in
    /// the layered store as soon as in the layer.
    public static func layered(_ layers: [PreferenceStore]) -> PreferenceStore {
        let showsShared = layers.contains { $0.replacement != nil }
        let store = PreferenceStore(layers: layers, replacement: showsShared ? .layers(layers) : nil)
        if showsShared { SharedStores.register(layered: store) }
        return store
    }
}

extension PreferenceStore {
    /// The stores that the calling code sees in place of the shared ones, to pass on to detached tasks, queues and threads.
    public static var isolation: PreferenceIsolation {
        PreferenceIsolation.current
    }

    /// Runs `body` with a new in-memory store in place of `.standard`, `.state` and of every `.suite`.
    ///
    /// Every preference uses the new stores while it is used inside `body`, also those in static properties and in objects
    /// created before; each suite has its own store. Layered stores over a shared one are replaced, too. Stores that the
    /// program creates, such as those of `file(at:)`, are not replaced. Child tasks and `Task { … }` inherit the scope until
    /// they end; detached tasks, dispatch queues and threads don't: pass `isolation` on to them. Observations and
    /// iterators continue with the stores of the scope that they were created in. Scopes nest; the innermost is used. Any
    /// number may be open at once.
    ///
    /// - Parameters:
    ///   - contents: The initial contents of `.standard`.
    ///   - body: The closure to run with the new stores, on the calling thread; its result is returned, its error thrown.
    public static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try IsolationScope.with(scope(contents), body)
    }

    /// Runs an asynchronous `body` as the synchronous form does. `body` runs on the caller's actor.
    public nonisolated(nonsending) static func withIsolatedStores<Result, Failure: Error>(
        _ contents: [String: PropertyListValue] = [:],
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await IsolationScope.with(scope(contents), body)
    }

    private static func scope(_ contents: [String: PropertyListValue]) -> IsolationScope {
        IsolationScope(contents) { SharedStores.dropCachedValues(if: $0) }
    }
}

extension PreferenceStore {
    /// Whether `.standard`, `.state` and every suite keep their values in memory in a test process, so that a test without
    /// `withIsolatedStores` or the trait `.isolatedStores` never changes the user's preferences; `true` by default.
    ///
    /// A test process is one in which Swift Testing or XCTest is loaded. Its tests share these stores: the first use outside a
    /// scope logs that. Set it to `false` before the first use of a shared store; a later change traps.
    public static var isolatesTestProcesses: Bool {
        get { TestProcess.isIsolatedSetting.value }
        set { TestProcess.isIsolatedSetting.set(newValue) }
    }
}

extension PreferenceStore {
    /// Returns the store of a name that the whole program shares and whose values are secrets, such as `.keyring`; creates it
    /// at the first call.
    ///
    /// Strings that the backend returns are read by the declared type, like those of a text layer. The store is in memory if
    /// `.standard` is: inside `withIsolatedStores`, in test processes and in programs that are started isolated.
    ///
    /// - Parameters:
    ///   - name: Distinguishes the store from other such stores.
    ///   - makeBackend: Creates the backend, at the first use and only outside of isolation. If it throws, opening the store
    ///     fails with that error.
    package static func secret(
        _ name: String,
        backend makeBackend: @escaping @Sendable () throws(PreferenceError) -> any PreferenceBackend
    ) -> PreferenceStore {
        SharedStores.secretStore(name) {
            let source: Source
            do throws(PreferenceError) { source = Source(try makeBackend()) } catch {
                source = Source(NoBackend(because: error))
            }
            return [Layer(source: source, isText: true)]
        }
    }

    /// Returns such a store over the layers of another store, which is requested at the first use.
    package static func secret(
        _ name: String,
        over store: @escaping @Sendable () throws(PreferenceError) -> PreferenceStore
    ) -> PreferenceStore {
        SharedStores.secretStore(name) {
            do throws(PreferenceError) { return try store().asLayers } catch {
                return [Layer(source: Source(NoBackend(because: error)))]
            }
        }
    }
}

/// Whether the program runs tests, and whether its shared stores are therefore in memory.
enum TestProcess {
    fileprivate static let isIsolatedSetting = ProgramSetting(true, "PreferenceStore.isolatesTestProcesses")

    /// Returns whether the shared stores are in memory, which can't be changed afterwards; logs it the first time.
    static func isIsolated() -> Bool {
        // Xcode starts an app that hosts tests with this variable, and loads XCTest later.
        guard c_process_runs_tests() || CurrentProcess.variable("XCTestConfigurationFilePath") != nil else {
            return false
        }
        let (isIsolated, isFirst) = isIsolatedSetting.fix()
        if isIsolated, isFirst {
            writeToLog(
                IsolationScope.areOpen
                    ? """
                    a shared store was used outside of the scope of any test, while a test with isolated stores runs: a dispatch queue, \
                    a thread or a detached task doesn't inherit the scope and sees stores in memory that all tests share; capture \
                    PreferenceStore.isolation in the test and use it there, as in queue.async { isolation.run { … } }
                    """
                    : """
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
    /// Whether files are used regardless of their owners; `false` by default.
    ///
    /// A program of root, or one with set-user-ID, uses no file and no folder that is neither its own nor root's. Set it to
    /// `true` first thing in a program that works on files of its users, such as one in a container whose folders belong to another
    /// user; a change after the first use of a store over a file traps. `file(at:durability:trustsOwner:)` is for one file.
    public static var trustsOwners: Bool {
        get { TrustedOwners.setting.value }
        set { TrustedOwners.setting.set(newValue) }
    }

    /// The name of the suite of `.standard` if that is a file. It has no effect on Apple platforms, where the bundle determines
    /// it.
    ///
    /// The default is the executable's name. Set it first thing in the program: the first read or write of `.standard` or `.state`, in a
    /// service also that of a suite, fixes it, and a later change, or an invalid name, traps.
    public static var applicationIdentifier: String? {
        get { ApplicationIdentifier.setting.value }
        set {
            do throws(PreferenceError) {
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

    /// Returns the name, which can't be changed afterwards.
    package static func fix() throws(PreferenceError) -> String {
        let (name, _) = setting.fix()
        return if let name { name } else { try SuiteLocation.defaultName() }
    }

    /// Returns whether a suite is that of the program, and has a place of its own in a service; then the program's name can't be changed
    /// afterwards.
    static func isPlaced(_ suite: String) -> Bool {
        guard SuiteLocation.Environment.isOfService else { return false }
        do throws(PreferenceError) { return try fix() == suite } catch { return false }
    }
}
