import CBenchmarks
import Foundation

/// The functions of MMKV's C interface that are used, as in Core/cbridge/MMKVBridge.h.
private struct MMKVFunctions {
    typealias Handle = OpaquePointer
    typealias Text = UnsafePointer<CChar>

    let initialize: @convention(c) (Text, Int32) -> Void
    let open: @convention(c) (Text, mmkv_configuration) -> Handle?
    let close: @convention(c) (Handle) -> Void
    let boolean: @convention(c) (Handle, Text, Bool) -> Bool
    let integer: @convention(c) (Handle, Text, Int64) -> Int64
    let string: @convention(c) (Handle, Text) -> UnsafeMutablePointer<CChar>?
    let bytes: @convention(c) (Handle, Text, UnsafeMutablePointer<UInt64>) -> UnsafeMutableRawPointer?
    let free: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let setBoolean: @convention(c) (Handle, Text, Bool) -> Bool
    let setInteger: @convention(c) (Handle, Text, Int64) -> Bool
    let setString: @convention(c) (Handle, Text, Text) -> Bool
    let setBytes: @convention(c) (Handle, Text, UnsafeRawPointer?, Int64) -> Bool
    let sync: @convention(c) (Handle, Bool) -> Void

    init() throws {
        let library = try DynamicLibrary(MMKVPeer.library, or: MMKVPeer.missing)
        initialize = try library.function("mmkv_initialize")
        open = try library.function("mmkv_with_id")
        close = try library.function("mmkv_close")
        boolean = try library.function("mmkv_decode_bool")
        integer = try library.function("mmkv_decode_int64")
        string = try library.function("mmkv_decode_string")
        bytes = try library.function("mmkv_decode_bytes")
        free = try library.function("mmkv_free")
        setBoolean = try library.function("mmkv_encode_bool")
        setInteger = try library.function("mmkv_encode_int64")
        setString = try library.function("mmkv_encode_string")
        setBytes = try library.function("mmkv_encode_bytes")
        sync = try library.function("mmkv_sync")
    }
}

/// A map in a memory-mapped file, which one or several processes use.
final class MMKVPeer: Peer {
    /// The values of `MMKVMode` in MMKV.h.
    enum Mode: Int32 { case oneProcess = 1, manyProcesses = 2 }

    /// The file of the library, which no package provides.
    static var library: String { ProcessInfo.processInfo.environment["MMKV_LIBRARY"] ?? "libmmkv.so" }

    static let missing = Unavailable(
        "no Debian package has it; build a shared library that exports the C interface (Core/cbridge) of MMKV 2.4.1 or newer, "
            + "which libmmkv.so of its POSIX build doesn't, and give the path in MMKV_LIBRARY",
        isInstallable: false
    )

    // MMKVLogNone of MMKVPredef.h.
    private static let silent: Int32 = 4

    private let mmkv: MMKVFunctions
    private let handle: OpaquePointer
    private let isSynced: Bool

    init(_ folder: String, _ mode: Mode, isSynced: Bool = false) throws {
        mmkv = try MMKVFunctions()
        self.isSynced = isSynced
        // Only the first call has an effect; its folder is for stores that are opened without one.
        mmkv.initialize(folder, Self.silent)
        let functions = mmkv
        let handle = folder.withCString { root in
            var configuration = mmkv_configuration()
            configuration.mode = mode.rawValue
            configuration.root = root
            // A negative number stands for MMKV's default.
            configuration.expires = -1
            configuration.recovery = -1
            return functions.open("preferences", configuration)
        }
        guard let handle else { throw Failure("MMKV can't open \(folder)") }
        self.handle = handle
    }

    deinit { mmkv.close(handle) }

    func value(of name: String, as kind: Kind) -> Stored? {
        switch kind {
        case .boolean: return .boolean(mmkv.boolean(handle, name, false))
        case .integer: return .integer(Int(mmkv.integer(handle, name, -1)))
        case .text:
            guard let text = mmkv.string(handle, name) else { return nil }
            defer { mmkv.free(text) }
            return .text(String(cString: text))
        case .data, .record:
            var count: UInt64 = 0
            guard let bytes = mmkv.bytes(handle, name, &count) else { return nil }
            defer { mmkv.free(bytes) }
            return .data(Data(bytes: bytes, count: Int(count)))
        }
    }

    func set(_ value: Stored, for name: String) throws { try set([(name, value)]) }

    /// Stores the values one after another: there is no transaction.
    func set(_ values: [(name: String, value: Stored)]) throws {
        for (name, value) in values {
            let isSet =
                switch value {
                case .boolean(let flag): mmkv.setBoolean(handle, name, flag)
                case .integer(let number): mmkv.setInteger(handle, name, Int64(number))
                case .text(let text): mmkv.setString(handle, name, text)
                case .data(let data):
                    data.withUnsafeBytes { mmkv.setBytes(handle, name, $0.baseAddress, Int64($0.count)) }
                }
            guard isSet else { throw Failure("MMKV refuses \(name)") }
        }
        if isSynced { mmkv.sync(handle, true) }
    }
}
