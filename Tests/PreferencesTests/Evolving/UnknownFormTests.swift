import Foundation
import TestSupport
import Testing

@testable import Preferences

private typealias Tool = Evolving.Tool

/// Forms of a file that a newer version has written.
struct UnknownFormTests {
    private static let line =
        #"{"a":{"$later":[1,null]},"b":2,"c":{"list":["tree",{"$x":1}],"x":3},"$name":{"z":null}}"#

    @Test
    func formIsUnreadableForItsNameAloneAndStaysAsItIs() throws {
        try withTemporaryFolder { folder in
            let url = folder.appending(path: "a.jsonl")
            try Data((Self.line + "\n").utf8).write(to: url)
            let store = try PreferenceStore.file(at: url)
            let issues = store.recordIssues()
            #expect(store.names == ["a", "b", "c"] && issues.elements.isEmpty)
            same(Preference("a", default: 7, in: store).value, 7)
            same(Preference<[String: String]>("a", default: ["x": "y"], in: store).value, ["x": "y"])
            same(Set(issues.elements.map(\.code)), [.unreadable])
            same(Preference("b", default: 0, in: store).value, 2)
            struct Composite: Codable, Equatable {
                var list: [Tool] = []
                var x = 0
            }
            let composite = Preference("c", default: Composite(), in: store)
            same(composite.value, Composite(list: [.tree], x: 3))
            composite.value.list.append(.search)
            same(store["a"]?.description, #"{"$later":[1,null]}"#)
            let text = try String(contentsOf: url, encoding: .utf8)
            same(text, Self.line + "\n" + #"{"c":{"list":["tree",{"$x":1},"search"],"x":3}}"# + "\n")
            let again = try PreferenceStore.file(at: folder.appending(path: "b.jsonl"))
            for name in store.names { try again.write(store[name], for: name) }
            try again.flush()
            same(again.contents, store.contents)
            #expect(
                try String(contentsOf: folder.appending(path: "b.jsonl"), encoding: .utf8).contains(
                    #"{"a":{"$later":[1,null]}}"#
                )
            )
        }
    }

    @Test
    func programsOwnDictionaryOfThatShapeIsItsOwn() throws {
        try withTemporaryFolder { folder in
            let url = folder.appending(path: "a.jsonl")
            for text in ["", "x", "{}", #"{"a":1}"#, #"{"$data":"AA=="}"#, #"{"$x":1}"# + "\n"] {
                let store = try PreferenceStore.file(at: url)
                store["own"] = ["\0$": .string(text)]
                let other = fileStore(url.path)
                #expect(other["own"] == ["\0$": .string(text)] && other.names == ["own"])
            }
        }
    }
}
