import Testing

/// The option `--state` in the commands that read suites in ways of their own.
struct StateTests {
    private func tool() throws -> Tool {
        let tool = try Tool()
        for suite in ["app", "other"] { try tool.write("{\"volume\":1}\n", to: "config/\(suite)/preferences.jsonl") }
        try tool.write("{\"launches\":7}\n", to: ".local/state/app/state.jsonl")
        try tool.write("{\"launches\":8}\n", to: ".local/state/other/state.jsonl")
        return tool
    }

    @Test
    func findSearchesTheState() throws {
        let tool = try tool()
        #expect(try tool.run("find app launches --state").output == "app\tlaunches\t7\n")
        #expect(try tool.run("find app volume --state").status == 1)
        #expect(try tool.run("find launches --state").status == 2)
    }

    @Test
    func diffComparesStates() throws {
        let tool = try tool()
        #expect(try tool.run("diff app other --state").output == "- launches\t7\n+ launches\t8\n")
        #expect(try tool.run("diff config/app/preferences.jsonl config/other/preferences.jsonl --state").status == 2)
    }
}
