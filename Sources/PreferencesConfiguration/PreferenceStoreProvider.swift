#if Configuration
public import Configuration
public import Preferences

/// A provider of swift-configuration over a store: settings of the user, or any other preferences, for code that reads a
/// `ConfigReader`.
///
///     let config = ConfigReader(providers: [
///         PreferenceStoreProvider(.standard),
///         EnvironmentVariablesProvider(),
///     ])
///     let volume = config.int(forKey: "player.volume", default: 5)
///
/// A key's components joined by dots are the name of the preference; the key's context is ignored. The provider has all layers of
/// the store, and reads a value as a `Preference` of the type does: 0 and 1 as Boolean, a whole real as an integer, text of a number.
/// Stored values of a kind that swift-configuration doesn't have are strings: a date in ISO 8601, an integer above `Int.max` in
/// digits, dictionaries and mixed arrays in JSON. A value that can't be read as the type throws `unreadable`, as do the providers of
/// swift-configuration: a reader then takes its default, and asks no further provider. So it is with a store that can't be opened: a
/// name for which no layer above the failed one has a value throws `unavailable`, from a snapshot too.
///
/// Without groups the provider has the names that have a stored value, as they are stored. With groups it has their preferences as
/// the program reads them: a value that can't be read or breaks the rule is passed over, text of the command line is of the declared
/// type, and a default stands where nothing is stored, so that providers behind this one are no longer asked for it.
///
/// All of it may be used on any thread. `value` and `snapshot` open the store at its first use, as any read does: for a store on a
/// network call `PreferenceStore.load()` before, or read by `fetchValue`. The `watch…` methods open it while the task is suspended. They
/// give the current value first, then each newer one, never an older one after it; a slow consumer gets the newest. A value isn't
/// given twice in a row; a snapshot may be equal to the one before if something has changed and changed back. They show a transaction
/// at once or not at all. A sequence ends when its task is cancelled.
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
    ///   - store: The store whose values are provided.
    ///   - groups: The groups whose preferences are provided as the program reads them, defaults included; none by default. A
    ///     preference that names another store, by `in:`, isn't one of them. If a name is declared several times, the first
    ///     declaration counts. The provider keeps the store.
    ///   - name: Distinguishes the provider from others of the process, in `providerName` and descriptions.
    ///   - secretsSpecifier: The names and values that are secret, besides preferences that are declared `isSecret` and all values of a
    ///     store of secrets; none by default. A secret value isn't shown in descriptions, by access reporters, and in issues that reads
    ///     of the provider report. Errors that it throws show no value at all. An issue that a `Preference` of the program reports
    ///     isn't the provider's: it shows a value that only the specifier says is secret.
    ///   - keyEncoder: Returns the preference's name of a key; by default its components joined by dots.
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
    /// The type's name, with that of the provider in brackets if it has one.
    public var providerName: String { "PreferenceStoreProvider" + (name.map { "[\($0)]" } ?? "") }

    /// Returns the value of a key; `nil` in the result if nothing is stored.
    ///
    /// - Throws: `unreadable` if the value can't be read as the type, `unavailable` if the store couldn't be opened, so that it isn't
    ///   known whether there is a value. Only `fetchValue`, a watch or a write tries again to open it.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let name = keyEncoder(key)
        return try lookup(name, type, in: store.snapshot(of: [name]))
    }

    /// Opens the store unless that is done, without blocking the thread if it waits for a network, and returns the value of a key.
    ///
    /// - Throws: As `value(forKey:type:)`, and the failure to open the store.
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

    /// Returns the values of this moment, which no later change alters.
    public func snapshot() -> any ConfigSnapshot { snapshot(of: store.snapshot()) }

    /// Opens the store as `fetchValue` does, and calls a closure with a snapshot and one after each change; after a transaction one.
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
            // The first snapshot has the failure, for the names that it concerns.
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
    ) throws(PreferencesError) -> LookupResult {
        guard let stored = try stored(name, in: values) else { return LookupResult(encodedKey: name, value: nil) }
        guard let content = ConfigContent(stored, as: type) else {
            throw PreferencesError(
                .unreadable,
                name: name,
                "the value in \(providerName) is \(stored.kind) and can't be read as \(type); read it as another type, "
                    + "or store one of that type"
            )
        }
        return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: isSecret(name, stored)))
    }

    /// Whether a value isn't shown: as the preferences or the store say, or the specifier.
    private func isSecret(_ name: String, _ value: PropertyListValue) -> Bool {
        store.isSecret(name) || secretsSpecifier.isSecret(key: name, value: value)
    }

    private func stored(_ name: String, in values: StoreSnapshot) throws(PreferencesError) -> PropertyListValue? {
        if let failure = values.failure(above: name) {
            throw PreferencesError(
                .unavailable,
                name: name,
                "the store of \(providerName) could not be opened, so that it isn't known whether there is a value; mend that, and "
                    + "try again",
                cause: failure
            )
        }
        guard let preference = declared[name] else { return values[name] }
        return try preference.storedForm(in: values) { secretsSpecifier.isSecret(key: name, value: $0) }
    }
}

extension PreferenceStoreProvider: CustomStringConvertible {
    /// The provider's name and the number of names that have a stored value, as far as the store was opened.
    public var description: String {
        "PreferenceStoreProvider[\(name.map { "\($0), " } ?? "")\(store.contentsOpen.count) values]"
    }
}

extension PreferenceStoreProvider: CustomDebugStringConvertible, CustomReflectable {
    /// A mirror without children, which would have the values that the specifier says are secret.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The description with the stored values; `<redacted>` for secrets.
    public var debugDescription: String {
        let values = store.contentsOpen.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\(isSecret(name, value) ? .redacted : value.description)"
        }
        let list = values.joined(separator: ", ")
        return "PreferenceStoreProvider[\(name.map { "\($0), " } ?? "")\(values.count) values: \(list)]"
    }
}

extension PreferenceGroup {
    /// The preferences of the group that a store has, without those that name another, and without members of values.
    static func declared(in store: PreferenceStore) -> [AnyPreference] {
        Self(in: store).preferences.filter { $0.store === store && !$0.isMember }
    }
}
#endif
