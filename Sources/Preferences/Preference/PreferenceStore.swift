/// A store of values, which caches, observes and isolates what a backend stores.
///
/// All members may be used on any thread. A store is loaded at its first read or write. A write is visible to every reader in the
/// process before it returns, and observers are called without a lock held.
public final class PreferenceStore: Sendable {
    package let core: StoreCore
    /// The store's replacement inside `withIsolatedStores`; nil if the store isn't shared, so that it is never replaced.
    package let replacement: StoreReplacement?
    /// The stores of members with a store of their own, in groups over this one; nil if they keep theirs.
    package let standIns: StandIns?
    /// Gets the rules of the preferences that are declared in it.
    let rules: RuleKeeper?
    /// The scopes in use, by their prefixes.
    private let scopes = Lock(Scopes())

    private struct Scopes {
        var stores: [String: WeakStore] = [:]
        /// The number of scopes above which those that are gone are removed, so that making one takes constant time.
        var limit = 16

        /// Removes those that are gone; returns the others, which are released without the lock: these may be their last references.
        mutating func removeUnused() -> [PreferenceStore] {
            guard stores.count >= limit else { return [] }
            let used = stores.values.compactMap(\.store)
            stores = stores.filter { $0.value.store != nil }
            limit = max(16, stores.count * 2)
            return used
        }
    }

    private struct WeakStore {
        weak var store: PreferenceStore?
    }

    /// Creates a store over layers, strongest first.
    ///
    /// - Parameter isLazy: Whether they are made when the store is first used.
    private init(
        _ layers: @escaping @Sendable () -> [Layer],
        isLazy: Bool,
        issues: IssueReporter,
        scope: String = "",
        secrecy: Secrecy = .declared,
        replacement: StoreReplacement? = nil,
        standIns: StandIns? = nil,
        isFollowed: Bool = false,
        rules: RuleKeeper? = nil
    ) {
        core = StoreCore(
            layers,
            isLazy: isLazy,
            issues: issues,
            scope: scope,
            secrecy: secrecy,
            isShared: replacement != nil,
            isFollowed: isFollowed
        )
        self.replacement = replacement
        self.standIns = standIns
        self.rules = rules
        if replacement != nil { SharedStores.register(self) }
    }

    /// Creates a store over one source, whose issue handler is the store's.
    package convenience init(
        _ layer: Layer,
        isSecret: Bool = false,
        replacement: StoreReplacement? = nil,
        standIns: StandIns? = nil
    ) {
        let secrecy: Secrecy = isSecret ? .all : layer.isSecret ? .layers : .declared
        self.init(
            [layer],
            issues: layer.source.issues,
            secrecy: secrecy,
            replacement: replacement,
            standIns: standIns
        )
    }

    /// Creates a store over layers, strongest first.
    package convenience init(
        _ layers: [Layer],
        issues: IssueReporter,
        scope: String = "",
        secrecy: Secrecy = .declared,
        replacement: StoreReplacement? = nil,
        standIns: StandIns? = nil,
        isFollowed: Bool = false,
        rules: RuleKeeper? = nil
    ) {
        self.init(
            { layers },
            isLazy: false,
            issues: issues,
            scope: scope,
            secrecy: secrecy,
            replacement: replacement,
            standIns: standIns,
            isFollowed: isFollowed,
            rules: rules
        )
    }

    /// Creates a store over layers that are made when it is first used.
    package convenience init(
        isSecret: Bool = false,
        replacement: StoreReplacement? = nil,
        layers: @escaping @Sendable () -> [Layer]
    ) {
        self.init(
            layers,
            isLazy: true,
            issues: IssueReporter(),
            secrecy: isSecret ? .all : .declared,
            replacement: replacement
        )
    }

    /// Creates a store over the layers of other stores.
    convenience init(layers stores: [PreferenceStore], replacement: StoreReplacement? = nil) {
        self.init(
            { stores.flatMap(\.asLayers) },
            isLazy: !stores.allSatisfy(\.core.isUsed),
            issues: IssueReporter(),
            secrecy: stores.map(\.core.secrecy).max() ?? .declared,
            replacement: replacement
        )
    }

