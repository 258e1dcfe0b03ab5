internal import DurableFile
internal import Preferences

extension String {
    /// The bytes of a path, which need not be UTF-8, for a function of the system.
    public var pathBytes: [CChar] { withPath { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } }

    /// Creates the string for the bytes of a path.
    public init(path: UnsafePointer<CChar>) { self = PathText.string(path) }

    /// The text with the bytes of paths that aren't UTF-8 as in `\\xFF`.
    public var withShownPaths: String { PathText.shown(self) }

    /// Returns the word that was probably meant by this one if that is a typing mistake; `nil` if no word is close enough.
    ///
    /// One character in three may be wrong; upper and lower case are the same.
    public func nearest(of words: some Sequence<String>) -> String? { nearest(among: words) }
}
