internal import Foundation
internal import Preferences

/// The keys of one suite: `prefix/suite/name`.
///
/// Names that are equal as Swift strings are one key: that of the normal form C. The key with no name is the suite's mark,
/// by which a writer finds its own write again; see `WriteMark`.
struct KeySpace: Hashable, Sendable {
    /// What all keys of the suite begin with.
    let start: Data
    /// The first key behind them.
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

    var mark: Data { start }

    func key(of name: String) -> Data {
        start + Data(name.precomposedStringWithCanonicalMapping.utf8)
    }

    /// The keys of the names that begin with a prefix, from `start` on and below `end`; all keys for an empty prefix.
    func range(of prefix: String) -> (start: Data, end: Data) {
        guard !prefix.isEmpty else { return (start, end) }
        let first = key(of: prefix)
        // No byte of UTF-8 is 255.
        return (first, first.dropLast() + [first[first.endIndex - 1] + 1])
    }

    /// The name that a key stands for; nil for the mark, and for keys that no name has.
    func name(of key: Data) -> String? {
        guard key.starts(with: start), let name = String(validating: key.dropFirst(start.count), as: UTF8.self),
            !name.isEmpty, self.key(of: name) == key
        else { return nil }
        return name
    }
}
