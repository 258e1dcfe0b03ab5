import FoundationEssentials
import Glibc
@_spi(Tool) import Preferences

/// The suite or file that a command works on.
protocol Place {
    /// As messages call it.
    var title: String { get }
    /// The file that changes go to, for what is done to a file and not to its values; nil if the values can be checked alone.
    ///
    /// - Throws: Why there is none, and what to do.
    func file(for purpose: FilePurpose) throws -> String?
    /// The paths at which the program's schema may lie, the most important first; empty if there is none.
    var schemaPaths: [String] { get }
    /// The paths at which a schema may lie that says which values are secrets, also those of a file by its path.
    var markingSchemaPaths: [String] { get }
    /// Whether the user may set values.
    var writability: Writability { get }
    /// Whether there is anything at the place, which may hold no value.
    func exists() throws -> Bool
    /// The failure for a place that doesn't exist.
    var missing: Failure { get }
    /// Returns the values of each layer that a program reads, the one that wins last.
    func layers(_ report: @escaping @Sendable (PreferencesError) -> Void) throws -> [PlaceLayer]
    /// Returns the stores to change values in, and to watch.
    func open() throws -> PlaceStores
    /// Returns the failure for a name that the writable layer doesn't have, though another may.
    func absent(_ name: String, in stores: PlaceStores) throws -> Failure
    /// Begins to write to standard error when the connection is lost and when it is there again.
    func reportConnection()
}

/// The work of `prefs` on a file itself.
enum FilePurpose {
    case check, repair, compact, undo
}

/// The values of one layer.
struct PlaceLayer {
    let source: Source
    let contents: [String: PropertyListValue]
    /// The path of the file; on etcd, what the keys begin with.
    let location: String

    /// Where a value comes from.
    enum Source: String {
        case file, system, user, managed, etcd
    }

    /// Returns where each of the values stands: the file with the line, or the key on etcd.
    func origins() throws -> [String: ValueOrigin] {
        if contents.isEmpty { return [:] }
        if source == .etcd {
            return Dictionary(
                uniqueKeysWithValues: contents.keys.map { ($0, ValueOrigin(place: location + $0, line: nil)) }
            )
        }
        let lines = PreferencesFile.lines(
            in: try InputFile.bytes(of: location),
            joinsLines: source == .system || source == .managed
        )
        // A value that another program has just removed has no line any more.
        return Dictionary(
            uniqueKeysWithValues: contents.keys.map { ($0, ValueOrigin(place: location, line: lines[$0])) }
        )
    }
}

/// Where a value stands.
struct ValueOrigin {
    /// The path of the file, or the key on etcd.
    let place: String
    /// The line of the file on which the value was set, from 1.
    let line: Int?

    var text: String { line.map { "\(place):\($0)" } ?? place }
}

struct PlaceStores {
    /// What a program reads: all layers of a suite. Changes go to the user's file, unless a value is managed.
    let store: PreferenceStore
    /// The writable layer alone.
    let own: PreferenceStore
}

/// Whether the user may set values.
enum Writability {
    case writable
    case unwritable(String)
    case unknown(String)
}

extension Place {
    /// Returns the values that a program reads now, or a failure if there is neither a file nor a value.
    func contents() throws -> [String: PropertyListValue] {
        let layers = try layers().map(\.contents).filter { !$0.isEmpty }
        guard var contents = layers.first else {
            guard try exists() else { throw missing }
            return [:]
        }
        for layer in layers.dropFirst() { contents.merge(layer) { $1 } }
        return contents
    }

    /// Returns the values that a program would read if the user had none; layers that can't be read are not reported.
    func contentsWithoutUser() throws -> [String: PropertyListValue] {
        try layers { _ in }.reduce(into: [:]) { contents, layer in
            if layer.source == .system || layer.source == .managed { contents.merge(layer.contents) { $1 } }
        }
    }

    /// Returns the values of each layer, and writes what can't be read to standard error.
    func layers() throws -> [PlaceLayer] {
        try layers { Terminal.report($0) }
    }

    /// Returns the program's schema; nil if there is none, as of a file by its path.
    func schema() throws -> Schema? { try Schema(firstOf: schemaPaths) }

    /// Returns the schema that says which values are secrets; nil if there is none.
    func markingSchema() throws -> Schema? { try Schema(firstOf: markingSchemaPaths) }

    var markingSchemaPaths: [String] { schemaPaths }

    /// Returns all names that are set or declared, sorted; fails if there is nothing at all.
    func knownNames(_ schema: Schema?) throws -> [KnownName] {
        let layers = try layers()
        var found: [String: KnownName] = (schema?.properties ?? [:]).mapValues { KnownName(property: $0) }
        for layer in layers {
            for (name, value) in layer.contents {
                found[name, default: KnownName(property: nil)].set(value, layer.source)
            }
        }
        guard try !found.isEmpty || exists() else { throw missing }
        return found.map { name, known in
            var known = known
            known.name = name
            return known
        }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Returns the program's schema; if it can't be read, writes why to standard error.
    func readableSchema() throws -> Schema? {
        do { return try schema() } catch let failure as Failure {
            Terminal.warn(failure.message)
            return nil
        }
    }

    /// Rejects changes of what there is to names and values that the program says it doesn't take.
    func check(_ changes: [String: PropertyListValue?], from old: [String: PropertyListValue]) throws {
        try readableSchema()?.check(changes, from: old)
    }

    /// Returns the failure for a name that no layer has, with one of `others` if that may be meant.
    func absent(_ name: String, of others: some Sequence<String>) throws -> Failure {
        guard try exists() || !contents().isEmpty else { return missing }
        let hint =
            name.nearest(of: others.filter { !name.hasPrefix("\($0).") }).map { "; did you mean \"\($0)\"?" } ?? ""
        return Failure(.absent, "\"\(name)\" is not set in \(title)\(hint)")
    }
}

/// A name that is set or declared.
struct KnownName {
    fileprivate(set) var name = ""
    /// What the program says of it.
    let property: Schema.Property?
    /// The value that is set and read; nil if the program takes its default.
    private(set) var value: PropertyListValue?
    private(set) var source: PlaceLayer.Source?

