import Foundation

/// The functions of SQLite that are used, as in sqlite3.h.
private struct SQLiteFunctions {
    typealias Handle = OpaquePointer

    let open:
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>, Int32, UnsafePointer<CChar>?) -> Int32
    let close: @convention(c) (Handle) -> Int32
    let execute: @convention(c) (Handle, UnsafePointer<CChar>, OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
    let message: @convention(c) (Handle) -> UnsafePointer<CChar>?
    let setBusyTimeout: @convention(c) (Handle, Int32) -> Int32
    let prepare:
        @convention(c) (Handle, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>, OpaquePointer?) -> Int32
    let finalize: @convention(c) (Handle) -> Int32
    let step: @convention(c) (Handle) -> Int32
    let reset: @convention(c) (Handle) -> Int32
    let bindInteger: @convention(c) (Handle, Int32, Int64) -> Int32
    let bindText: @convention(c) (Handle, Int32, UnsafePointer<CChar>, Int32, Int) -> Int32
    let bindBlob: @convention(c) (Handle, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    let integer: @convention(c) (Handle, Int32) -> Int64
    let text: @convention(c) (Handle, Int32) -> UnsafePointer<UInt8>?
    let blob: @convention(c) (Handle, Int32) -> UnsafeRawPointer?
    let byteCount: @convention(c) (Handle, Int32) -> Int32

    init() throws {
        let library = try DynamicLibrary(SQLitePeer.library, package: "libsqlite3-0")
        open = try library.function("sqlite3_open_v2")
        close = try library.function("sqlite3_close_v2")
        execute = try library.function("sqlite3_exec")
        message = try library.function("sqlite3_errmsg")
        setBusyTimeout = try library.function("sqlite3_busy_timeout")
        prepare = try library.function("sqlite3_prepare_v2")
        finalize = try library.function("sqlite3_finalize")
        step = try library.function("sqlite3_step")
        reset = try library.function("sqlite3_reset")
        bindInteger = try library.function("sqlite3_bind_int64")
        bindText = try library.function("sqlite3_bind_text")
        bindBlob = try library.function("sqlite3_bind_blob")
        integer = try library.function("sqlite3_column_int64")
        text = try library.function("sqlite3_column_text")
        blob = try library.function("sqlite3_column_blob")
        byteCount = try library.function("sqlite3_column_bytes")
    }
}

/// A table of names and values in a write-ahead log, with statements that are prepared once.
final class SQLitePeer: Peer {
    static let library = "libsqlite3.so.0"

    enum Synchronous: String { case normal = "NORMAL", full = "FULL" }

    // From sqlite3.h: read, write and create; a row is there; done; copy what is bound.
    private static let flags: Int32 = 2 | 4
    private static let isRow: Int32 = 100
    private static let isDone: Int32 = 101
    private static let copied = -1

    private let sqlite: SQLiteFunctions
    private let database: OpaquePointer
    private let select: OpaquePointer
    private let replace: OpaquePointer

    init(_ folder: String, _ synchronous: Synchronous) throws {
        let sqlite = try SQLiteFunctions()
        var handle: OpaquePointer?
        guard sqlite.open(folder + "/preferences.sqlite", &handle, Self.flags, nil) == 0, let handle else {
            throw Failure("SQLite can't open \(folder)")
        }
        (self.sqlite, database) = (sqlite, handle)
        _ = sqlite.setBusyTimeout(handle, 60_000)
        try Self.execute(sqlite, handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous.rawValue)")
        try Self.execute(
            sqlite,
            handle,
            "CREATE TABLE IF NOT EXISTS preference (name TEXT PRIMARY KEY, value) WITHOUT ROWID"
        )
        select = try Self.prepare(sqlite, handle, "SELECT value FROM preference WHERE name = ?")
        replace = try Self.prepare(sqlite, handle, "REPLACE INTO preference VALUES (?, ?)")
    }

    deinit {
        _ = sqlite.finalize(select)
        _ = sqlite.finalize(replace)
        _ = sqlite.close(database)
    }

    func value(of name: String, as kind: Kind) throws -> Stored? {
        defer { _ = sqlite.reset(select) }
        bind(name, to: select)
        guard sqlite.step(select) == Self.isRow else { return nil }
        switch kind {
        case .boolean: return .boolean(sqlite.integer(select, 0) != 0)
        case .integer: return .integer(Int(sqlite.integer(select, 0)))
        case .text: return sqlite.text(select, 0).map { .text(String(cString: $0)) }
        case .data, .record:
            let count = Int(sqlite.byteCount(select, 0))
            return sqlite.blob(select, 0).map { .data(Data(bytes: $0, count: count)) }
        }
    }

    func set(_ value: Stored, for name: String) throws {
        defer { _ = sqlite.reset(replace) }
        bind(name, to: replace)
        switch value {
        case .boolean(let flag): _ = sqlite.bindInteger(replace, 2, flag ? 1 : 0)
        case .integer(let number): _ = sqlite.bindInteger(replace, 2, Int64(number))
        case .text(let text): _ = sqlite.bindText(replace, 2, text, -1, Self.copied)
        case .data(let data):
            _ = data.withUnsafeBytes { sqlite.bindBlob(replace, 2, $0.baseAddress, Int32($0.count), Self.copied) }
        }
        guard sqlite.step(replace) == Self.isDone else { throw Self.failure(sqlite, database) }
    }

    func set(_ values: [(name: String, value: Stored)]) throws {
        try Self.execute(sqlite, database, "BEGIN IMMEDIATE")
        for (name, value) in values { try set(value, for: name) }
        try Self.execute(sqlite, database, "COMMIT")
    }

    private func bind(_ name: String, to statement: OpaquePointer) {
        _ = sqlite.bindText(statement, 1, name, -1, Self.copied)
    }

    private static func execute(_ sqlite: SQLiteFunctions, _ database: OpaquePointer, _ text: String) throws {
        guard sqlite.execute(database, text, nil, nil, nil) == 0 else { throw failure(sqlite, database) }
    }

    private static func prepare(_ sqlite: SQLiteFunctions, _ database: OpaquePointer, _ text: String) throws
        -> OpaquePointer
    {
        var statement: OpaquePointer?
        guard sqlite.prepare(database, text, -1, &statement, nil) == 0, let statement else {
            throw failure(sqlite, database)
        }
        return statement
    }

    private static func failure(_ sqlite: SQLiteFunctions, _ database: OpaquePointer) -> Failure {
        Failure("SQLite: \(sqlite.message(database).map { String(cString: $0) } ?? "unknown")")
    }
}
