internal import Foundation
internal import Preferences

/// The keys from `start` on that are less than `end`.
struct KeyRange: Hashable, Sendable {
    let start: Data
    let end: Data
}

/// The keys of one suite: `prefix/suite/name`.
///
/// Names that are equal as Swift strings have the same key, which is in normalization form C. The further keys of the suite, the
/// mark before all names and the fence and guards after them, are outside the range that is watched; see `WriteMark`.
struct KeySpace: Hashable, Sendable {
    /// The prefix of all keys of the suite.
    let start: Data
    /// The end of the range of all keys of the suite, including the fence.
    let end: Data

    /// Creates the keys of a suite.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the keys of all suites.
    ///   - suite: The name of the suite.
    init(prefix: String, suite: String) throws(PreferenceError) {
        guard !suite.isEmpty, !suite.utf8.contains(UInt8(ascii: "/")) else {
            throw PreferenceError(
                .invalidName,
                "\"\(suite)\" can't name a suite: it is empty or contains \"/\"; use a name such as \"com.example.app\""
            )
        }
        let text = prefix.isEmpty ? suite : "\(prefix)/\(suite)"
        start = Data("\(text)/".utf8)
        end = Data("\(text)0".utf8)
    }

    /// The key with an empty name, which every write puts.
    var mark: Data { start }
    /// The key after all names, which a repeated write puts to end the history that it searches.
    var fence: Data { start + [Self.fenceByte] }
    /// The last byte of the fence's key; no name contains it, as it never occurs in UTF-8.
    static let fenceByte: UInt8 = 0xFF
    /// The range of the keys that `removalGuard(of:)` returns.
    var removalGuards: KeyRange { KeyRange(start: fence + [0], end: end) }
    /// The range of all names' keys.
    var names: KeyRange { KeyRange(start: start + [0], end: fence) }

    func key(of name: String) -> Data {
        start + Data(name.precomposedStringWithCanonicalMapping.utf8)
    }

    /// Returns the key that each removal of a name puts, one of 256.
    ///
    /// A key for each name would remain for ever; with 256, two names share one so rarely that first sets seldom conflict with a
    /// removal. All processes must agree about the keys, so the hash (FNV-1a of 32 bits, folded to 8) must not change.
    func removalGuard(of key: Data) -> Data {
        let hash = key.dropFirst(start.count).reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return fence + [UInt8(truncatingIfNeeded: hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24)]
    }

    /// Returns the name that a key belongs to, or `nil` if it is the key of no name.
    func name(of key: Data) -> String? {
        guard key.starts(with: start), let name = String(validating: key.dropFirst(start.count), as: UTF8.self),
            !name.isEmpty, self.key(of: name) == key
        else { return nil }
        return name
    }
}
