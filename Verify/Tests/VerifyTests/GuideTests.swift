import Foundation
import Testing

/// What the guide to Apple's platforms shows is what a compiler has seen, byte by byte.
struct GuideTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

    @Test
    func swiftBlocksAreCompiledSnippets() throws {
        let source = try Self.lines(of: "Verify/Tests/VerifyTests/Snippets.swift")
        let guide = try Self.lines(of: "Sources/Preferences/Preferences.docc/ApplePlatforms.md")
        let snippets = Self.sections(of: source, from: "// snippet: ", to: "// end")
        let blocks = Self.sections(of: guide, from: "```swift", to: "```")
        #expect(blocks.count == 3)
        #expect(blocks == snippets)
    }

    private static func lines(of path: String) throws -> [Substring] {
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines between two marks, without the indentation of the first mark.
    private static func sections(of lines: [Substring], from first: String, to last: String) -> [String] {
        var sections: [String] = []
        var section: [Substring]?
        var indentation = 0
        for line in lines {
            let text = line.drop { $0 == " " }
            if section == nil, text.hasPrefix(first) {
                section = []
                indentation = line.count - text.count
            } else if let found = section, text == last {
                sections.append(found.joined(separator: "\n"))
                section = nil
            } else {
                section?.append(line.dropFirst(min(indentation, line.count)))
            }
        }
        return sections
    }
}
