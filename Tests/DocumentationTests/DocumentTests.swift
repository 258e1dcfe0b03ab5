import Testing

/// What a document shows is what a compiler has seen: each Swift block is one of the snippets, byte by byte.
struct DocumentTests {
    static let documents = [
        "README.md", "Sources/Preferences/Preferences.docc/Testing.md",
        "Sources/Preferences/Preferences.docc/Adopting.md",
        "Sources/Preferences/Preferences.docc/CommandLine.md",
    ]

    @Test(arguments: documents)
    func swiftBlocksAreCompiledSnippets(document: String) throws {
        let snippets = Set(try Snippet.all().map(\.text))
        let blocks = try Snippet.blocks(of: document)
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(snippets.contains(block), "no snippet has this text") }
    }

    @Test
    func snippetsAreShownSomewhere() throws {
        let blocks = Set(try Self.documents.flatMap(Snippet.blocks))
        for snippet in try Snippet.all() { #expect(blocks.contains(snippet.text), "no document shows \(snippet.name)") }
    }
}
