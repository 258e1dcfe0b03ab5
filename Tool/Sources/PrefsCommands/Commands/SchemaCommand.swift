import ArgumentParser
import Preferences

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Write a program's schema in the format of another tool, or store it in a suite on etcd.",
        usage: """
            prefs schema export [<suite> | --file <schema>] [<destination>] --<format>
            prefs --etcd <urls> schema push <suite> [<schema>]
            """,
        discussion: """
            push stores the schema in the suite, from the file <schema> or else the one that the program has installed on this \
            machine. From then on, `prefs` on every machine checks and shows the suite's values by it. `prefs delete` with the name \
            preferences.schema removes it.

            The schema is that of the suite, or the file preferences.schema.json that --file names. Without a destination, \
            or with -, writes to standard output; a file is replaced atomically. What a format can't represent is named on \
            standard error.
            """
    )

    enum Format: String, EnumerableFlag {
        case markdown, rootPlist, manifest, template, jsonSchema

        static func help(for value: Format) -> ArgumentHelp? {
            switch value {
            case .markdown: "Tables for documentation."
            case .rootPlist: "Root.plist of a Settings.bundle of iOS."
            case .manifest: "A manifest of managed preferences of macOS."
            case .template: "A settings file in which each default stands as a comment."
            case .jsonSchema: "JSON Schema for editors and checkers of a settings file."
            }
        }
    }

    @OptionGroup var options: PlaceOptions
    @Flag var format: Format?
    @Argument(help: "export or push, the suite unless --file is given, and the file.", completion: Completion.suites)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let action = try words.next("export")
        if action == "push" { return try push(&words) }
        guard action == "export" else {
            throw Failure(
                .usage,
                "\"\(action)\" isn't an action of `prefs schema`; write export or push",
                showsUsage: true
            )
        }
        guard let format else {
            throw Failure(
                .usage,
                "name a format: --markdown, --root-plist, --manifest, --template or --json-schema",
                showsUsage: true
            )
        }
        let (found, suite) = try schema(&words)
        let destination = words.popFirst() ?? "-"
        guard !destination.isEmpty else { throw Failure(.usage, "the destination is empty; name a file, or -") }
        try words.end()
        let export = SchemaExport(found, suite: suite)
        let result: SchemaExport.Export =
            switch format {
            case .markdown: try export.markdown()
            case .rootPlist: try export.rootPlist()
            case .manifest: try export.manifest()
            case .template: try export.template()
            case .jsonSchema: try export.jsonSchema()
            }
        if destination == "-" {
            Terminal.writeData(result.text)
        } else {
            try OutputFile.replace(destination, with: Array(result.text.utf8))
        }
        guard !result.leftOut.isEmpty else { return }
        let names = result.leftOut.map { ValueText.name($0) }.joined(separator: ", ")
        Terminal.warn("left out, as they are secrets, or the format can't represent them: \(names)")
    }

    /// Stores a schema in a suite on etcd.
    private func push(_ words: inout ArraySlice<String>) throws {
        guard format == nil else { throw Failure(.usage, "push stores the schema as it is; leave out the format") }
        let place = try options.place(&words)
        guard place.isShared else {
            throw Failure(
                .usage,
                "push stores a schema in a suite on etcd; name the cluster with --etcd. A program installs its schema for files itself"
            )
        }
        let paths = words.isEmpty ? place.schemaPaths : [try words.next("the schema's file")]
        try words.end()
        guard let path = paths.first(where: { access($0, F_OK) == 0 }) else {
            throw Failure(
                .absent,
                "there is no schema to push: \(paths.joined(separator: ", ")). Let the program install it with installSchema(), or name "
                    + "the file"
            )
        }
        let text = String(decoding: try InputFile.bytes(of: path), as: UTF8.self)
        // One that no machine could read is not stored.
        _ = try Schema(text: text, path: path)
        try place.open().store.write(.string(text), for: PreferenceStore.schemaName)
    }

    /// Returns the schema and the name of its suite.
    private func schema(_ words: inout ArraySlice<String>) throws -> (Schema, suite: String) {
        guard !options.state else { throw Failure(.usage, "a program's state has no schema; leave out --state") }
        if let file = options.file {
            // It is in a folder with the suite's name.
            let folders = InputFile.realPath(file).split(separator: "/").dropLast()
            return (try Schema(path: file), folders.last.map(String.init) ?? "preferences")
        }
        let suite = words.first ?? ""
        let place = try options.place(&words)
        guard let schema = try place.schema() else {
            throw Failure(
                .absent,
                "\(place.title) has no schema; the program installs one with installSchema(): \(place.schemaPaths.joined(separator: ", "))"
            )
        }
        return (schema, suite)
    }
}
