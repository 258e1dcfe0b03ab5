#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A piece of compiled code, between the lines `// snippet: name` and `// end`, that a document shows.
struct Snippet: Hashable {
    let name: String
    /// The code without the indentation of the mark.
    let text: String

    /// The repository's folder.
    static var root: URL { URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL }

    /// Returns all snippets: of this target, of the library's tests, of those with a trait, and of `Verify`, which compiles code for Apple's platforms.
    static func all() throws -> [Snippet] {
        try [
            "Tests/PreferencesTests", "Tests/Products/DocumentationTests", "Tests/Products/PreferencesEtcdTests",
            "Tests/Products/PreferencesConfigurationTests", "Tests/Products/PreferencesMacrosTests",
            "Tests/Products/PreferencesFoundationTests", "Tests/Products/PreferencesKeyringTests",
            "Evidence/Verify/Tests/VerifyTests",
        ].flatMap { target in
            let folder = root.appending(path: "\(target)/Snippets")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().flatMap { file in
                snippets(in: try String(contentsOf: folder.appending(path: file), encoding: .utf8))
            }
        }
    }

    /// Returns the files of the examples, which are compiled separately; a document may show whole lines of them.
    static func examples() throws -> [String] {
        let examples = root.appending(path: "Examples")
        let paths = try ["Sources", "Tests", "notes/Sources", "notes/Tests"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: examples.appending(path: folder).path)
                .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
        }
        return try (["Package.swift"] + paths).map { path in
            "\n" + (try String(contentsOf: examples.appending(path: path), encoding: .utf8))
        }
    }

    /// Returns the code blocks of a Markdown document in a language.
    static func blocks(of document: String, language: String = "swift") throws -> [String] {
        let text = try String(contentsOf: root.appending(path: document), encoding: .utf8)
        return sections(of: text, from: "```\(language)", to: "```").map(\.text)
    }

    /// Returns the output that a snippet's comments show: those after a `print`, and those on separate lines.
    static func shownOutput(of name: String) throws -> [String] {
        guard let snippet = try all().first(where: { $0.name == name }) else { return ["no snippet is named \(name)"] }
        return snippet.text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("// ") || line.contains("print("), let mark = line.firstRange(of: "// ") else {
                return nil
            }
            return String(line[mark.upperBound...])
        }
    }

    private static func snippets(in text: String) -> [Snippet] {
        sections(of: text, from: "// snippet: ", to: "// end").map { Snippet(name: $0.name, text: $0.text) }
    }

    /// Returns the lines between each pair of marks, with the text after the opening mark as the name.
    private static func sections(of text: String, from opening: String, to closing: String) -> [(
        name: String, text: String
    )] {
        var sections: [(name: String, text: String)] = []
        var section: (name: String, text: String)?
        var margin = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let indentation = line.prefix { $0 == " " }.count
            let content = line.dropFirst(indentation)
            if let ended = section, content == closing {
                sections.append(ended)
                section = nil
            } else if section != nil {
                section?.text += line.dropFirst(min(indentation, margin)) + "\n"
            } else if content.hasPrefix(opening) {
                section = (String(content.dropFirst(opening.count)), "")
                margin = indentation
            }
        }
        return sections
    }
}
