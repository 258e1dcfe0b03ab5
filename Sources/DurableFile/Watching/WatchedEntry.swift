/// A name in a folder; when something happens to it, a watched path may mean another file.
package struct WatchedEntry: Hashable, Sendable {
    /// The path of the folder, without links.
    var folder: String
    var name: String
    var isLink = false
}
