#if Configuration
public import Configuration
public import Preferences

/// A provider of swift-configuration over a store: the user's settings, or any other preferences, for code that reads a
/// `ConfigReader`.
///
///     let config = ConfigReader(providers: [
///         PreferenceStoreProvider(.standard),
///         EnvironmentVariablesProvider(),
///     ])
///     let volume = config.int(forKey: "player.volume", default: 5)
///
/// A key's components joined by dots are the name of the preference; the key's context is ignored. The provider reads all layers of
/// the store, and reads a value as a `Preference` of the type does: 0 and 1 as Boolean, a whole real as an integer, text of a number.
/// Stored values of a type that swift-configuration doesn't have are strings: a date in ISO 8601, an integer above `Int.max` in
/// digits, dictionaries and mixed arrays in JSON. A value that can't be read as the type throws `unreadable`, like the providers of
/// swift-configuration: the reader then returns its default, and asks no further provider. The same happens if a layer can't be
/// opened: a name for which no layer above it has a value throws `unavailable`, from a snapshot, too.
///
/// Without groups, the provider has all names with a stored value, as they are stored. With groups, it has their preferences as
/// the program reads them: a value that can't be read or violates its rule is ignored, text of the command line has the declared
/// type, and the default is returned if nothing is stored, so that later providers are never asked for the preference.
///
/// The provider may be used on any thread. `value` and `snapshot` open the store at its first use, as any read does; for a store on a
/// network, call `PreferenceStore.load()` before, or read by `fetchValue`. The `watch…` methods open it while the task is suspended.
/// They return the current value first, then each newer one, and never an older one after it; a slow consumer gets the newest. A value
/// isn't returned twice in a row; a snapshot may equal the one before if a value was changed and changed back. A transaction is
/// seen as a whole. A sequence ends when its task is cancelled.
public struct PreferenceStoreProvider: Sendable {
    private let store: PreferenceStore
    private let name: String?
    /// The preferences of the groups, by name.
    private let declared: [String: AnyPreference]
    private let secretsSpecifier: SecretsSpecifier<String, PropertyListValue>
    private let keyEncoder: @Sendable (AbsoluteConfigKey) -> String

    /// Creates a provider over a store; reads nothing.
    ///
    /// - Parameters:
    ///   - store: The store that has the values.
    ///   - groups: The groups whose preferences are provided as the program reads them, defaults included; none by default. A
    ///     preference that has another store, by `in:`, isn't provided. If a name is declared several times, the first
    ///     declaration counts. The provider keeps the store.
    ///   - name: Distinguishes the provider from other providers of the process, in `providerName` and descriptions.
    ///   - secretsSpecifier: The names and values that are secret, in addition to preferences declared `isSecret` and all values of a
    ///     store of secrets; none by default. A secret value isn't shown in descriptions, by access reporters, or in issues that reads
    ///     of the provider report. Errors that the provider throws never show a value. An issue that a `Preference` of the program
    ///     reports shows a value that is secret only by the specifier.
    ///   - keyEncoder: Returns the preference's name for a key; by default its components joined by dots.
    public init(
        _ store: PreferenceStore,
        for groups: any PreferenceGroup.Type...,
        name: String? = nil,
        secretsSpecifier: SecretsSpecifier<String, PropertyListValue> = .none,
        keyEncoder: @escaping @Sendable (_ key: AbsoluteConfigKey) -> String = { $0.components.joined(separator: ".") }
    ) {
        self.store = store
        self.name = name
        self.secretsSpecifier = secretsSpecifier
        self.keyEncoder = keyEncoder
        declared = Dictionary(groups.flatMap { $0.declared(in: store) }.map { ($0.name, $0) }) { first, _ in first }
    }
}

extension PreferenceStoreProvider: ConfigProvider {
    /// The type's name, with the provider's name in brackets if it has one.
    public var providerName: String { "PreferenceStoreProvider" + (name.map { "[\($0)]" } ?? "") }