    fileprivate init(property: Schema.Property?) { self.property = property }

    fileprivate mutating func set(_ value: PropertyListValue, _ source: PlaceLayer.Source) {
        (self.value, self.source) = (value, source)
    }

    /// Whether the program would read another value if none were set.
    var differs: Bool {
        guard let value else { return false }
        return property?.defaultValue.map { !value.isSame(as: $0) } ?? true
    }
}

/// A file, or a suite of files.
struct FilePlace: Place {
    let title: String
    private let path: String
    /// The suite's other files; nil for a file.
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

    func file(for purpose: FilePurpose) -> String? { path }

    func exists() -> Bool { access(path, F_OK) == 0 }

    func layers(_ report: @escaping @Sendable (PreferencesError) -> Void) throws -> [PlaceLayer] {
        let own = try PreferencesFile.contents(of: path, report)
        guard let location else { return [PlaceLayer(source: .file, contents: own, location: path)] }
        let user = PlaceLayer(source: .user, contents: own, location: path)
        return location.systemPaths.reversed().map { Self.layer(.system, $0, report) }
            + [user, Self.layer(.managed, location.managedPath, report)]
    }

    var schemaPaths: [String] { location?.schemaPaths ?? [] }

    var markingSchemaPaths: [String] { location?.schemaPaths ?? Self.schemaPaths(near: path) }

    /// The paths at which a schema may lie for a file by its path: beside it, and those of the suite that it is a file of.
    static func schemaPaths(near path: String) -> [String] {
        let real = InputFile.realPath(path)
        return [path, real].flatMap { path in
            let folders = path.split(separator: "/").dropLast()
            let start = path.hasPrefix("/") ? "/" : ""
            let beside = start + (folders + ["preferences.schema.json"]).joined(separator: "/")
            do throws(PreferencesError) {
                // A suite's files lie in folders of its name.
                let files = try SuiteFiles(folders.last.map(String.init) ?? "")
                let own = [files.userPath, files.managedPath] + files.systemPaths
                return [beside] + (own.contains { InputFile.realPath($0) == real } ? files.schemaPaths : [])
            } catch {
                return [beside]
            }
        }
    }

    var writability: Writability {
        var path = path[...]
        // What is not there yet is made in the folder above.
        while access(String(path), F_OK) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : path[..<slash]
        }
        let first = access(String(path), F_OK) == 0 ? String(path) : "."
        return access(first, W_OK) == 0 ? .writable : .unwritable("\(first): \(String(cString: strerror(errno)))")
    }

    /// As for a program, a layer that can't be read is none.
    private static func layer(
        _ source: PlaceLayer.Source,
        _ path: String,
        _ report: @escaping @Sendable (PreferencesError) -> Void
    ) -> PlaceLayer {
        do throws(PreferencesError) {
            return PlaceLayer(
                source: source,
                contents: try PreferencesFile.contents(of: path, isReadOnly: true, report),
                location: path
            )
        } catch {
            report(error)
            return PlaceLayer(source: source, contents: [:], location: path)
        }
    }

    func open() throws -> PlaceStores {
        // First and strictly, so that the suite's store doesn't fall back to memory where the file can't be used.
        let own = try PreferenceStore.file(at: URL(filePath: try absolutePath()), durability: .immediate)
        return PlaceStores(store: try location.map { try PreferencesFile.store(ofSuite: $0.name) } ?? own, own: own)
    }

    /// A relative path as the system reads it; `URL` takes `..` and a leading `~` for something else.
    private func absolutePath() throws -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { throw Failure("find", "the current folder", errno: errno) }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// Does nothing, as a file needs none.
    func reportConnection() {}

    func absent(_ name: String, in stores: PlaceStores) throws -> Failure {
        guard stores.store[name] != nil else { return try absent(name, of: stores.own.names) }
        return Failure(.absent, "\"\(name)\" is set by the administrator or the system, not in \(path)")
    }

    var missing: Failure {
        guard let location else { return Failure(.absent, "there is no file \(path)") }
        let others = ([location.managedPath] + location.systemPaths).filter { access($0, F_OK) == 0 }
        guard !others.isEmpty, !exists() else {
            return Failure(.absent, "there is nothing of \(title); `prefs list` shows the suites")
        }
        return Failure(
            .absent,
            "the user has set nothing in \(title): there is no file \(path). Its values come from "
                + "\(others.joined(separator: ", "))"
        )
    }

    /// Tells what keeps the user out, which the library can't name as an exit code.
    private static func checkReadable(_ path: String) throws {
        // Not opened: a FIFO would wait for somebody to write.
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw Failure(.usage, "\(path) is no file; name one")
        }
        guard access(path, R_OK) != 0, errno != ENOENT else { return }
        throw Failure("read", path, errno: errno)
    }
}
