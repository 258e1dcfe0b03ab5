#if Configuration
public import Configuration
public import Preferences
internal import PreferencesSchema

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceStore {
    /// Creates a read-only store of the values that a `ConfigReader` has for the preferences of groups, as a layer of `layered(_:)`.
    ///
    ///     let deployed = ConfigReader(providers: [EnvironmentVariablesProvider(), file])
    ///     let store = PreferenceStore.layered([.standard, .configuration(deployed, for: PlayerPreferences.self)])
    ///     let player = PlayerPreferences(in: store)
    ///     print(player.volume, player.$volume.source)  // 7 configuration
    ///
    /// The preference's name, split at its dots, is the key. The reader is asked for the type in which the preference is stored: Boolean,
    /// integer, double, string, bytes, and arrays of these. Types that are stored as text, and dates, are strings; all other types are
    /// JSON in a string. A value that isn't of the preference's type is reported like any unreadable value, and the next layer
    /// is read. Rules apply, too.
    ///
    /// The store opens at its first use: it reads a snapshot of the reader and then watches the reader, in a task that ends
    /// when the store and all stores of which it is a layer are released. After each change of the reader the store has its newest values:
    /// several changes in quick succession may be one, and an older value never follows a newer one. If the watch ends otherwise, that is
    /// reported as `unavailable`; the values stay, and the watch isn't started again. The snapshots are read synchronously, so
    /// providers that only support fetching contribute no values. A write throws `readOnly`. The store may be used on any thread. The
    /// reader is always read with the shared stores of the code that opened the store, such as those of `withIsolatedStores`.
    ///
    /// A preference that is declared `isSecret` is read as a secret, so that access reporters redact it, and no issue shows its value.
    /// Values that the reader's providers mark as secret don't count as secrets here.
    ///
    /// - Parameters:
    ///   - reader: The reader of the values.
    ///   - group: The group whose preferences are read. A preference with another store, by `in:`, keeps it and isn't read.
    ///   - others: More groups. If a name has several types, the first declaration counts for all, and `misuse` is reported.
    ///   - name: The layer's name in `Preference.source`.
    ///   - keyDecoder: Returns the key of a preference's name; by default its parts between dots.
    public static func configuration(
        _ reader: ConfigReader,
        for group: any PreferenceGroup.Type,
        _ others: any PreferenceGroup.Type...,
        named name: String = "configuration",
        keyDecoder: @escaping @Sendable (_ name: String) -> ConfigKey = { ConfigKey($0) }
    ) -> PreferenceStore {
        let declarations = PreferenceStore.inMemory()
        let preferences = ([group] + others).flatMap { $0.declared(in: declarations) }
        let first = Dictionary(preferences.map { ($0.name, $0) }) { first, _ in first }
        let declared = first.values.map { preference in
            DeclaredKey(preference, key: keyDecoder(preference.name))
        }
        let conflicts = preferences.compactMap { other -> PreferenceError? in
            guard let preference = first[other.name], preference != other else { return nil }
            return PreferenceError(conflictOf: preference, other)
        }
        let store = PreferenceStore(
            backend: ConfigurationBackend(reader: reader, declared: declared, conflicts: conflicts),
            name: name,
            isReadOnly: true
        )
        store.noteSecrets(preferences.filter(\.isSecret).map(\.name))
        return store
    }
}

/// A backend over a reader's values for declared preferences.
private final class ConfigurationBackend: PreferenceBackend, @unchecked Sendable {  // the store calls it one at a time
    let place = "the configuration"
    let isWritable = false
    private let reader: ConfigReader
    private let declared: [DeclaredKey]
    private let conflicts: [PreferenceError]
    private var watch: Task<Void, Never>?
    /// The shared stores that the reader's providers see: those of the code that opened the store.
    private var isolation = PreferenceStore.isolation

    init(reader: ConfigReader, declared: [DeclaredKey], conflicts: [PreferenceError]) {
        self.reader = reader
        self.declared = declared
        self.conflicts = conflicts
    }

    deinit { watch?.cancel() }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        for conflict in conflicts { host.report(conflict) }
        isolation = PreferenceStore.isolation
        let values = current()
        watch?.cancel()
        watch = Self.watch(reader, host, isolation)
        return values
    }

    /// Reads the reader again: a watch may deliver values older than those that `load` or an earlier call has read.
    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        .contents(after: [], isolation.run { current() })
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(.readOnly, "a configuration is only read; nothing was changed. Write to a layer above it")
    }

    private func current() -> [StoredChange] {
        let snapshot = reader.snapshot()
        return declared.compactMap { declared in
            declared.value(in: snapshot).map { StoredChange(declared.preference.name, $0) }
        }
    }

    /// Returns a task that watches the reader; it keeps the reader but not the backend.
    private static func watch(
        _ reader: ConfigReader,
        _ host: PreferenceBackendHost,
        _ isolation: PreferenceIsolation
    ) -> Task<Void, Never> {
        Task.detached {
            var failure: (any Error)?
            do {
                try await isolation.run {
                    try await reader.watchSnapshot { updates in
                        for await _ in updates { host.changed() }
                    }
                }
            } catch {
                failure = error
            }
            guard !Task.isCancelled else { return }
            host.report(
                PreferenceError(
                    .unavailable,
                    "the configuration can no longer be watched; its values stay as they are until the program starts again",
                    cause: failure
                )
            )
        }
    }
}

