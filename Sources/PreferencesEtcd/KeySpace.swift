internal import Foundation
internal import Preferences

/// The keys of one suite: `prefix/suite/name`.
///
/// Names that are equal as Swift strings are one key: that of the normal form C. The suite has two keys more, the mark
/// before all names and the fence behind them, which no watch pays for; see `WriteMark`.
struct KeySpace: Hashable, Sendable {
    /// The bytes that all keys of the suite begin with.
    let start: Data
    /// The first key behind all of the suite, the fence included.
    let end: Data

    init(prefix: String, suite: String) throws(PreferencesError) {
        guard !suite.isEmpty, !suite.utf8.contains(UInt8(ascii: "/")) else {
            throw PreferencesError(
                .invalidName,
                "\"\(suite)\" can't name a suite: it is empty or contains \"/\"; use a name such as \"com.example.app\""
            )
        }
        let text = prefix.isEmpty ? suite : "\(prefix)/\(suite)"
        start = Data("\(text)/".utf8)
        end = Data("\(text)0".utf8)
    }

    /// The key with no name, which every write puts.
    var mark: Data { start }
    /// The key that ends the history of a write, behind all names.
    var fence: Data { start + [Self.fenceByte] }
    /// In no name, as no byte of UTF-8 is 255.
    static let fenceByte: UInt8 = 0xFF
    /// The range of the names' keys, from `start` on and below `end`.
    var names: (start: Data, end: Data) { (start + [0], fence) }

    func key(of name: String) -> Data {
        start + Data(name.precomposedStringWithCanonicalMapping.utf8)
    }

    /// Returns the range of the names that begin with a prefix; of all names for an empty prefix.
    func range(of prefix: String) -> (start: Data, end: Data) {
        guard !prefix.isEmpty else { return names }
        let first = key(of: prefix)
        // No byte of UTF-8 is 255.
        return (first, first.dropLast() + [first[first.endIndex - 1] + 1])
    }

    /// Returns the name that a key stands for, or nil if no name has it.
    func name(of key: Data) -> String? {
        guard key.starts(with: start), let name = String(validating: key.dropFirst(start.count), as: UTF8.self),
            !name.isEmpty, self.key(of: name) == key
        else { return nil }
        return name
    }
}
