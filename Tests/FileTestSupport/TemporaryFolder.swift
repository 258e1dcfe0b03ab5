#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
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
        try write(text, to: name, mode: "a")
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
    package func truncate(_ name: String, andWrite text: String) throws { try write(text, to: name, mode: "w") }

    /// Writes over the first bytes of a file, and closes it.
    package func overwrite(_ name: String, with text: String) throws { try write(text, to: name, mode: "r+") }

    private func write(_ text: String, to name: String, mode: String) throws {
        guard let file = fopen(path(name), mode) else { throw UnwritableFile(path: path(name)) }
        defer { fclose(file) }
        guard fputs(text, file) >= 0, fflush(file) == 0 else { throw UnwritableFile(path: path(name)) }
    }

    private struct UnwritableFile: Error { let path: String }
}