    /// Creates a store over the layers of another store, under a prefix.
    fileprivate convenience init(
        scope prefix: String,
        of store: PreferenceStore,
        replacement: StoreReplacement? = nil
    ) {
        self.init(
            { store.asLayers.map { $0.scoped(prefix) } },
            isLazy: !store.core.isUsed,
            issues: store.core.issues,
            scope: store.core.scope + prefix,
            secrecy: store.core.secrecy,
            replacement: replacement,
            standIns: store.standIns,
            rules: store.rules?.scoped(prefix)
        )
    }

    /// Creates a store over the layers of another store, with all layers read-only.
    fileprivate convenience init(
        readOnly name: String,
        of store: PreferenceStore,
        replacement: StoreReplacement? = nil
    ) {
        self.init(
            { store.asLayers.map { $0.readOnly(named: name) } },
            isLazy: !store.core.isUsed,
            issues: store.core.issues,
            scope: store.core.scope,
            secrecy: store.core.secrecy,
            replacement: replacement
        )
    }

    deinit { core.detach() }

    /// Returns the scope of one account, document or window, as `scoped(prefix:)` does, for an identifier of any characters.
    ///
    ///     let account = AccountPreferences(in: store.scoped("account", id: "a@example.com"))
    ///     account.theme = .dark  // stored as "account.a@example%2Ecom.theme"
    ///
    /// No scope of a name contains another one, whatever their identifiers: dots and percent signs are escaped. With a prefix
    /// instead, that of `a@example.com` is also one of `a@example.com.au`.
    ///
    /// - Parameters:
    ///   - name: What the scopes are of; the beginning of the stored names.
    ///   - id: Which one it is.
    public func scoped(_ name: String, id: String) -> PreferenceStore {
        scoped(prefix: Self.scopePrefix(name, id: id))
    }

