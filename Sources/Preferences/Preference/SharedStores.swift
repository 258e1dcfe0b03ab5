/// The identity of a store that the whole program shares.
package enum SharedStore: Hashable, Sendable {
    case standard
    case state
    case suite(String)

    fileprivate var key: String {
        switch self {
        case .standard: "standard"
        case .state: "state"
        case .suite(let name): "suite " + name
        }
    }
}

/// The stores that the whole program shares: created when they are first requested, and never released.
enum SharedStores {
    private struct Registry {
        /// All stores with a replacement.
        var replaceable: [Replaceable] = []
    }

    private struct Replaceable {
        weak var core: StoreCore?
    }

    private static let registry = Lock(Registry())

    static func store(_ shared: SharedStore) -> PreferenceStore {
        store(shared.key, .memory(isStandard: shared == .standard)) { shared.layers() }
    }

    /// Returns the store of a key; creates it at the first call in this process, and its layers when it is first used.
    fileprivate static func store(
        _ key: String,
        isSecret: Bool = false,
        _ replacement: StoreReplacement,
        layers: @escaping @Sendable () -> [Layer]
    ) -> PreferenceStore {
        Process.current.shared(key, isKept: true) {
            PreferenceStore(isSecret: isSecret, replacement: replacement) {
                IsolatedProgram.isOn || TestProcess.isIsolated() ? [Layer(source: Source([:]))] : layers()
            }
        }
    }

    /// Adds a store to those that `dropCachedValues` reaches.
    static func register(_ store: PreferenceStore) {
        registry.withLock { registry in
            // Those that are gone are removed when the list would grow, so an addition takes constant time.
            let all = registry.replaceable
            if all.count == all.capacity { registry.replaceable.removeAll { $0.core == nil } }
            registry.replaceable.append(Replaceable(core: store.core))
        }
    }

    /// Drops the decoded values that stores with a replacement have cached, if `isNeeded` returns true.
    static func dropCachedValues(if isNeeded: () -> Bool) {
        let cores = registry.withLock { registry -> [StoreCore] in
            isNeeded() ? registry.replaceable.compactMap(\.core) : []
        }
        for core in cores { core.dropCachedValues() }
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
    public static var standard: PreferenceStore { SharedStores.store(.standard) }

    /// The store of what this program remembers by itself, such as the frames of windows, the last tab and counters: so that the
    /// settings in `standard` are those that the user made, and a person can keep their file in version control.
    ///
    ///     @Preference("window.frame", in: .state) var frame = Frame()
    ///
    /// On Apple platforms it is the suite of the bundle's identifier and `.state`; elsewhere the file `state.jsonl` in
    /// `$XDG_STATE_HOME/NAME`, otherwise in `~/.local/state/NAME`, or in the first folder of `$STATE_DIRECTORY`, which systemd sets for a
    /// service. `NAME` is `applicationIdentifier`. It has neither managed settings nor the system's defaults. It is in memory, initially
    /// empty, wherever `standard` is.
    public static var state: PreferenceStore { SharedStores.store(.state) }

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

    /// Returns the store of a name that the whole program shares and whose values are secrets, such as `.keyring`; creates it
    /// at the first call. It is in memory if `.standard` is: inside `withIsolatedStores`, in test processes and in programs that are
    /// started isolated.
    ///
    /// - Parameters:
    ///   - name: Distinguishes the store from other such stores.
    ///   - layers: Makes the layers, at the first use and only outside of isolation. If it throws, opening the store fails with that error.
    package static func secret(
        _ name: String,
        layers: @escaping @Sendable () throws(PreferenceError) -> [Layer]
    ) -> PreferenceStore {
        SharedStores.store("secret " + name, isSecret: true, .memory(isStandard: false, isSecret: true)) {
            do throws(PreferenceError) { return try layers() } catch {
                return [Layer(source: Source(NoBackend(error)))]
            }
        }
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
        return PreferenceStore(layers: layers, replacement: showsShared ? .layers(layers) : nil)
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
