import FoundationEssentials
import Glibc
@_spi(Tool) import Preferences

/// The suite or file that a command works on.
struct Place {
    /// As messages call it.
    let title: String
    /// The file that changes go to.
    let path: String
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

    /// Whether the file exists.
    var exists: Bool { access(path, F_OK) == 0 }

    /// What a program reads just now, or a failure where there is neither a file nor a value.
    func contents() throws -> [String: PropertyListValue] {
        let layers = try layers().map(\.contents).filter { !$0.isEmpty }
        guard var contents = layers.first else {
            guard exists else { throw missing }
            return [:]
        }
        for layer in layers.dropFirst() { contents.merge(layer) { $1 } }
        return contents
    }

    /// What a program would read if the user had no file; of what can't be read nobody is told.
    func contentsWithoutUser() throws -> [String: PropertyListValue] {
        try layers { _ in }.reduce(into: [:]) { contents, layer in
            if layer.source != .user { contents.merge(layer.contents) { $1 } }
        }
    }

    /// What each file holds that a program reads, the one that wins last.
    func layers(
        _ report: @escaping @Sendable (PreferencesError) -> Void = { Terminal.warn("\($0)") }
    ) throws -> [(source: Source, contents: [String: PropertyListValue])] {
        let own = try PreferencesFile.contents(of: path, report)
        guard let location else { return [(.file, own)] }
        return location.systemPaths.reversed().map { (.system, Self.layer($0, report)) }
            + [(.user, own), (.managed, Self.layer(location.managedPath, report))]
    }

    /// Which file a value comes from.
    enum Source: String {
        case file, system, user, managed
    }

    /// What the program says of its preferences; nil where it says nothing, as of a file by its path.
    func schema() throws -> Schema? {
        try location?.schemaPaths.lazy.first { access($0, F_OK) == 0 }.map { try Schema(path: $0) }
    }

    /// Refuses changes to values that the program says it doesn't take; a schema that can't be read refuses nothing.
    func check(_ changes: [String: PropertyListValue?]) throws {
        let found: Schema?
        do { found = try schema() } catch let failure as Failure {
            Terminal.warn(failure.message)
            return
        }
        guard let schema = found else { return }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if let value { try schema.check(value, for: name) }
        }
    }

    /// Where the program's schema would lie that everybody finds.
    var schemaPath: String? { location?.schemaPaths.last }

    /// Why no value can be set; nil where nothing is in the way.
    var problemOfWriting: String? {
        var path = path[...]
        // What is not there yet is made in the folder above.
        while access(String(path), F_OK) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : path[..<slash]
        }
        let first = access(String(path), F_OK) == 0 ? String(path) : "."
        return access(first, W_OK) == 0 ? nil : "\(first): \(String(cString: strerror(errno)))"
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

    /// The stores to change values in, and to watch.
    func open() throws -> Stores {
        // First and strictly, so that the suite's store doesn't fall back to memory where the file can't be used.
        let own = try PreferenceStore.file(at: URL(filePath: try absolutePath()), durability: .immediate)
        return Stores(store: try location.map { try PreferencesFile.store(ofSuite: $0.name) } ?? own, own: own)
    }

    /// A relative path as the system reads it; `URL` takes `..` and a leading `~` for something else.
    private func absolutePath() throws -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { throw Failure("find", "the current folder", errno: errno) }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    struct Stores {
        /// What a program reads: all layers of a suite. Changes go to the user's file, unless a value is managed.
        let store: PreferenceStore
        /// What stands in the file alone.
        let own: PreferenceStore
    }

    func absent(_ name: String) -> Failure {
        exists ? Failure(.absent, "\"\(name)\" is not set in \(title)") : missing
    }

    /// For a name that isn't in the file, though perhaps in another layer.
    func absent(_ name: String, in stores: Stores) -> Failure {
        guard stores.store[name] != nil else { return absent(name) }
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
