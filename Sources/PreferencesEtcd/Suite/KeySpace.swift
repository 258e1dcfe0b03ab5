internal import Foundation
internal import Preferences

/// The keys of one suite: `prefix/suite/name`.
///
/// Names that are equal as Swift strings have the same key, which is in normalization form C. Two further keys of the suite, the
/// mark before all names and the fence after them, are outside the range that is watched; see `WriteMark`.
struct KeySpace: Hashable, Sendable {
    /// The prefix of all keys of the suite.
    let start: Data
    /// The end of the range of all keys of the suite, including the fence.
    let end: Data

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
    /// The range of the names' keys, which excludes its end.
    var names: (start: Data, end: Data) { (start + [0], fence) }

    func key(of name: String) -> Data {
        start + Data(name.precomposedStringWithCanonicalMapping.utf8)
    }

    /// Returns the range of the keys whose names begin with a prefix, or of all names for an empty prefix.
    func range(of prefix: String) -> (start: Data, end: Data) {
        guard !prefix.isEmpty else { return names }
        let first = key(of: prefix)
        // The addition can't overflow, as no byte of UTF-8 is 255.
        return (first, first.dropLast() + [first[first.endIndex - 1] + 1])
    }

    /// Returns the name that a key belongs to, or `nil` if it is the key of no name.
    func name(of key: Data) -> String? {
        guard key.starts(with: start), let name = String(validating: key.dropFirst(start.count), as: UTF8.self),
            !name.isEmpty, self.key(of: name) == key
        else { return nil }
        return name
    }
}
