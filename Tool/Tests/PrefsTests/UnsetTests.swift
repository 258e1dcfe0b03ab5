import Foundation
import Preferences
import Testing

@testable import PrefsCommands

/// The value that a program stores for `nil` over the system's value: the program reads its default there, and so do the commands.
struct UnsetTests {
    private func tool(schema: String? = nil) throws -> Tool {
        let tool = try Tool()
        try tool.write(#"{"opt":9,"list":[1],"frame":{"x":8,"y":8}}"# + "\n", to: "system/app/preferences.jsonl")
        let markers = ["opt", "list", "frame"].map { "{\"\($0)\":{\"$$unset\":true}}\n" }
        try tool.write(markers.joined(), to: "config/app/preferences.jsonl")
        if let schema { try tool.write(schema, to: "system/app/preferences.schema.json") }
        return tool
    }

    @Test
    func valueIsShownAsNotSet() throws {
        let tool = try tool()
        #expect(try tool.run("list app").output == "")
        #expect(try tool.run("read app").output == "")
        #expect(try tool.run("read app --json").output == "{}\n")
        #expect(try tool.run("find app unset").status == 1)
        for command in ["read app opt", "read app opt --json", "read app frame.$unset", "describe app opt"] {
            let run = try tool.run(command)
            #expect(run.status == 1 && !run.output.contains("unset"), "\(command): \(run)")
        }
    }

    @Test
    func declaredNameHasItsDefault() throws {
        let tool = try tool(schema: #"{"properties":{"opt":{"type":"integer","default":4}}}"#)
        #expect(try tool.run("list app").output == "\topt\t4\n")
        let described = try tool.run("describe app opt --json").output
        #expect(described.contains(#""source":"default""#) || described.contains(#""source": "default""#))
        #expect(!described.contains("unset"))
    }

    @Test
    func commandsThatShowWhatIsStoredShowIt() throws {
        let tool = try tool()
        for command in ["read app opt --origin", "log app opt", "export app"] {
            #expect(try tool.run(command).output.contains("$unset"), "\(command)")
        }
    }

    @Test
    func writeBeginsWithTheDefault() throws {
        let tool = try tool(schema: #"{"properties":{"frame":{"type":"object","default":{"x":1,"y":2}}}}"#)
        #expect(try tool.run("write app frame.x 5").status == 0)
        #expect(try tool.run("read app frame").output == #"{"x":5,"y":2}"# + "\n")
        #expect(try tool.run(["write", "--force", "app", "list", "-array-add", "-int", "3"]).status == 0)
        #expect(try tool.run("read app list").output == "[3]\n")
    }

    @Test
    func memberIsWrittenIntoAnEmptyDictionaryWithoutADefault() throws {
        let tool = try tool()
        #expect(try tool.run("write app frame -dict-add x 5").status == 0)
        #expect(try tool.run("read app frame").output == #"{"x":"5"}"# + "\n")
    }

    @Test
    func pageShowsTheDefault() throws {
        let row = PreferenceRow(
            name: "opt",
            values: [9, ["$unset": true]],
            sources: [.system, .user],
            storedName: nil,
            property: nil,
            hidden: nil,
            problem: nil
        )
        let json = try row.json()
        #expect(json.contains(#""source":"default""#) && !json.contains(#""kind""#))
        #expect(!json.contains("differs") && !json.contains("isSet"))
        // So that the page can remove it.
        #expect(json.contains(#""isOwn":true"#))
    }

    @Test
    func deleteRemovesIt() throws {
        let tool = try tool()
        #expect(try tool.run("delete app opt").status == 0)
        #expect(try tool.run("read app opt").output == "9\n")
    }
}
