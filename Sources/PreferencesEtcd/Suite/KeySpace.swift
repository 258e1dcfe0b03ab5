internal import Foundation
internal import Preferences

/// The keys from `start` on that are less than `end`.
struct KeyRange: Hashable, Sendable {
    let start: Data
    let end: Data

    func contains(_ key: Data) -> Bool { !key.lexicographicallyPrecedes(start) && key.lexicographicallyPrecedes(end) }

    /// The keys that both ranges have; `nil` if there are none.
    func intersection(_ other: KeyRange) -> KeyRange? {
        let start = start.lexicographicallyPrecedes(other.start) ? other.start : start
        let end = end.lexicographicallyPrecedes(other.end) ? end : other.end
        return start.lexicographicallyPrecedes(end) ? KeyRange(start: start, end: end) : nil
    }

    /// The keys that the other range lacks, in order.
    func subtracting(_ other: KeyRange) -> [KeyRange] {
        [KeyRange(start: Data(), end: other.start), KeyRange(start: other.end, end: end)].compactMap(intersection)
    }
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
    /// The ranges of the names that are read and watched, in order and without common keys: all names, unless scopes are listed.
    ///
    /// The first one begins with the first possible name, as each name of a scope has a dot.
    private(set) var ranges: [KeyRange] = []

    /// Creates the keys of a suite.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the keys of all suites.
    ///   - suite: The name of the suite.
    ///   - scopes: The ids to read of each scope that is listed.
    init(prefix: String, suite: String, scopes: [String: [String]] = [:]) throws(PreferenceError) {
        guard !suite.isEmpty, !suite.utf8.contains(UInt8(ascii: "/")) else {
            throw PreferenceError(
                .invalidName,
                "\"\(suite)\" can't name a suite: it is empty or contains \"/\"; use a name such as \"com.example.app\""
            )
        }
        let text = prefix.isEmpty ? suite : "\(prefix)/\(suite)"
        start = Data("\(text)/".utf8)
        end = Data("\(text)0".utf8)
        ranges = [names]
        for (scope, ids) in scopes {
            let all = range(of: "\(scope).")
            let listed = Set(ids.map { range(of: PreferenceStore.scopePrefix(scope, id: $0)) })
            ranges = ranges.flatMap { range in range.subtracting(all) + listed.compactMap(range.intersection) }
        }
        ranges.sort { $0.start.lexicographicallyPrecedes($1.start) }
    }

    /// Whether names of other scopes than the listed ones are neither read nor watched.
    var isPartial: Bool { ranges != [names] }

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

    /// Returns the range of the keys whose names begin with a prefix, or of all names for an empty prefix.
    func range(of prefix: String) -> KeyRange {
        guard !prefix.isEmpty else { return names }
        let first = key(of: prefix)
        // The addition can't overflow, as no byte of UTF-8 is 255.
        return KeyRange(start: first, end: first.dropLast() + [first[first.endIndex - 1] + 1])
    }

    /// Returns the ranges of the names that begin with a prefix and are read.
    func ranges(of prefix: String) -> [KeyRange] { ranges.compactMap(range(of: prefix).intersection) }

    /// Returns whether a name is read and watched.
    func contains(_ name: String) -> Bool {
        let key = key(of: name)
        return ranges.contains { $0.contains(key) }
    }

    /// Returns the name that a key belongs to, or `nil` if it is the key of no name.
    func name(of key: Data) -> String? {
        guard key.starts(with: start), let name = String(validating: key.dropFirst(start.count), as: UTF8.self),
            !name.isEmpty, self.key(of: name) == key
        else { return nil }
        return name
    }
}
