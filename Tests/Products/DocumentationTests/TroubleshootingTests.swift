import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The guide to error messages has exactly the codes and messages of the library.
struct TroubleshootingTests {
    private static let guide = "Sources/Preferences/Preferences.docc/Troubleshooting.md"

    @Test
    func eachCodeHasAnEntry() throws {
        let source = try Self.text(of: "Sources/Preferences/Values/PreferenceError.swift")
        let codes = source.matches(of: /public static let (\w+) = Code\("(\w+)"\)/).map { (String($0.1), String($0.2)) }
        #expect(codes.count > 10)
        let headings = try Self.text(of: Self.guide).split(separator: "\n").filter { $0.hasPrefix("## ") }
        for (name, description) in codes {
            same(name, description)
            #expect(headings.contains("## \(name)"), "no entry for \(name)")
        }
    }

    /// The modules each of whose messages is in the guide.
    private static let folders = ["", "Schema", "Editing", "Validation", "Cloud", "Inspection", "Keyring"].map {
        "Sources/Preferences\($0)"
    }

    /// Each message in the sources is in the guide, with `…` for the parts that vary.
    @Test
    func eachMessageHasAnEntry() throws {
        let shown = Set(try Self.shownMessages())
        let messages = try Self.folders.flatMap { try Self.sources(in: $0) }.flatMap { Self.messages(in: $0) }
        #expect(messages.count > 60)
        for message in Set(messages).sorted() { #expect(shown.contains(message), "no entry for: \(message)") }
    }

    @Test
    func eachEntryIsAMessage() throws {
        let others = ["Sources/PreferencesEtcd", "Tool/Sources"]
        let sources = try (Self.folders + others).flatMap { try Self.sources(in: $0) }
        let messages = Set(sources.flatMap { Self.literals(in: $0) })
        for message in try Self.shownMessages() {
            #expect(messages.contains { $0.hasPrefix(message) }, "no source says: \(message)")
        }
    }
}

extension TroubleshootingTests {
    private static func text(of path: String) throws -> String {
        try String(contentsOf: Snippet.root.appending(path: path), encoding: .utf8)
    }

    private static func sources(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Snippet.root.appending(path: folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { try text(of: "\(folder)/\($0)") }
    }

    /// Returns the messages in code font at the start of table rows, up to the part on problems without a message.
    private static func shownMessages() throws -> [String] {
        let lines = try text(of: guide).split(separator: "\n").prefix { $0 != "## Without a message" }
        return lines.compactMap { line in
            guard line.hasPrefix("| `"), let end = line.dropFirst(3).firstRange(of: "` |")?.lowerBound else {
                return nil
            }
            return String(line[line.index(line.startIndex, offsetBy: 3)..<end])
        }
    }

    /// Returns the texts that follow an error's code and name, and the reasons for damage.
    private static func messages(in source: String) -> [String] {
        let openings = source.matches(of: /\(\s*(?:error\.code|code|\.\w+),(?:\s*name: [^,"]*,)?\s*"|damaged\("/)
        // A `Failure` is a reason inside a message.
        return openings.filter { !source[..<$0.range.lowerBound].hasSuffix("Failure") }.map {
            literal(in: source, from: source.index(before: $0.range.upperBound)).text
        }
    }

    /// Returns all string literals; those that `+` joins are one.
    private static func literals(in source: String) -> [String] {
        var literals: [String] = []
        var rest = source.startIndex
        while let quote = source[rest...].firstIndex(of: "\"") {
            let (text, end) = literal(in: source, from: quote)
            literals.append(text)
            rest = end
        }
        return literals
    }

    /// Returns a string literal, with `…` for each interpolation, and its end.
    private static func literal(in source: String, from quote: String.Index) -> (text: String, end: String.Index) {
        var text = ""
        var index = source.index(after: quote)
        while index < source.endIndex {
            let next = source.index(after: index)
            switch source[index] {
            case "\\" where source[next...].first == "(":
                text += "…"
                index = endOfInterpolation(in: source, from: index)
            case "\\":
                text.append(source[next])
                index = source.index(after: next)
            case "\"":
                guard let joint = source[index...].prefixMatch(of: /"\s*\+\s*"/) else { return (text, next) }
                index = joint.range.upperBound
            case let character:
                text.append(character)
                index = next
            }
        }
        return (text, index)
    }

    private static func endOfInterpolation(in source: String, from start: String.Index) -> String.Index {
        var depth = 0
        var index = source.index(after: start)
        while index < source.endIndex {
            if source[index] == "(" { depth += 1 }
            if source[index] == ")" { depth -= 1 }
            index = source.index(after: index)
            if depth == 0 { break }
        }
        return index
    }
}
