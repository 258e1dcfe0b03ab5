internal import Preferences

extension String {
    /// Returns the word that was probably meant by this one if that is a typing mistake; `nil` if no word is close enough.
    ///
    /// One character in three may be wrong; upper and lower case are the same.
    public func nearest(of words: some Sequence<String>) -> String? { nearest(among: words) }
}
