import Preferences
import PreferencesInspection
import PreferencesSchema
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The suite or file that a command works on.
protocol Place {
    /// The name of the place in messages.
    var title: String { get }
    /// Returns the file that changes go to, for commands that work on the file itself; `nil` if only the values can be checked.
    ///
    /// - Throws: A `Failure` that says why there is no such file, and what to do.
    func file(for purpose: FilePurpose) throws -> String?
    /// Returns the changes that are still known: all of a file, and the newest ones of a suite on etcd, up to a limit.
    ///
    /// - Parameter names: The names whose changes are wanted; `nil` for all.
    func history(of names: [String]?, limit: Int) throws -> ChangeHistory
    /// Returns a name of a change of this history that was changed since, also by a program that keeps no log; `nil` if there is none, and
    /// always `nil` for a file, whose log has each change.
    func nameChanged(after change: ChangeHistory.Change) throws -> String?
    /// Whether other machines can change the values, also without this library.
    var isShared: Bool { get }
    /// Returns the program's schema, or `nil` without one, as for a file given by its path.
    func schema() throws -> Schema?
    /// Returns the schema that declares which values are secrets, or `nil` without one.
    func markingSchema() throws -> Schema?
    /// Lets the stores of the place store values that the schema of the suite forbids, from now on.
    func ignoreSchema()
    /// The possible paths of the program's schema, in order of precedence; empty for a file given by its path.
    var schemaPaths: [String] { get }
    /// The possible paths of the schema that declares which values are secrets, also for a file given by its path.
    var markingSchemaPaths: [String] { get }
    /// Whether the user may set values.
    var writability: Writability { get }
    /// Returns whether the place exists; it may have no values.
    func exists() throws -> Bool
    /// The failure for a place that doesn't exist.
    var missing: Failure { get }
    /// Returns the values of each layer that a program reads, in order of increasing precedence.
    func layers(_ report: @escaping @Sendable (PreferenceError) -> Void) throws -> [PlaceLayer]
    /// Returns the stores to change values in, and to watch.
    func open() throws -> PlaceStores
    /// Returns the failure for a name that the writable layer doesn't have, even if another layer does.
    func absent(_ name: String, in stores: PlaceStores, _ formerNames: FormerNames) throws -> Failure
    /// Starts to write to standard error when the connection is lost and when it is restored.
    func reportConnection()
}

/// The operations of `prefs` on a file itself, not on its values.
enum FilePurpose {
    case check, repair, compact, write
}

/// The values of one layer.
struct PlaceLayer {
    let source: Source
    let contents: [String: PropertyListValue]
    /// The path of the file; on etcd, the prefix of the keys; of user defaults, the domain.
    let location: String
    let kind: Kind
    /// The former names under which values of `contents` are stored, by the name of the preference.
    private(set) var storedNames: [String: String] = [:]

    /// The origin of a layer's values.
    enum Source: String {
        case file, system, user, managed, etcd
    }

    /// The kind of a layer's location, as `prefs read --json` names it.
    enum Kind: String {
        case file, key, domain
    }

    init(source: Source, contents: [String: PropertyListValue], location: String, kind: Kind = .file) {
        (self.source, self.contents, self.location, self.kind) = (source, contents, location, kind)
    }

    /// Creates a layer with the values of another under the present names of their preferences.
    init(_ layer: PlaceLayer, _ formerNames: FormerNames) {
        let values = formerNames.present(layer.contents)
        self.init(source: layer.source, contents: values.contents, location: layer.location, kind: layer.kind)
        storedNames = layer.storedNames.merging(values.storedNames) { $1 }
    }

    /// Returns the location of each value: the file and the line, the key on etcd, or the domain and the name of user defaults.
    func origins() throws -> [String: ValueOrigin] {
        if contents.isEmpty { return [:] }
        let stored = contents.keys.map { (name: $0, storedName: storedNames[$0] ?? $0) }
        if kind != .file {
            let start = kind == .domain ? location + " " : location
            return Dictionary(uniqueKeysWithValues: stored.map { ($0, ValueOrigin(place: start + $1, line: nil)) })
        }
        let lines = PreferencesFile.lines(
            in: try InputFile.bytes(of: location),
            joinsLines: source == .system || source == .managed
        )
        // A value that another program removed since the values were read has no line.
        return Dictionary(
            uniqueKeysWithValues: stored.map { ($0, ValueOrigin(place: location, line: lines[$1])) }
        )
    }
}

extension [PlaceLayer] {
    /// Returns the layer that decides about a name: the strongest that has a value, which may be the one that is stored for `nil`.
    func deciding(_ name: String) -> PlaceLayer? { last { $0.contents[name] != nil } }
}

extension PresentValues {
    /// Creates the values of merged layers, in order of increasing precedence.
    init(_ layers: [PlaceLayer]) {
        for layer in layers { merge(PresentValues(contents: layer.contents, storedNames: layer.storedNames)) }
    }
}

/// The location of a value.
struct ValueOrigin {
    /// The path of the file, the key on etcd, or the domain and the name, as for defaults(1).
    let place: String
    /// The line of the file that sets the value, counted from 1; `nil` without a file, or if no line sets it any more.
    let line: Int?

