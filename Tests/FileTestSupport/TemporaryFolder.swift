import DurableFile

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A temporary folder for one test, removed with this object.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "preferences-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path(percentEncoded: false)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("the temporary folder \(path) could not be removed: \(error)")
        }
    }

    /// Returns the path of the file or folder with a name.
    package func path(_ name: String) -> String { path + "/" + name }

    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    /// Appends text, as a shell's `>>` does.
    package func append(_ text: String, to name: String) throws {
        let file = try FileSystemAppender(path: path(name))
        try file.append(text)
    }

    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
    }

    /// Returns the names in the folder, sorted.
    package func names(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    package func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }
}

extension TemporaryFolder {
    /// Rewrites a file in place, as some editors and a shell's `>` do.
    package func truncate(_ name: String, andWrite text: String) throws {
        let fileSystem = SystemFileSystem()
        let file = try fileSystem.open(path(name), for: .appending)
        try fileSystem.truncate(file, to: 0)
        try append(text, to: name)
    }

    /// Writes over the first bytes of a file, and closes it.
    package func overwrite(_ name: String, with text: String) throws {
        guard let file = fopen(path(name), "r+") else { throw FileSystemError("fopen", path(name), .noEntry) }
        fputs(text, file)
        fclose(file)
    }
}
