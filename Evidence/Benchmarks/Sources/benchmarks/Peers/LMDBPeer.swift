import Foundation

/// The functions of LMDB that are used, as in lmdb.h.
private struct LMDBFunctions {
    typealias Handle = OpaquePointer

    let createEnvironment: @convention(c) (UnsafeMutablePointer<Handle?>) -> Int32
    let setMapSize: @convention(c) (Handle, Int) -> Int32
    let open: @convention(c) (Handle, UnsafePointer<CChar>, UInt32, UInt32) -> Int32
    let close: @convention(c) (Handle) -> Void
    let begin: @convention(c) (Handle, Handle?, UInt32, UnsafeMutablePointer<Handle?>) -> Int32
    let commit: @convention(c) (Handle) -> Int32
    let abort: @convention(c) (Handle) -> Void
    let reset: @convention(c) (Handle) -> Void
    let renew: @convention(c) (Handle) -> Int32
    let openDatabase: @convention(c) (Handle, UnsafePointer<CChar>?, UInt32, UnsafeMutablePointer<UInt32>) -> Int32
    let get: @convention(c) (Handle, UInt32, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32
    let put: @convention(c) (Handle, UInt32, UnsafeMutableRawPointer, UnsafeMutableRawPointer, UInt32) -> Int32

    init() throws {
        let library = try DynamicLibrary(LMDBPeer.library, package: "liblmdb0")
        createEnvironment = try library.function("mdb_env_create")
        setMapSize = try library.function("mdb_env_set_mapsize")
        open = try library.function("mdb_env_open")
        close = try library.function("mdb_env_close")
        begin = try library.function("mdb_txn_begin")
        commit = try library.function("mdb_txn_commit")
        abort = try library.function("mdb_txn_abort")
        reset = try library.function("mdb_txn_reset")
        renew = try library.function("mdb_txn_renew")
        openDatabase = try library.function("mdb_dbi_open")
        get = try library.function("mdb_get")
        put = try library.function("mdb_put")
    }
}

/// A map from names to bytes, with a read transaction that is renewed for each read, so that it sees the latest value.
final class LMDBPeer: Peer {
    static let library = "liblmdb.so.0"

    // MDB_val, MDB_NOSYNC and MDB_RDONLY of lmdb.h.
    private struct Bytes {
        var count = 0
        var start: UnsafeMutableRawPointer?
    }
    private static let withoutSync: UInt32 = 0x10000
    private static let readOnly: UInt32 = 0x20000

    private let lmdb: LMDBFunctions
    private let environment: OpaquePointer
    private let database: UInt32
    private let reading: OpaquePointer

    init(_ folder: String, isSynced: Bool) throws {
        lmdb = try LMDBFunctions()
        var handle: OpaquePointer?
        try Self.check(lmdb.createEnvironment(&handle))
        guard let environment = handle else { throw Failure("LMDB gives no environment") }
        self.environment = environment
        try Self.check(lmdb.setMapSize(environment, 256 << 20))
        try Self.check(lmdb.open(environment, folder, isSynced ? 0 : Self.withoutSync, 0o600))
        let opening = try Self.begin(lmdb, environment, 0)
        var database: UInt32 = 0
        try Self.check(lmdb.openDatabase(opening, nil, 0, &database))
        try Self.check(lmdb.commit(opening))
        self.database = database
        reading = try Self.begin(lmdb, environment, Self.readOnly)
        lmdb.reset(reading)
    }

    deinit {
        lmdb.abort(reading)
        lmdb.close(environment)
    }

    func value(of name: String, as kind: Kind) throws -> Stored? {
        try Self.check(lmdb.renew(reading))
        defer { lmdb.reset(reading) }
        var found = Bytes()
        var name = name
        let result = name.withUTF8 { text in
            var key = Bytes(count: text.count, start: UnsafeMutableRawPointer(mutating: text.baseAddress))
            return lmdb.get(reading, database, &key, &found)
        }
        guard result == 0, let start = found.start else { return nil }
        switch kind {
        case .boolean: return .boolean(start.load(as: UInt8.self) != 0)
        case .integer: return .integer(start.loadUnaligned(as: Int.self))
        case .text:
            return .text(String(decoding: UnsafeRawBufferPointer(start: start, count: found.count), as: UTF8.self))
        case .data, .record: return .data(Data(bytes: start, count: found.count))
        }
    }

    func set(_ value: Stored, for name: String) throws { try set([(name, value)]) }

    func set(_ values: [(name: String, value: Stored)]) throws {
        let transaction = try Self.begin(lmdb, environment, 0)
        for (name, value) in values {
            switch value {
            case .boolean(let flag): try put(transaction, name, [flag ? 1 : 0])
            case .integer(let number): try withUnsafeBytes(of: number) { try put(transaction, name, $0) }
            case .text(let text): try put(transaction, name, text.utf8)
            case .data(let data): try put(transaction, name, data)
            }
        }
        try Self.check(lmdb.commit(transaction))
    }

    private func put(_ transaction: OpaquePointer, _ name: String, _ value: some Collection<UInt8>) throws {
        var (name, copy) = (ContiguousArray(name.utf8), ContiguousArray(value))
        let result = name.withUnsafeMutableBytes { name in
            copy.withUnsafeMutableBytes { value in
                var key = Bytes(count: name.count, start: name.baseAddress)
                var data = Bytes(count: value.count, start: value.baseAddress)
                return lmdb.put(transaction, database, &key, &data, 0)
            }
        }
        try Self.check(result)
    }

    private static func begin(_ lmdb: LMDBFunctions, _ environment: OpaquePointer, _ flags: UInt32) throws
        -> OpaquePointer
    {
        var transaction: OpaquePointer?
        try check(lmdb.begin(environment, nil, flags, &transaction))
        guard let transaction else { throw Failure("LMDB gives no transaction") }
        return transaction
    }

    private static func check(_ result: Int32) throws {
        guard result == 0 else { throw Failure("LMDB: error \(result)") }
    }
}