    var text: String { line.map { "\(place):\($0)" } ?? place }
}

/// The errors that the library reports while values are read.
final class Issues: Sendable {
    private let found = Mutex<[PreferenceError]>([])

    func add(_ error: PreferenceError) { found.withLock { $0.append(error) } }

    var all: [PreferenceError] { found.withLock { $0 } }
}

struct PlaceStores {
    /// All layers of a suite, as a program reads them. Changes go to the user's file; a managed value can't be changed.
    let store: PreferenceStore
    /// The writable layer alone.
    let own: PreferenceStore

    /// The values of the writable layer, without the schema that is stored in a suite.
    var ownContents: [String: PropertyListValue] { own.contents.filter { $0.key != PreferenceStore.schemaName } }
}

/// Whether the user may set values.
enum Writability {
    case writable
    case unwritable(String)
    case unknown(String)
}

extension Place {
    /// Returns the values that a program reads now; throws if there is neither a file nor a value.
    func values(_ formerNames: FormerNames) throws -> PresentValues { try storedValues(formerNames).withoutUnset }

    /// Returns the values of the merged layers, also those that are stored for `nil`; throws if there is neither a file nor a value.
    func storedValues(_ formerNames: FormerNames) throws -> PresentValues {
        let values = try layers(formerNames)
        guard try values.contains(where: { !$0.contents.isEmpty }) || exists() else { throw missing }
        return PresentValues(values)
    }

    /// Returns the values of each layer under the present names of their preferences, and reports values that can't be read.
    func layers(_ formerNames: FormerNames) throws -> [PlaceLayer] {
        try layers { Terminal.report($0) }.map { PlaceLayer($0, formerNames) }
    }

    /// Returns the values that a program would read without the user's; layers that can't be read are not reported.
    func contentsWithoutUser() throws -> [String: PropertyListValue] {
        try layers { _ in }.reduce(into: [:]) { contents, layer in
            if layer.source == .system || layer.source == .managed { contents.merge(layer.contents) { $1 } }
        }
    }

    func schema() throws -> Schema? { try Schema(firstOf: schemaPaths) }

    func markingSchema() throws -> Schema? { try Schema(firstOf: markingSchemaPaths) }

    func ignoreSchema() {}

    var markingSchemaPaths: [String] { schemaPaths }

    /// Returns all names that are set or declared, sorted; throws if no name is and the place doesn't exist.
    func knownNames(_ schema: Schema?) throws -> [KnownName] {
        let layers = try layers(FormerNames(schema))
        var found: [String: KnownName] = (schema?.properties ?? [:]).mapValues { KnownName(property: $0) }
        for layer in layers {
            for name in layer.contents.keys { found[name, default: KnownName(property: nil)].set(name, in: layer) }
        }
        guard try !found.isEmpty || exists() else { throw missing }
        return found.compactMap { name, known in
            // A program that has set nil reads its default.
            guard known.value != nil || known.property != nil else { return nil }
            var known = known
            known.name = name
            return known
        }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Returns the newest known changes, the oldest first; throws if there are none.
    ///
    /// - Parameter advice: The advice if none is known because of a compaction.
    func changes(of names: [String]?, limit: Int, advice: String? = nil) throws -> ChangeHistory {
        // A suite without a value has a history.
        guard try isShared || exists() else { throw missing }
        let history = try history(of: names, limit: limit)
        guard history.changes.isEmpty else { return history.suffix(limit) }
        throw try exists() ? history.nothing(in: title, advice: advice) : missing
    }

    /// Returns the program's schema, or `nil` without one or if it can't be read, which is reported on standard error.
    func readableSchema() throws -> Schema? {
        do { return try schema() } catch let failure as Failure {
            Terminal.warn(failure.message)
            return nil
        }
    }

    /// Returns whether a word of a command line names a secret, or might: the schema that declares the secrets may be unreadable.
    func mightBeSecret(_ word: String) -> Bool {
        do { return try markingSchema()?.secret(in: word) != nil } catch { return true }
    }

    /// Returns the failure for a name that no layer has, with the present name or else a similar one of `others`, if there is one.
    func absent(_ name: String, of others: some Sequence<String>, _ formerNames: FormerNames) throws -> Failure {
        guard try exists() || !values(formerNames).contents.isEmpty else { return missing }
        let hint =
            formerNames.preference(storedAs: name).map { "; it is a former name of \"\($0)\"" }
            ?? name.nearest(of: others.filter { !name.hasPrefix("\($0).") }).map { "; did you mean \"\($0)\"?" } ?? ""
        return Failure(.absent, "\"\(name)\" is not set in \(title)\(hint)")
    }
}

/// A name that is set or declared.
struct KnownName {
    fileprivate(set) var name = ""
    /// The declaration in the program's schema.
    let property: Schema.Property?
    /// The value that the program reads; `nil` if none is set, so that the program uses its default.
    private(set) var value: PropertyListValue?
    private(set) var source: PlaceLayer.Source?
    /// The former name under which the value is stored; `nil` if it is stored under the name.
    private(set) var storedName: String?

