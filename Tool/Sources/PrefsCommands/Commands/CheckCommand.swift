import ArgumentParser
import Preferences
import PreferencesInspection
import PreferencesSchema

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check for damage and values that the schema doesn't allow; show size, permissions, lock holders and limits.",
        usage: "prefs check [<suite> | --file <path>] [--repair] [--json]",
        discussion: """
            Ends with 3 if lines are damaged or the program's schema doesn't allow a stored value, with 4 if the file or \
            its folder can't be written. --repair rewrites the file, and objects over several lines as one line for each \
            name; other damaged lines stay.

            On etcd only the values are checked; ends with 3 if one of them can't be read.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Rewrite the file, and objects over several lines as lines.") var repair = false
    @Flag(help: "Show a JSON object.") var json = false
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
            try write(try Self.owners(of: file))
            throw error
        }
        if repair, !damage.isEmpty {
            try file.checkWritable()
            try PreferencesFile.compact(path)
            (contents, damage) = try Self.read(path)
        }
        _ = consume progress

        var report = try Self.owners(of: file)
        let size = try FileReport(path).size
        report.table.add("size", "\(size) bytes, \(contents.count == 1 ? "1 name" : "\(contents.count) names")")
        report.members["size"] = .integer(size)
        report.members["names"] = .integer(Int64(contents.count))
        try report.addNeeded(contents)
        report.add(
            "writable",
            file.problemOfWriting ?? "yes",
            file.problemOfWriting.map { PropertyListValue.string($0) } ?? true
        )
        report.addLockHolders(file.lockHolders())
        if let limits = FileReport.watchLimits() { report.add("watches", limits) }
        report.add(
            "damage",
            damage.isEmpty ? "none" : damage.count == 1 ? "1 line" : "\(damage.count) lines",
            .array(damage.map { .string($0.message) })
        )
        let refused = try Self.addRefusals(of: place.layers { _ in }, suite, by: Self.schema(of: place), to: &report)
        try write(report)
        for error in damage { Terminal.report(error) }
        if let refused { Terminal.warn(refused.message) }
        if !damage.isEmpty {
            throw Failure(
                .damaged,
                "correct or remove the damaged lines by hand"
                    + (repair ? "" : "; `prefs check --repair` rewrites objects over several lines")
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
        var report = CheckReport()
        report.add("place", place.title)
        report.add(
            "size",
            contents.count == 1 ? "1 name" : "\(contents.count) names",
            .integer(Int64(contents.count)),
            key: "names"
        )
        try report.addNeeded(contents)
        report.add(
            "damage",
            damage.isEmpty ? "none" : damage.count == 1 ? "1 value" : "\(damage.count) values",
            .array(damage.map { .string($0.message) })
        )
        let refused = try Self.addRefusals(of: layers, suite, by: Self.schema(of: place), to: &report)
        try write(report)
        for error in damage { Terminal.warn("\(error)") }
        if let refused { Terminal.warn(refused.message) }
        if !damage.isEmpty { throw Failure(.damaged, "replace each value that can't be read, or remove its key") }
        if let refused { throw Failure(refused.status, "") }
    }

    private func write(_ report: CheckReport) throws {
        Terminal.write(
            json ? ShownText(try ValueText.json(report.members, indented: Terminal.isOutput)) : report.table.text()
        )
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
        to report: inout CheckReport
    ) throws -> Failure? {
        guard let found else { return nil }
        let schema: Schema
        switch found {
        case .success(let readable): schema = readable
        case .failure(let failure):
            report.members["problems"] = [["kind": "schema", "message": .string(failure.message)]]
            return failure
        }
        var (refused, notes): ([[String]], [[String]]) = ([], [])
        var ownCount = 0
        // Noted once, for the layer of the highest precedence.
        var deprecated: Set<String> = []
        for layer in layers.reversed() where !layer.contents.isEmpty {
            let origins = try layer.origins()
            let storedNames = FormerNames(schema).present(layer.contents).storedNames
            for (name, value) in layer.contents.sortedByName {
                let place = [layer.source.rawValue, origins[name]?.text ?? layer.location]
                let isOwn = layer.source != .system && layer.source != .managed
                let present = schema.presentNames[name]
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
                let isNote = refusal.isOfUndeclaredName
                if isNote { notes.append(["undeclared"] + row) } else { refused.append(["refused"] + row) }
                if !isNote, isOwn { ownCount += 1 }
            }
        }
        report.add("schema", schema.path)
        for row in refused + notes { report.table.add(row) }
        report.members["problems"] = .array(
            (refused + notes).map { row in
                let cells = row.map { PropertyListValue.string($0) }
                return ["kind": cells[0], "layer": cells[1], "place": cells[2], "message": cells[3]]
            }
        )
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

    private static func owners(of file: FileReport) throws -> CheckReport {
        var report = CheckReport()
        report.add("file", file.path)
        report.add("permissions", file.permissions)
        var texts: [PropertyListValue] = []
        for part in try file.way() {
            report.table.add(part.title, part.text)
            texts.append(.string(part.text))
        }
        report.members["way"] = .array(texts)
        return report
    }

    /// Returns the values of the file, and an error for each damaged line, also for a last one that a program has not ended.
    private static func read(_ path: String) throws -> ([String: PropertyListValue], [PreferenceError]) {
        let found = Issues()
        let contents = try PreferencesFile.contents(of: path, reportsUnfinished: true) { found.add($0) }
        return (contents, found.all)
    }
}

/// The findings, as rows for people and as members of an object for programs.
private struct CheckReport {
    var table = Table()
    var members: [String: PropertyListValue] = [:]

    /// Adds a row, and a member that is the text unless another value is given.
    mutating func add(_ title: String, _ text: String, _ value: PropertyListValue? = nil, key: String? = nil) {
        table.add(title, text)
        members[key ?? title] = value ?? .string(text)
    }

    mutating func addLockHolders(_ holders: [String]?) {
        guard let holders else { return table.add("locked by", "unknown: the system doesn't say") }
        table.add("locked by", holders.isEmpty ? "no process" : holders.joined(separator: ", "))
        members["lockedBy"] = .array(holders.map { .string($0) })
    }

    /// Adds the number of bytes that the values need.
    mutating func addNeeded(_ contents: [String: PropertyListValue]) throws {
        let bytes = try contents.reduce(0) { try $0 + ValueText.line($1.key, $1.value).utf8.count }
        add("needed", "\(bytes) bytes", .integer(Int64(bytes)))
    }
}
