#if canImport(Darwin)
public import Foundation

extension PreferenceCoding where Value: NSObject & NSSecureCoding & Sendable {
    /// As a secure keyed archive in data.
    public static var secureArchive: PreferenceCoding {
        PreferenceCoding(adopting: "secureArchive") { value in
            .data(try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true))
        } decode: { stored in
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: try Data(storedValue: stored))
        }
    }
}

extension PreferenceCoding
where Value: OptionalPreferenceValue & Sendable, Value.Wrapped: NSObject & NSSecureCoding & Sendable {
    /// As a secure keyed archive in data, nil as not set.
    public static var secureArchive: PreferenceCoding {
        PreferenceCoding(adopting: "secureArchive") { value in
            try value.wrapped.map {
                .data(try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true))
            }
        } decode: { stored in
            let data = try Data(storedValue: stored)
            return try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.Wrapped.self, from: data).map { Value($0) }
        }
    }
}
#endif
