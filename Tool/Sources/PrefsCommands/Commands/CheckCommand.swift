import ArgumentParser
@_spi(Tool) import Preferences

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check for damage and values that the schema doesn't allow; show size, permissions, lock holders and limits.",
        usage: "prefs check [<suite> | --file <path>] [--repair]",
        discussion: """
            Ends with 3 if lines are damaged or the program's schema doesn't allow a stored value, with 4 if the file or \
            its folder can't be written. --repair rewrites the file without the damaged lines, and keeps these in a file \
            next to it.

            On etcd only the values are checked; ends with 3 if one of them can't be read.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Rewrite the file; the damaged lines are kept in a file next to it.") var repair = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let suite = words.first ?? ""
        let place = try options.place(&words)
        try words.end()
        guard let path = try place.file(for: repair ? .repair : .check),
            // The other layers of a suite are checked also if the user has no file.
            try repair || place.exists() || place.layers({ _ in }).allSatisfy(\.contents.isEmpty)
        else { return try checkValues(of: place, suite) }
        let progress = Progress("Checking \(path)")
        let file = try FileReport(path)
        var contents: [String: PropertyListValue]
        var damage: [PreferenceError]
        do { (contents, damage) = try Self.read(path) } catch let error as PreferenceError
            where error.code == .notPermitted
        {
            _ = consume progress
            // The owners are the cause of the error, so they are shown before it.
            Terminal.write(try Self.owners(of: file).text())
            throw error
        }
        var copies: [String] = []
        if repair, !damage.isEmpty {
            try file.checkWritable()
            let before = try file.damagedCopies()
            try PreferencesFile.compact(path)
            copies = try file.damagedCopies().filter { !before.contains($0) }
            // A file that can't be replaced keeps its damaged lines.
            (contents, damage) = try Self.read(path)
        }
        _ = consume progress

        var table = try Self.owners(of: file)
        table.add(
            "size",
            "\(try FileReport(path).size) bytes, \(contents.count == 1 ? "1 name" : "\(contents.count) names")"
        )
        table.add("needed", "\(try Self.bytes(contents)) bytes")
        table.add("writable", file.problemOfWriting ?? "yes")
        table.add("locked by", file.lockHolders())
        table.add("watches", FileReport.watchLimits())
        table.add("damage", damage.isEmpty ? "none" : damage.count == 1 ? "1 line" : "\(damage.count) lines")
        for copy in copies { table.add("repaired", "the damaged lines are kept in \(copy)") }
        let refused = try Self.addRefusals(of: place.layers { _ in }, suite, by: Self.schema(of: place), to: &table)
        Terminal.write(table.text())
        for error in damage { Terminal.report(error) }
        if let refused { Terminal.warn(refused.message) }
        if !damage.isEmpty {
            throw Failure(
                .damaged,
                repair
                    ? "the damaged lines are still in the file, as no other file can take its place; correct or remove them by hand"
                    : "`prefs check --repair` moves the damaged lines to another file in the same folder"
            )
        }
        if let refused { throw Failure(refused.status, "") }
        try file.checkWritable()
    }

    /// Checks values that aren't stored in a file.
    private func checkValues(of place: any Place, _ suite: String) throws {
        let found = Issues()
        let layers = try place.layers { found.add($0) }
        let contents = layers.reduce(into: [:]) { all, layer in all.merge(layer.contents) { $1 } }
        let damage = found.all
        guard !contents.isEmpty || !damage.isEmpty else { throw place.missing }
        var table = Table()
        table.add("place", place.title)
        table.add("size", contents.count == 1 ? "1 name" : "\(contents.count) names")
        table.add("needed", "\(try Self.bytes(contents)) bytes")
        table.add("damage", damage.isEmpty ? "none" : damage.count == 1 ? "1 value" : "\(damage.count) values")
        let refused = try Self.addRefusals(of: layers, suite, by: Self.schema(of: place), to: &table)
        Terminal.write(table.text())
        for error in damage { Terminal.warn("\(error)") }
        if let refused { Terminal.warn(refused.message) }
        if !damage.isEmpty { throw Failure(.damaged, "replace each value that can't be read, or remove its key") }
        if let refused { throw Failure(refused.status, "") }
    }

    /// Returns the schema or the failure to read it; `nil` if there is no schema.
    private static func schema(of place: any Place) throws -> Result<Schema, Failure>? {
        do { return try place.schema().map { .success($0) } } catch let failure as Failure { return .failure(failure) }
    }

    /// Adds a row for each stored value that the schema doesn't allow, and notes on undeclared, former and deprecated names.
    ///
    /// Returns the failure if there are such values or the schema can't be read; the notes aren't a failure.
    private static func addRefusals(
        of layers: [PlaceLayer],
        _ suite: String,
        by found: Result<Schema, Failure>?,
        to table: inout Table
    ) throws -> Failure? {
        guard let found else { return nil }
        let schema: Schema
        switch found {
        case .success(let readable): schema = readable
        case .failure(let failure): return failure
        }
        var (refused, notes): ([[String]], [[String]]) = ([], [])
        var ownCount = 0
        // Noted once, for the layer of the highest precedence.
        var deprecated: Set<String> = []
        for layer in layers.reversed() where !layer.contents.isEmpty {
            let origins = try layer.origins()
            let storedNames = schema.formerNames.present(layer.contents).storedNames
            for (name, value) in layer.contents.sortedByName {
                let place = [layer.source.rawValue, origins[name]?.text ?? layer.location]
                let isOwn = layer.source != .system && layer.source != .managed
                let present = schema.formerNames.preference(storedAs: name)
                if let present {
                    let isIgnored = storedNames[present] != name
                    let cure = isOwn ? Self.cure(of: name, present, isIgnored, in: suite) : ""
                    notes.append(["former"] + place + ["\"\(name)\" is a former name of \"\(present)\"\(cure)"])
                    if isIgnored { continue }
                }
                if let deprecation = schema.property(of: name)?.deprecation, deprecated.insert(present ?? name).inserted
                {
                    let cure = deprecation.isEmpty ? "" : ": \(deprecation)"
                    notes.append(["deprecated"] + place + ["\"\(name)\" is deprecated\(cure)"])
                }
                guard let refusal = try schema.refusal(of: value, for: name, isStored: true) else { continue }
                let row = place + [try refusal.text()]
                let isNote = refusal.isUndeclared && schema.property(of: name) == nil
                if isNote { notes.append(["undeclared"] + row) } else { refused.append(["refused"] + row) }
                if !isNote, isOwn { ownCount += 1 }
            }
        }
        table.add("schema", schema.path)
        for row in refused + notes { table.add(row) }
        guard !refused.isEmpty else { return nil }
        let values = refused.count == 1 ? "1 value is" : "\(refused.count) values are"
        let advice =
            switch ownCount {
            case 0: "an administrator can correct the files"
            case refused.count: "replace \(refused.count == 1 ? "it" : "each") by `prefs write`, or delete it"
            default:
                "replace each of the user's by `prefs write`, or delete it; an administrator can correct the other values"
            }
        return Failure(.damaged, "\(values) not allowed by the schema and might not be read; \(advice)")
    }

    /// Returns what to do about a value that is stored under a former name.
    private static func cure(of former: String, _ name: String, _ isIgnored: Bool, in suite: String) -> String {
        let words = [suite, former].map(ValueText.name).joined(separator: " ")
        guard isIgnored else { return "; `prefs rename \(words) \(ValueText.name(name))` renames it" }
        return "; it is ignored, as a newer name is set, too; `prefs delete \(words)` removes it"
    }

    private static func bytes(_ contents: [String: PropertyListValue]) throws -> Int {
        try contents.reduce(0) { try $0 + ValueText.line($1.key, $1.value).utf8.count }
    }

    private static func owners(of file: FileReport) throws -> Table {
        var table = Table()
        table.add("file", file.path)
        table.add("permissions", file.permissions)
        for part in try file.way() { table.add(part.title, part.text) }
        return table
    }

    /// Returns the values of the file, and an error for each damaged line.
    private static func read(_ path: String) throws -> ([String: PropertyListValue], [PreferenceError]) {
        let found = Issues()
        let contents = try PreferencesFile.contents(of: path) { found.add($0) }
        return (contents, found.all)
    }
}
