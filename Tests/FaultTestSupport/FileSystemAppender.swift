import DurableFile

/// Appends without any lock, as other programs do.
package struct FileSystemAppender {
    private let file: OpenFile

    package init(path: String) throws {
        file = try SystemFileSystem().open(path, for: .creating)
    }

    package func append(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = try bytes.withUnsafeBytes { try SystemFileSystem().append($0, to: file) }
            bytes = bytes.dropFirst(count)
        }
    }
}