    /// Returns the value of a key; the value of the result is `nil` if nothing is stored.
    ///
    /// - Throws: `unreadable` if the value can't be read as the type; `unavailable` if the store couldn't be opened and so may have a
    ///   value. Only `fetchValue`, a watch or a write tries again to open it.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let name = keyEncoder(key)
        return try lookup(name, type, in: store.snapshot(of: [name]))
    }

    /// Opens the store if necessary, without blocking the thread if it waits for a network, and returns the value of a key.
    ///
    /// - Throws: The errors of `value(forKey:type:)`, and the failure to open the store.
    public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try await store.load()
        return try value(forKey: key, type: type)
    }

    /// Opens the store as `fetchValue` does, and calls a closure with the key's value and each newer one.
    ///
    /// If the store can't be opened, the first element is that failure.
    ///
    /// - Throws: The errors of `updatesHandler`.
    public func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey,
        type: ConfigType,
        updatesHandler: (
            _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
        ) async throws -> Return
    ) async throws -> Return {
        let name = keyEncoder(key)
        await open()
        let updates = store.updates(of: [name]) { snapshot in
            Result<LookupResult, any Error> { try lookup(name, type, in: snapshot) }
        } isSame: { left, right in
            switch (left, right) {
            case (.success(let left), .success(let right)): left == right
            case (.failure(let left), .failure(let right)): "\(left)" == "\(right)"
            default: false
            }
        }
        return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }

    /// Returns a snapshot of the current values, which later changes don't alter.
    public func snapshot() -> any ConfigSnapshot { snapshot(of: store.snapshot()) }

    /// Opens the store as `fetchValue` does, and calls a closure with a snapshot and one after each change; a transaction is one change.
    ///
    /// If the store can't be opened, the lookups of the first snapshot throw that failure.
    ///
    /// - Throws: The errors of `updatesHandler`.
    public func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        await open()
        let updates = store.updates {
            $0
        } isSame: {
            $0 == $1
        }
        return try await updatesHandler(ConfigUpdatesAsyncSequence(updates.map { snapshot(of: $0) }))
    }
}

extension PreferenceStoreProvider {
    /// Opens the store without blocking the thread, before a watch reads it.
    private nonisolated(nonsending) func open() async {
        do {
            try await store.load()
        } catch {
            // The first snapshot reports the failure, for the names that it concerns.
        }
    }

    private struct Snapshot: ConfigSnapshot {
        let providerName: String
        let lookup: @Sendable (AbsoluteConfigKey, ConfigType) throws -> LookupResult

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult { try lookup(key, type) }
    }

    private func snapshot(of values: StoreSnapshot) -> any ConfigSnapshot {
        Snapshot(providerName: providerName) { key, type in try lookup(keyEncoder(key), type, in: values) }
    }

    private func lookup(
        _ name: String,
        _ type: ConfigType,
        in values: StoreSnapshot
    ) throws(PreferenceError) -> LookupResult {
        guard let stored = try stored(name, in: values), !stored.isUnset else {
            return LookupResult(encodedKey: name, value: nil)
        }
        guard let content = ConfigContent(stored, as: type) else {
            throw PreferenceError(
                .unreadable,
                name: name,
                "the value in \(providerName) is \(stored.kind) and can't be read as \(type); read it as another type, "
                    + "or store one of that type"
            )
        }
        return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: isSecret(name, stored)))
    }

    /// Returns whether a value is hidden, because of the preference, the store or the specifier.
    private func isSecret(_ name: String, _ value: PropertyListValue) -> Bool {
        store.isSecret(name) || secretsSpecifier.isSecret(key: name, value: value)
    }

    private func stored(_ name: String, in values: StoreSnapshot) throws(PreferenceError) -> PropertyListValue? {
        if let failure = values.failure(above: name) {
            throw PreferenceError(
                .unavailable,
                name: name,
                "the store of \(providerName) can't be opened, so it is unknown whether it has a value; fix the cause, and "
                    + "try again",
                cause: failure
            )
        }
        guard let preference = declared[name] else { return values[name] }
        return try preference.storedForm(in: values) { secretsSpecifier.isSecret(key: name, value: $0) }
    }
}

extension PreferenceStoreProvider: CustomStringConvertible {
    /// The provider's name and the number of names with a stored value in the layers that are open.
    public var description: String {
        "PreferenceStoreProvider[\(name.map { "\($0), " } ?? "")\(store.contentsOpen.count) values]"
    }
}

extension PreferenceStoreProvider: CustomDebugStringConvertible, CustomReflectable {
    /// A mirror without children, which would show the values that the specifier says are secret.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A description with the stored values; `<redacted>` for secrets.
    public var debugDescription: String {
        let values = store.contentsOpen.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\(isSecret(name, value) ? .redacted : value.description)"
        }
        let list = values.joined(separator: ", ")
        return "PreferenceStoreProvider[\(name.map { "\($0), " } ?? "")\(values.count) values: \(list)]"
    }
}

extension PreferenceGroup {
    /// Returns the preferences of the group in a store, without those that have another store, and without members of values.
    static func declared(in store: PreferenceStore) -> [AnyPreference] {
        Self(in: store).preferences.filter { $0.store === store && !$0.isMember }
    }
}
#endif
