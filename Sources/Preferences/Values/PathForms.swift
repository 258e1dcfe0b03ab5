internal import DurableFile

@_spi(Tool)
extension String {
    /// The bytes of a path, which need not be UTF-8, for a function of the system.
    public var pathBytes: [CChar] { withPath { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } }

    /// Creates the string for the bytes of a path.
    public init(path: UnsafePointer<CChar>) { self = PathText.string(path) }

    /// The text with the bytes of paths that aren't UTF-8 as in `\\xFF`.
    public var withShownPaths: String { PathText.shown(self) }
}
