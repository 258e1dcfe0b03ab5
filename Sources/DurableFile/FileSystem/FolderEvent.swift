/// What happened to an entry of a watched folder, or to the folder.
package struct FolderEvent: Equatable, Sendable {
    package enum Kind: Sendable {
        /// Something was written.
        case content
        /// A file that was open for writing was closed.
        case closed
        /// A file was renamed to the name, so it is complete.
        case arrived
        /// The name came or went otherwise.
        case name
        /// The folder itself was removed or renamed, and tells nothing more under its path.
        case folderGone
        /// Events were lost, of any folder.
        case overflow
    }

    package var watch: Int32
    package var name: String
    package var kind: Kind
}
