public import Preferences

/// Values in the format of the preferences file, as the tool `prefs` reads and shows them.
public enum PreferenceText {
    /// Reads a line, which here may also have line breaks between its tokens; a `nil` value removes the name.
    ///
    /// - Parameters:
    ///   - bytes: The text of the line.
    ///   - isStrict: Whether a name or a form that this version doesn't know is an error, as in what a person has typed.
    /// - Throws: `unreadable`; the message begins with line and column if there are several lines.
    public static func changes(
        in bytes: [UInt8],
        isStrict: Bool = true
    ) throws(PreferenceError) -> [String: PropertyListValue?] {
        try JSONLine.changes(in: bytes, isStrict: isStrict)
    }

    /// Returns the line that sets or removes names, with its newline.
    public static func line(_ changes: [String: PropertyListValue?]) throws(PreferenceError) -> [UInt8] {
        var bytes: [UInt8] = []
        try JSONLine.write(changes, to: &bytes)
        return bytes
    }

    /// Reads one JSON object as people and other programs write it: with comments, a comma behind the last element, `null` inside of
    /// values, and the keywords `$schema` and `$id`, which are left out.
    ///
    /// A member that is null is left out, an element that is null is stored as the nil of an array, and a name that is null is removed.
    ///
    /// - Throws: `unreadable`, as `changes(in:isStrict:)`.
    public static func foreignChanges(in text: [UInt8]) throws(PreferenceError) -> [String: PropertyListValue?] {
        do throws(JSONLineError) { return try ForeignJSON(text).changes(isStrict: true) } catch {
            throw PreferenceError(error, in: text)
        }
    }

    /// Returns whether the members of a value are values of their own: not those of the `nil` that a program has stored, nor of a form
    /// that this version doesn't know, which mean something together only.
    public static func hasMembers(_ value: PropertyListValue) -> Bool {
        guard case .dictionary = value else { return false }
        return !value.isUnset && value.textOfUnknownForm == nil
    }

    /// Returns the text with each character that could change the display of a terminal escaped as in JSON, except those in `kept`.
    public static func printable(_ text: String, keeping kept: [Unicode.Scalar] = []) -> String {
        text.escapingControls(except: kept)
    }
}

extension String {
    /// Returns the word that was probably meant by this one if that is a typing mistake; `nil` if no word is close enough.
    ///
    /// One character in three may be wrong; upper and lower case are the same.
    public func nearest(of words: some Sequence<String>) -> String? { nearest(among: words) }
}
