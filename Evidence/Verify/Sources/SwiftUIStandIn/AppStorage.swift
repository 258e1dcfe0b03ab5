public import Foundation

/// A stand-in for Apple's wrapper: it reads user defaults at each use, and reports no changes.
@propertyWrapper
public struct AppStorage<Value>: DynamicProperty {
    private let read: () -> Value
    private let write: (Value) -> Void

    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }

    private init(
        _ key: String,
        _ store: UserDefaults?,
        default value: Value,
        encode: @escaping (Value) -> Any? = { $0 },
        decode: @escaping (Any) -> Value?
    ) {
        let store = store ?? .standard
        read = { store.object(forKey: key).flatMap(decode) ?? value }
        write = { store.set(encode($0), forKey: key) }
    }
}

extension AppStorage {
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Bool {
        self.init(key, store, default: wrappedValue) { $0 as? Bool }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Int {
        self.init(key, store, default: wrappedValue) { ($0 as? NSNumber)?.intValue }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Double {
        self.init(key, store, default: wrappedValue) { ($0 as? NSNumber)?.doubleValue }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == String {
        self.init(key, store, default: wrappedValue) { $0 as? String }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Data {
        self.init(key, store, default: wrappedValue) { $0 as? Data }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == Date {
        self.init(key, store, default: wrappedValue) { $0 as? Date }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value == URL {
        self.init(key, store, default: wrappedValue, encode: archive, decode: unarchive)
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
    where Value: RawRepresentable, Value.RawValue == Int {
        self.init(key, store, default: wrappedValue, encode: \.rawValue) {
            ($0 as? NSNumber).flatMap { Value(rawValue: $0.intValue) }
        }
    }
    public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
    where Value: RawRepresentable, Value.RawValue == String {
        self.init(key, store, default: wrappedValue, encode: \.rawValue) {
            ($0 as? String).flatMap { Value(rawValue: $0) }
        }
    }
}

extension AppStorage where Value: ExpressibleByNilLiteral {
    public init(_ key: String, store: UserDefaults? = nil) where Value == Bool? {
        self.init(key, store, default: nil) { $0 as? Bool }
    }
    public init(_ key: String, store: UserDefaults? = nil) where Value == Int? {
        self.init(key, store, default: nil) { ($0 as? NSNumber)?.intValue }
    }
    public init(_ key: String, store: UserDefaults? = nil) where Value == Double? {
        self.init(key, store, default: nil) { ($0 as? NSNumber)?.doubleValue }
    }
    public init(_ key: String, store: UserDefaults? = nil) where Value == String? {
        self.init(key, store, default: nil) { $0 as? String }
    }
    public init(_ key: String, store: UserDefaults? = nil) where Value == Data? {
        self.init(key, store, default: nil) { $0 as? Data }
    }
    public init(_ key: String, store: UserDefaults? = nil) where Value == Date? {
        self.init(key, store, default: nil) { $0 as? Date }
    }
    public init(_ key: String, store: UserDefaults? = nil) where Value == URL? {
        self.init(key, store, default: nil, encode: { $0.flatMap(archive) }, decode: unarchive)
    }
}

extension AppStorage {
    public init<Raw: RawRepresentable>(_ key: String, store: UserDefaults? = nil)
    where Value == Raw?, Raw.RawValue == Int {
        self.init(key, store, default: nil, encode: { $0?.rawValue }) {
            ($0 as? NSNumber).flatMap { Raw(rawValue: $0.intValue) }
        }
    }
    public init<Raw: RawRepresentable>(_ key: String, store: UserDefaults? = nil)
    where Value == Raw?, Raw.RawValue == String {
        self.init(key, store, default: nil, encode: { $0?.rawValue }) {
            ($0 as? String).flatMap { Raw(rawValue: $0) }
        }
    }
}

// As in `UserDefaults.set(_:forKey:)` and `url(forKey:)`.

private func archive(_ url: URL) -> Any? {
    if url.isFileURL { return url.path }
    return NSURL(string: url.absoluteString).flatMap {
        try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
    }
}

private func unarchive(_ object: Any) -> URL? {
    if let path = object as? String { return URL(fileURLWithPath: NSString(string: path).expandingTildeInPath) }
    return (object as? Data).flatMap { try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: $0) }?
        .absoluteURL
}
