internal import DurableFile

extension String {
    /// The text with the bytes of paths that aren't UTF-8 as in `\\xFF`.
    package var withShownPaths: String { PathText.shown(self) }
}
