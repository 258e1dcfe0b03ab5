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

    /// Where a value comes from.
    enum Source: String {
        case file, system, user, managed, etcd
    }
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
    func schema() throws -> Schema? {
        try schemaPaths.lazy.first { access($0, F_OK) == 0 }.map { try Schema(path: $0) }
    }

    /// Returns the program's schema; if it can't be read, writes why to standard error.
    func readableSchema() throws -> Schema? {
        do { return try schema() } catch let failure as Failure {
            Terminal.warn(failure.message)
            return nil
        }
    }

    /// Refuses changes to values that the program says it doesn't take; a schema that can't be read refuses nothing.
    func check(_ changes: [String: PropertyListValue?]) throws {
        guard let schema = try readableSchema() else { return }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if let value { try schema.check(value, for: name) }
        }
    }

    /// Returns the failure for a name that no layer has.
    func absent(_ name: String) throws -> Failure {
        try exists() ? Failure(.absent, "\"\(name)\" is not set in \(title)") : missing
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
        guard let location else { return [PlaceLayer(source: .file, contents: own)] }
        return location.systemPaths.reversed().map { PlaceLayer(source: .system, contents: Self.layer($0, report)) }
            + [
                PlaceLayer(source: .user, contents: own),
                PlaceLayer(source: .managed, contents: Self.layer(location.managedPath, report)),
            ]
    }

    var schemaPaths: [String] { location?.schemaPaths ?? [] }

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
        _ path: String,
        _ report: @escaping @Sendable (PreferencesError) -> Void
    ) -> [String: PropertyListValue] {
        do throws(PreferencesError) {
            return try PreferencesFile.contents(of: path, report)
        } catch {
            report(error)
            return [:]
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
        guard stores.store[name] != nil else { return try absent(name) }
        return Failure(.absent, "\"\(name)\" is set by the administrator or the system, not in \(path)")
    }

    var missing: Failure {
        location == nil
            ? Failure(.absent, "there is no file \(path)")
            : Failure(.absent, "there is nothing of \(title); `prefs list` shows the suites")
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