    fileprivate init(property: Schema.Property?) { self.property = property }

    fileprivate mutating func set(_ name: String, in layer: PlaceLayer) {
        let value = layer.contents[name]?.unlessUnset
        self.value = value
        source = value == nil ? nil : layer.source
        storedName = value == nil ? nil : layer.storedNames[name]
    }

    /// Whether the value is set and differs from the program's default.
    var differs: Bool {
        guard let value else { return false }
        return property?.defaultValue.map { !value.readsSame(as: $0) } ?? true
    }
}

extension [KnownName] {
    /// Reports on standard error which values are stored under a former name.
    func reportFormerNames() {
        let stored = compactMap { known in known.storedName.map { (known.name, $0) } }
        PresentValues(storedNames: Dictionary(uniqueKeysWithValues: stored)).reportFormerNames()
    }
}

/// A file, or a suite of files.
struct FilePlace: Place {
    let title: String
    private let path: String
    /// All files of the suite; `nil` for a file given by its path.
    private let location: SuiteFiles?

    init(suite name: String) throws {
        let location = try SuiteFiles(name)
        try Self.checkReadable(location.userPath)
        path = location.userPath
        title = "the suite \"\(name)\""
        self.location = location
    }

    init(file path: String) throws {
        guard !path.isEmpty else { throw Failure(.usage, "the path of the file is empty; name a file") }
        try Self.checkReadable(path)
        self.path = path
        title = path
        location = nil
    }

    /// Creates the place of the state that a suite's program keeps apart from its preferences.
    init(stateOf suite: String) throws {
        let path = try SuiteFiles(suite).statePath()
        try Self.checkReadable(path)
        self.path = path
        title = "the state of \"\(suite)\""
        location = nil
    }

    func file(for purpose: FilePurpose) -> String? { path }

    func history(of names: [String]?, limit: Int) throws -> ChangeHistory { try ChangeHistory(file: path, of: names) }

    func nameChanged(after change: ChangeHistory.Change) -> String? { nil }

    var isShared: Bool { false }

    func exists() -> Bool { access(path, F_OK) == 0 }

    func layers(_ report: @escaping @Sendable (PreferenceError) -> Void) throws -> [PlaceLayer] {
        let own = try PreferencesFile.contents(of: path, report)
        guard let location else { return [PlaceLayer(source: .file, contents: own, location: path)] }
        let user = PlaceLayer(source: .user, contents: own, location: path)
        let system = location.systemContents(report).map {
            PlaceLayer(source: .system, contents: $0.contents, location: $0.path)
        }
        let managed = location.managedContents(report).map {
            PlaceLayer(source: .managed, contents: $0.contents, location: $0.path)
        }
        return system + [user] + managed
    }

    var schemaPaths: [String] { location?.schemaPaths ?? [] }

    var markingSchemaPaths: [String] { location?.schemaPaths ?? Schema.paths(near: path) }

    var writability: Writability {
        var path = path[...]
        // A file or folder that doesn't exist yet will be created in its parent folder.
        while access(String(path), F_OK) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : path[..<slash]
        }
        let first = access(String(path), F_OK) == 0 ? String(path) : "."
        return access(first, W_OK) == 0
            ? .writable : .unwritable("\(first): \(String(cString: strerror(errno)))")
    }

    func open() throws -> PlaceStores {
        // Opened first, as this throws if the file can't be used; the suite's store would keep changes in memory.
        let own = try PreferenceStore.file(at: URL(filePath: try absolutePath()), durability: .immediate)
        return PlaceStores(store: try location.map { try PreferencesFile.store(ofSuite: $0.name) } ?? own, own: own)
    }

    /// Returns the absolute path as the system resolves it; `URL` interprets `..` and a leading `~` differently.
    private func absolutePath() throws -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { throw Failure("find", "the current folder", errno: errno) }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// Does nothing, as a file needs no connection.
    func reportConnection() {}

    func absent(_ name: String, in stores: PlaceStores, _ formerNames: FormerNames) throws -> Failure {
        guard stores.store[name] != nil else { return try absent(name, of: stores.own.names, formerNames) }
        return Failure(.absent, "\"\(name)\" is set by the administrator or the system, not in \(path)")
    }

    var missing: Failure {
        guard let location else { return Failure(.absent, "there is no file \(path)") }
        let files = location.systemContents { _ in } + location.managedContents { _ in }
        let others = files.reversed().filter { !$0.contents.isEmpty }.map { $0.path }
        guard !others.isEmpty, !exists() else {
            return Failure(.absent, "\(title) doesn't exist; `prefs list` shows the suites")
        }
        return Failure(
            .absent,
            "the user has set nothing in \(title): there is no file \(path). Its values come from "
                + "\(others.joined(separator: ", "))"
        )
    }

    /// Throws if the user can't read the file, with an exit code that the library's error doesn't have.
    private static func checkReadable(_ path: String) throws {
        // Not opened: opening a FIFO would wait for a writer.
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw Failure(.usage, "\(path) isn't a regular file; name one")
        }
        guard access(path, R_OK) != 0, errno != ENOENT else { return }
        throw Failure("read", path, errno: errno)
    }
}