extension PreferenceError {
    fileprivate init(conflictOf first: AnyPreference, _ other: AnyPreference) {
        self.init(
            .misuse,
            name: first.name,
            "the groups of a configuration declare the preference as \(first.valueType) and as \(other.valueType); it is read as "
                + "\(first.valueType). Declare it once"
        )
    }
}

/// A declared preference and the key of its value.
private struct DeclaredKey: Sendable {
    let preference: AnyPreference
    private let key: ConfigKey
    private let isSecret: Bool
    /// The type of the preference's values in a configuration; `nil` if it isn't known.
    private let type: ConfigType?
    /// Whether the preference decodes every type of value, so that decoding can't select the type.
    private let acceptsAny: Bool

    init(_ preference: AnyPreference, key: ConfigKey) {
        self.preference = preference
        self.key = key
        isSecret = preference.isSecret
        type = ConfigType(ofStored: preference.storedKind)
        acceptsAny =
            type == nil
            && [true, "", .data(Data()), [], [:]].allSatisfy { (value: PropertyListValue) in preference.canDecode(value)
            }
    }

    /// Returns the value in a form that the preference can decode, or else as it was found, so that it is reported.
    ///
    /// A reader doesn't distinguish a value of another type from a missing one, so the other types are tried then.
    func value(in snapshot: ConfigSnapshotReader) -> PropertyListValue? {
        var undecodable: PropertyListValue?
        var isText = false
        for type in types {
            // A text-based provider reads many a text as a number, an array or bytes.
            if isText, self.type != nil || !type.isNumber { continue }
            guard let content = snapshot.content(forKey: key, type: type, isSecret: isSecret) else { continue }
            if acceptsAny { return content.stored }
            if let value = content.readings.first(where: preference.canDecode) { return value }
            undecodable = undecodable ?? content.stored
            if type == .string { isText = true }
        }
        return undecodable
    }

    private var types: [ConfigType] {
        let others: [ConfigType] = [
            .string, .int, .double, .bool, .stringArray, .intArray, .doubleArray, .boolArray, .bytes, .byteChunkArray,
        ]
        return (type.map { [$0] } ?? []) + others.filter { $0 != type }
    }
}

extension ConfigType {
    fileprivate var isNumber: Bool { self == .int || self == .double || self == .bool }

    /// Creates the type for a schema's type of stored values; `nil` if there may be several.
    fileprivate init?(ofStored kind: [String: PropertyListValue]) {
        switch kind["type"] {
        case "boolean": self = .bool
        case "integer": self = .int
        case "number": self = .double
        // A URL is stored as a string, or rarely as an object.
        case "string", ["string", "object"]: self = .string
        case "object": self = kind["required"] == ["$data"] ? .bytes : .string
        case "array":
            switch ConfigType(ofElements: kind["items"]) {
            case .bool: self = .boolArray
            case .int: self = .intArray
            case .double: self = .doubleArray
            case .bytes: self = .byteChunkArray
            default: self = .stringArray
            }
        default: return nil
        }
    }

    /// Creates the type for the elements of an array; optional elements may also be the text that stands for `nil`.
    private init?(ofElements kind: PropertyListValue?) {
        guard case .dictionary(let kind) = kind else { return nil }
        if case .array(let kinds)? = kind["anyOf"] {
            self.init(ofElements: kinds.first)
        } else {
            self.init(ofStored: kind)
        }
    }
}

extension ConfigSnapshotReader {
    /// Returns the value of a key, or `nil` if the key has no value of the type.
    fileprivate func content(forKey key: ConfigKey, type: ConfigType, isSecret: Bool) -> ConfigContent? {
        switch type {
        case .string: string(forKey: key, isSecret: isSecret).map(ConfigContent.string)
        case .int: int(forKey: key, isSecret: isSecret).map(ConfigContent.int)
        case .double: double(forKey: key, isSecret: isSecret).map(ConfigContent.double)
        case .bool: bool(forKey: key, isSecret: isSecret).map(ConfigContent.bool)
        case .bytes: bytes(forKey: key, isSecret: isSecret).map(ConfigContent.bytes)
        case .stringArray: stringArray(forKey: key, isSecret: isSecret).map(ConfigContent.stringArray)
        case .intArray: intArray(forKey: key, isSecret: isSecret).map(ConfigContent.intArray)
        case .doubleArray: doubleArray(forKey: key, isSecret: isSecret).map(ConfigContent.doubleArray)
        case .boolArray: boolArray(forKey: key, isSecret: isSecret).map(ConfigContent.boolArray)
        case .byteChunkArray: byteChunkArray(forKey: key, isSecret: isSecret).map(ConfigContent.byteChunkArray)
        }
    }
}
#endif
