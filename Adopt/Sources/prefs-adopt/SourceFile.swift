import SwiftParser
import SwiftSyntax

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A Swift source and its syntax tree.
struct SourceFile: Sendable {
    let path: String
    let tree: SourceFileSyntax

    /// Returns the sources in files and folders, in the order of their paths, and a message for each that can't be read.
    static func read(_ paths: [String], excluding patterns: [String]) async -> (files: [SourceFile], problems: [String])
    {
        var found: [String] = []
        var problems: [String] = []
        for path in paths { collect(path, excluding: patterns, into: &found, &problems, isNamed: true) }
        var results: [String: Result<SourceFile, any Error>] = [:]
        await withTaskGroup(of: (String, Result<SourceFile, any Error>).self) { group in
            for path in found {
                group.addTask { (path, Result { try SourceFile(path) }) }
            }
            for await (path, result) in group { results[path] = result }
        }
        var files: [SourceFile] = []
        for path in found.sorted() {
            switch results.removeValue(forKey: path) {
            case .success(let file):
                files.append(file)
                if file.tree.hasError {
                    problems.append("\(path): has syntax errors; only the parts that could be parsed are searched")
                }
            case .failure(let error): problems.append("\(path): can't be read, and is left out: \(error)")
            case nil: break  // named twice
            }
        }
        return (files, problems)
    }

    init(_ path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        self.init(path: path, source: String(decoding: data, as: UTF8.self))
    }

    init(path: String, source: String) {
        self.path = path
        tree = Parser.parse(source: source)
    }

    /// Folders with dependencies or build products.
    private static let skipped: Set<String> = ["Pods", "Carthage", "DerivedData", "SourcePackages", "node_modules"]

    private static func collect(
        _ path: String,
        excluding patterns: [String],
        into found: inout [String],
        _ problems: inout [String],
        isNamed: Bool = false
    ) {
        var isFolder = false
        guard fileExists(path, &isFolder) else {
            problems.append("\(path): doesn't exist, and is left out")
            return
        }
        guard !patterns.contains(where: { Glob.matches($0, path: path) }) else { return }
        guard isFolder else {
            if isNamed || path.hasSuffix(".swift") { found.append(path) }
            return
        }
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
                guard !name.hasPrefix("."), !skipped.contains(name) else { continue }
                collect(path == "." ? name : path + "/" + name, excluding: patterns, into: &found, &problems)
            }
        } catch {
            problems.append("\(path): can't be listed, and is left out: \(error)")
        }
    }

    private static func fileExists(_ path: String, _ isFolder: inout Bool) -> Bool {
        #if canImport(Darwin)
        var isDirectory: ObjCBool = false
        defer { isFolder = isDirectory.boolValue }
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        #else
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        #endif
    }
}

/// Patterns in which `*` matches any text and `?` one character.
enum Glob {
    /// Returns whether a pattern matches the whole path, or some consecutive parts of it.
    static func matches(_ pattern: String, path: String) -> Bool {
        let parts = path.split(separator: "/")
        for start in parts.indices {
            for end in start..<parts.endIndex where matches(pattern, parts[start...end].joined(separator: "/")) {
                return true
            }
        }
        return matches(pattern, path)
    }

    /// Returns whether a pattern matches the whole text.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let pattern = Array(pattern)
        let text = Array(text)
        var (p, t) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == "*" {
                star = (p, t)
                p += 1
            } else if p < pattern.count, pattern[p] == "?" || pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                p = last.pattern + 1
                t = last.text + 1
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }
}

/// A place in a source, as the compiler writes it.
struct Place: Hashable, Comparable, CustomStringConvertible, Sendable {
    let path: String
    let line: Int
    let column: Int

    var description: String { "\(path):\(line):\(column)" }

    static func < (left: Place, right: Place) -> Bool {
        (left.path, left.line, left.column) < (right.path, right.line, right.column)
    }
}
