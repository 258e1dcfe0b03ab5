import Foundation
import Preferences
import TestSupport
import Testing

@testable import Preferences

extension UnsetTests {
    @Test
    func fileKeepsIt() throws {
        try withTemporaryFolder { folder in
            let url = folder.appending(path: "a.jsonl")
            let file = try PreferenceStore.file(at: url)
            let store = PreferenceStore.layered([file, .inMemory(["name": "Pitt"]).readOnly(named: "system")])
            Preference<String?>("name", in: store).value = nil
            try store.flush()
            #expect(try String(contentsOf: url, encoding: .utf8).contains(#"{"name":{"$$unset":true}}"#))
        }
    }
}
