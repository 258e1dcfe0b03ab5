import Foundation

/// GSettings over dconf, whose service writes the file. A set returns when it is queued, or waits for the service.
final class GSettingsPeer: Peer {
    static let library = "libgio-2.0.so.0"

    private static let schema = "org.example.benchmarks"

    private let functions: GSettingsFunctions
    private let settings: OpaquePointer
    private let isWaiting: Bool

    /// - Parameter folder: The folder with the schema of `makeSchema`; there is one database per folder, that of
    ///   `XDG_CONFIG_HOME`.
    init(_ folder: String, isWaiting: Bool) throws {
        functions = try GSettingsFunctions()
        self.isWaiting = isWaiting
        guard let backend = functions.backend(), let name = functions.typeName(backend),
            String(cString: name) == "DConfSettingsBackend"
        else { throw Unavailable("GSettings has no dconf; install dconf-gsettings-backend") }
        guard let schemas = functions.schemas(folder, nil, 0, nil),
            let schema = functions.schema(schemas, Self.schema, 0),
            let settings = functions.settings(schema, nil, nil)
        else { throw Failure("GSettings has no schema in \(folder)") }
        self.settings = settings
        // Otherwise the end of the bus, which belongs to this program, would end the program.
        guard let bus = functions.sessionBus(2 /* G_BUS_TYPE_SESSION */, nil, nil) else {
            throw Unavailable("dconf has no session bus; install dbus-daemon")
        }
        functions.setExitOnClose(bus, 0)
    }

    deinit { functions.release(settings) }

    /// Creates and compiles the schema with the name and type of every setting, which GSettings requires.
    static func makeSchema(_ folder: String, _ samples: Samples) throws {
        let named = (0..<samples.count).map { number in
            let (type, initial) =
                switch samples.kind(number) {
                case .boolean: ("b", "false")
                case .integer: ("x", "-1")
                case .text: ("s", "''")
                case .data, .record: ("ay", "[]")
                }
            return key(Samples.name(number), type, initial)
        }
        let keys = named + [key(Samples.unset, "x", "-1")]
        let text = """
            <schemalist><schema id="\(schema)" path="/org/example/benchmarks/">
            \(keys.joined(separator: "\n"))
            </schema></schemalist>
            """
        try Data(text.utf8).write(to: URL(filePath: folder).appending(path: "\(schema).gschema.xml"))
        guard try Child("glib-compile-schemas", [folder]).wait() == 0 else {
            throw Unavailable("glib-compile-schemas fails; install libglib2.0-bin")
        }
    }

    private static func key(_ name: String, _ type: String, _ initial: String) -> String {
        #"<key name="\#(name)" type="\#(type)"><default>\#(initial)</default></key>"#
    }

    /// Resets all settings to their defaults, as all databases of a session are in one file.
    func removeAll(_ samples: Samples) {
        for number in 0..<samples.count { functions.reset(settings, Samples.name(number)) }
        functions.sync()
    }

    func value(of name: String, as kind: Kind) -> Stored? {
        guard let variant = functions.value(settings, name) else { return nil }
        defer { functions.releaseVariant(variant) }
        switch kind {
        case .boolean: return .boolean(functions.boolean(variant) != 0)
        case .integer: return .integer(Int(functions.integer(variant)))
        case .text: return .text(String(cString: functions.string(variant, nil)))
        case .data, .record:
            var count = 0
            return functions.array(variant, &count, 1).map { .data(Data(bytes: $0, count: count)) }
        }
    }

    func set(_ value: Stored, for name: String) throws {
        try put(value, for: name)
        if isWaiting { functions.sync() }
    }

    func set(_ values: [(name: String, value: Stored)]) throws {
        // Values that are set while the service is busy are sent to it together.
        for (name, value) in values { try put(value, for: name) }
        functions.sync()
    }

    private func put(_ value: Stored, for name: String) throws {
        let variant =
            switch value {
            case .boolean(let flag): functions.newBoolean(flag ? 1 : 0)
            case .integer(let number): functions.newInteger(Int64(number))
            case .text(let text): functions.newString(text)
            case .data(let data): data.withUnsafeBytes { functions.newArray("y", $0.baseAddress, $0.count, 1) }
            }
        guard functions.setValue(settings, name, variant) != 0 else { throw Failure("GSettings refuses \(name)") }
    }

    /// Calls the body whenever a setting has changed, on the calling thread, for ever.
    func observe(_ name: String, _ changed: @escaping () -> Void) -> Never {
        final class Box {
            let changed: () -> Void
            init(_ changed: @escaping () -> Void) { self.changed = changed }
        }
        let context = Unmanaged.passRetained(Box(changed)).toOpaque()
        let callback: GSettingsFunctions.Callback = { _, _, context in
            guard let context else { return }
            Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().changed()
        }
        _ = functions.connect(settings, "changed::\(name)", callback, context, nil, 0)
        // Only changes of settings that were read before are notified.
        _ = value(of: name, as: .integer)
        while true { _ = functions.iterate(nil, 1) }
    }
}