    /// Returns the prefix of the stored names of `scoped(_:id:)`, such as `account.a@example%2Ecom.`.
    ///
    /// - Parameters:
    ///   - name: What the scopes are of.
    ///   - id: Which one it is.
    public static func scopePrefix(_ name: String, id: String) -> String {
        var escaped = ""
        for scalar in id.unicodeScalars {
            switch scalar {
            case ".": escaped += "%2E"
            case "%": escaped += "%25"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\(name).\(escaped)."
    }

    /// Creates a store of the names that begin with a prefix: for accounts, documents and windows.
    ///
    ///     let account = AccountPreferences(in: store.scoped(prefix: "account.42."))
    ///     account.theme = .dark  // stored as "account.42.theme"
    ///
    /// The scope shares its values with the store: each is visible in both at once. Names, `contents`, observers and
    /// transactions of the scope omit the prefix and see only the names that begin with it, and `removeAll()` removes only
    /// those. Issues go to the store's handler, with the whole names. A scope of a scope has both prefixes. The same prefix
    /// gives the same store while that is referenced. A scope may be a layer over its store, so that a value which an account
    /// doesn't set is read from the general settings: `.layered([store.scoped(prefix: "account.42."), store])`. Use
    /// `scoped(_:id:)` if the prefix has a part that the program doesn't choose.
    public func scoped(prefix: String) -> PreferenceStore {
        if let known = scopes.withLock({ $0.stores[prefix]?.store }) { return known }
        let made = PreferenceStore(
            scope: prefix,
            of: self,
            replacement: replacement == nil ? nil : .scope(self, prefix: prefix)
        )
        let (scope, others) = scopes.withLock { scopes -> (PreferenceStore, [PreferenceStore]) in
            if let known = scopes.stores[prefix]?.store { return (known, []) }
            let others = scopes.removeUnused()
            scopes.stores[prefix] = WeakStore(store: made)
            return (made, others)
        }
        withExtendedLifetime(others) {}
        return scope
    }

    /// Creates a read-only store with the values of this one: for layers of `layered(_:)` that the program doesn't write.
    ///
    ///     let host = fleet.scoped(prefix: "host.web-3.").readOnly(named: "host")
    ///     let preferences = FleetPreferences(in: .layered([host, fleet]))
    ///     print(preferences.$rateLimit.source)  // host
    ///
    /// Writes of the layered store go to the first writable layer below; a set of this store throws `readOnly`. Each change of
    /// the original store is visible in both at once.
    ///
    /// - Parameter name: The name of the layer in `Preference.source`. Layers that are read-only already, such as `managed`,
    ///   keep theirs.
    public func readOnly(named name: String = "read-only") -> PreferenceStore {
        PreferenceStore(
            readOnly: name,
            of: self,
            replacement: replacement == nil ? nil : .readOnly(self, name: name)
        )
    }

    /// Creates a store that keeps its values in memory only.
    public static func inMemory(_ contents: [String: PropertyListValue] = [:]) -> PreferenceStore {
        PreferenceStore(Layer(source: Source(contents)), standIns: .inMemory)
    }

    /// The store's layers, for use in another store.
    package var asLayers: [Layer] {
        core.layers.map { layer in
            var layer = layer
            layer.owner = self
            return layer
        }
    }
}

/// The replacement of a shared store inside `withIsolatedStores`.
package enum StoreReplacement: Sendable {
    /// A new store in memory; if it replaces the standard store, with the contents that the scope was opened with.
    case memory(isStandard: Bool, isSecret: Bool = false)
    /// The same layers, each replaced if it is shared.
    case layers([PreferenceStore])
    /// The same scope of the store's replacement.
    case scope(PreferenceStore, prefix: String)
    /// The layers of the store's replacement, all read-only.
    case readOnly(PreferenceStore, name: String)

    /// Whether all values of the original store are secrets.
    fileprivate var isSecret: Bool { if case .memory(_, isSecret: true) = self { true } else { false } }

    fileprivate func make(in scope: IsolationScope) -> PreferenceStore {
        switch self {
        case .memory(let isStandard, let isSecret):
            PreferenceStore(
                Layer(source: Source(isStandard ? scope.initialContents : [:])),
                isSecret: isSecret,
                standIns: .inMemory
            )
        case .layers(let layers): PreferenceStore(layers: layers.map { $0.replacement(in: scope) ?? $0 })
        case .scope(let store, let prefix): PreferenceStore(scope: prefix, of: store.replacement(in: scope) ?? store)
        case .readOnly(let store, let name): PreferenceStore(readOnly: name, of: store.replacement(in: scope) ?? store)
        }
    }
}

extension PreferenceStore {
    /// This store, or its replacement inside `withIsolatedStores`.
    package var resolved: PreferenceStore { isolated ?? self }

    /// The store's replacement in the scope that the caller runs in, if any.
    var isolated: PreferenceStore? {
        guard replacement != nil, let scope = IsolationScope.inEffect else { return nil }
        return replacement(in: scope)
    }

    fileprivate func replacement(in scope: IsolationScope) -> PreferenceStore? {
        replacement.map { replacement in
            scope.replacement(for: self) {
                let store = replacement.make(in: scope)
                store.core.replace(core)
                return store
            }
        }
    }
}

extension PreferenceStore {
    /// The closure that is called with errors that can't be thrown: unreadable values, rejected sets of a property, damage.
    /// `nil`, the default, uses `defaultIssueHandler`.
    ///
    ///     store.issueHandler = { error in log.warning("\(error)") }
    ///
    /// It is called on the thread where the issue arose, without a lock held, and may use the store. An issue that arises on
    /// that thread while a handler runs is handled after the handler has returned; if each leads to another, the handlers are
    /// no longer called after a thousand. A layered store's handler also receives the issues of its layers, such as a damaged
    /// line of a file, unless the layer has its own handler.
    public var issueHandler: (@Sendable (PreferenceError) -> Void)? {
        get { resolved.core.issues.currentHandler }
        set { resolved.core.issues.setHandler(newValue) }
    }

    /// The closure that is called with the issues of stores that have no handler.
    ///
    /// By default it writes to the log: `os.Logger` on Apple platforms, standard error elsewhere.
    public static var defaultIssueHandler: @Sendable (PreferenceError) -> Void {
        get { IssueReporter.standardHandler }
        set { IssueReporter.standardHandler = newValue }
    }

    /// Calls the issue handler with an error that was caught and can't be thrown further, as the store does with its own.
    ///
    /// For code around a store, such as a service that loads it. Without a handler the default handler is called. It runs on the calling
    /// thread before this returns; within a handler, when that returns.
    public func report(_ error: PreferenceError) {
        core.report(error)
    }
}

extension PreferenceStore {
    /// Returns whether the value of a name is a secret, because all values are or because a preference of that name was
    /// declared so.
    package func isSecret(_ name: String) -> Bool { resolved.core.isSecret(name) }

    /// Records names whose values are secrets, as declarations do.
    package func noteSecrets(_ names: [String]) { for name in names { core.noteSecret(name) } }
}

extension PreferenceStore: CustomReflectable {
    /// A mirror without children, which would expose the values of secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
