#if canImport(Darwin) || STANDINS
/// "The total amount of space available in your app's key-value store, for a given user, is 1 MB. There is a per-key value
/// size limit of 1 MB, and a maximum of 1024 keys"; names have 64 bytes of UTF-8 at most.
struct CloudLimits: Sendable {
    var nameSize = 64
    var nameCount = 1024
    var size = 1024 * 1024

    /// Throws where the cloud would not take `changes`, which make `contents` of what was there.
    func check(
        _ changes: [String: PropertyListValue?],
        making contents: [String: PropertyListValue],
        of before: [String: PropertyListValue]
    ) throws(PreferencesError) {
        for (name, value) in changes where value != nil && name.utf8.count > nameSize {
            throw PreferencesError(
                .invalidName,
                name: name,
                "iCloud takes names of at most \(nameSize) bytes; nothing was changed. Use a shorter name"
            )
        }
        if contents.count > nameCount, contents.count > before.count {
            throw PreferencesError(
                .tooLarge,
                "iCloud takes \(nameCount) names at most; nothing was changed. Keep related values in one dictionary"
            )
        }
        let total = Self.size(of: contents)
        if total > size, total > Self.size(of: before) {
            throw PreferencesError(
                .tooLarge,
                "the values would take about \(total) bytes, and iCloud takes \(size); nothing was changed"
            )
        }
    }

    /// About how large values are together, in bytes.
    private static func size(of contents: [String: PropertyListValue]) -> Int {
        PropertyListValue.dictionary(contents).approximateSize
    }
}
#endif
