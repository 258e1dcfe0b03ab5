import Foundation

/// The functions of GLib's key files that are used, as in gkeyfile.h.
private struct KeyFileFunctions {
    typealias Handle = OpaquePointer
    typealias Text = UnsafePointer<CChar>

    let new: @convention(c) () -> Handle
    let free: @convention(c) (Handle) -> Void
    let load: @convention(c) (Handle, Text, UInt32, OpaquePointer?) -> Int32
    let save: @convention(c) (Handle, Text, OpaquePointer?) -> Int32
    let boolean: @convention(c) (Handle, Text, Text, OpaquePointer?) -> Int32
    let integer: @convention(c) (Handle, Text, Text, OpaquePointer?) -> Int64
    let string: @convention(c) (Handle, Text, Text, OpaquePointer?) -> UnsafeMutablePointer<CChar>?
    let setBoolean: @convention(c) (Handle, Text, Text, Int32) -> Void
    let setInteger: @convention(c) (Handle, Text, Text, Int64) -> Void
    let setString: @convention(c) (Handle, Text, Text, Text) -> Void
    let freeText: @convention(c) (UnsafeMutableRawPointer?) -> Void

    init() throws {
        let library = try DynamicLibrary(KeyFilePeer.library, package: "libglib2.0-0")
        new = try library.function("g_key_file_new")
        free = try library.function("g_key_file_free")
        load = try library.function("g_key_file_load_from_file")
        save = try library.function("g_key_file_save_to_file")
        boolean = try library.function("g_key_file_get_boolean")
        integer = try library.function("g_key_file_get_int64")
        string = try library.function("g_key_file_get_string")
        setBoolean = try library.function("g_key_file_set_boolean")
        setInteger = try library.function("g_key_file_set_int64")
        setString = try library.function("g_key_file_set_string")
        freeText = try library.function("g_free")
    }
}

/// GLib's key file, rewritten by each set. Data is base64 text, as a key file holds text.
final class KeyFilePeer: Peer {
    static let library = "libglib-2.0.so.0"

    private static let group = "preferences"

    private let functions: KeyFileFunctions
    private let file: OpaquePointer
    private let path: String

    init(_ folder: String) throws {
        functions = try KeyFileFunctions()
        file = functions.new()
        path = folder + "/preferences.ini"
        // Fails if there is no file yet.
        _ = functions.load(file, path, 0, nil)
    }

    deinit { functions.free(file) }

    func value(of name: String, as kind: Kind) -> Stored? {
        switch kind {
        case .boolean: .boolean(functions.boolean(file, Self.group, name, nil) != 0)
        case .integer: .integer(Int(functions.integer(file, Self.group, name, nil)))
        case .text: text(name).map { .text($0) }
        case .data, .record: text(name).flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        }
    }

    func set(_ value: Stored, for name: String) throws { try set([(name, value)]) }

    func set(_ values: [(name: String, value: Stored)]) throws {
        for (name, value) in values {
            switch value {
            case .boolean(let flag): functions.setBoolean(file, Self.group, name, flag ? 1 : 0)
            case .integer(let number): functions.setInteger(file, Self.group, name, Int64(number))
            case .text(let text): functions.setString(file, Self.group, name, text)
            case .data(let data): functions.setString(file, Self.group, name, data.base64EncodedString())
            }
        }
        guard functions.save(file, path, nil) != 0 else { throw Failure("the key file can't be saved") }
    }

    private func text(_ name: String) -> String? {
        guard let text = functions.string(file, Self.group, name, nil) else { return nil }
        defer { functions.freeText(text) }
        return String(cString: text)
    }
}
