import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Each Swift block of a document equals a compiled snippet, byte by byte.
struct DocumentTests {
    /// All documents with Swift except *Getting started*, whose steps `Scripts/check-getting-started` runs.
    static let documents =
        ["README.md"]
        + ["PreferencesEtcd", "Operations"].map { "Sources/PreferencesEtcd/PreferencesEtcd.docc/\($0).md" }
        + ["ArgumentParser", "Configuration", "Macros"].map { "Preferences\($0)" }.map {
            "Sources/\($0)/\($0).docc/\($0).md"
        }
        + pages.map { "\(guides)/\($0).md" }
    private static let pages = [
        "Preferences", "GettingStartedSwiftUI", "HowDoI", "Declaring", "EvolvingValues", "StartingRight", "Reacting",
        "Testing",
        "ModularApps",
        "ChoosingAStore", "Secrets", "Layers", "Services", "Adopting", "ApplePlatforms",
        "CommandLine", "Adopting/FromUserDefaults", "Adopting/FromDefaults", "Adopting/FromPDefaults",
        "Adopting/FromCodableStorage", "Adopting/FromWrappers", "Adopting/FromScopedKeys",
        "Adopting/FromARepository",
    ]
    private static let guides = "Sources/Preferences/Preferences.docc"

    @Test(arguments: documents)
    func swiftBlocksAreCompiledSnippets(document: String) throws {
        let (snippets, examples) = (Set(try Snippet.all().map(\.text)), try Snippet.examples())
        let blocks = try Snippet.blocks(of: document)
        #expect(!blocks.isEmpty)
        for block in blocks {
            let isCompiled = snippets.contains(block) || examples.contains { $0.contains("\n" + block) }
            #expect(isCompiled, "no snippet or example has this text: \(block)")
        }
    }

    @Test
    func snippetsAreShownSomewhere() throws {
        let blocks = Set(try Self.documents.flatMap { try Snippet.blocks(of: $0) })
        for snippet in try Snippet.all() {
            let isShown = blocks.contains(snippet.text)
            #expect(isShown, "no document shows \(snippet.name)")
        }
    }

    @Test(
        arguments: [
            ("\(guides)/Declaring.md", "## Fix compiler errors", "Refused"),
            (
                "Sources/PreferencesMacros/PreferencesMacros.docc/PreferencesMacros.md", "## Fix errors of the macro",
                "RefusedMacros"
            ),
        ]
    )
    func refusalsAreThoseOfTheCompileTests(guide: String, heading: String, folder: String) throws {
        let folder = Snippet.root.appending(path: "Tests/CompileTests/\(folder)")
        let refused = try FileManager.default.contentsOfDirectory(atPath: folder.path).flatMap { file in
            try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                .matches(of: /\/\/ (error|warning|in expansion): (.+)/).map(\.2)
        }
        let guide = try String(contentsOf: Snippet.root.appending(path: guide), encoding: .utf8)
        let messages = guide.split(separator: "\n").drop { $0 != heading }.compactMap {
            $0.prefixMatch(of: /\| `(.+?)` \|/)?.1
        }
        #expect(messages.count > 5)
        for message in messages {
            #expect(refused.contains { $0.contains(message) }, "the compiler says no such thing: \(message)")
        }
    }
}
