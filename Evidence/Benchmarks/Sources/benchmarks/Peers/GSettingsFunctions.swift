/// The functions of GLib's settings and variants that are used, as in gsettings.h, gvariant.h and gsignal.h.
struct GSettingsFunctions {
    typealias Handle = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    /// Gets the settings, the key and the user data.
    typealias Callback = @convention(c) (Handle, Text, UnsafeMutableRawPointer?) -> Void

    let schemas: @convention(c) (Text, Handle?, Int32, OpaquePointer?) -> Handle?
    let schema: @convention(c) (Handle, Text, Int32) -> Handle?
    let settings: @convention(c) (Handle, Handle?, Text?) -> Handle?
    let backend: @convention(c) () -> Handle?
    let typeName: @convention(c) (Handle) -> Text?
    let value: @convention(c) (Handle, Text) -> Handle?
    let setValue: @convention(c) (Handle, Text, Handle) -> Int32
    let reset: @convention(c) (Handle, Text) -> Void
    let sync: @convention(c) () -> Void
    let release: @convention(c) (Handle) -> Void
    let connect: @convention(c) (Handle, Text, Callback, UnsafeMutableRawPointer?, OpaquePointer?, Int32) -> UInt
    let iterate: @convention(c) (OpaquePointer?, Int32) -> Int32

    let sessionBus: @convention(c) (Int32, OpaquePointer?, OpaquePointer?) -> Handle?
    let setExitOnClose: @convention(c) (Handle, Int32) -> Void

    let newBoolean: @convention(c) (Int32) -> Handle
    let newInteger: @convention(c) (Int64) -> Handle
    let newString: @convention(c) (Text) -> Handle
    let newArray: @convention(c) (Text, UnsafeRawPointer?, Int, Int) -> Handle
    let boolean: @convention(c) (Handle) -> Int32
    let integer: @convention(c) (Handle) -> Int64
    let string: @convention(c) (Handle, UnsafeMutablePointer<Int>?) -> Text
    let array: @convention(c) (Handle, UnsafeMutablePointer<Int>, Int) -> UnsafeRawPointer?
    let releaseVariant: @convention(c) (Handle) -> Void

    init() throws {
        let glib = try DynamicLibrary("libglib-2.0.so.0", package: "libglib2.0-0")
        let objects = try DynamicLibrary("libgobject-2.0.so.0", package: "libglib2.0-0")
        let gio = try DynamicLibrary(GSettingsPeer.library, package: "libglib2.0-0")
        schemas = try gio.function("g_settings_schema_source_new_from_directory")
        schema = try gio.function("g_settings_schema_source_lookup")
        settings = try gio.function("g_settings_new_full")
        backend = try gio.function("g_settings_backend_get_default")
        value = try gio.function("g_settings_get_value")
        setValue = try gio.function("g_settings_set_value")
        reset = try gio.function("g_settings_reset")
        sync = try gio.function("g_settings_sync")
        sessionBus = try gio.function("g_bus_get_sync")
        setExitOnClose = try gio.function("g_dbus_connection_set_exit_on_close")
        typeName = try objects.function("g_type_name_from_instance")
        release = try objects.function("g_object_unref")
        connect = try objects.function("g_signal_connect_data")
        iterate = try glib.function("g_main_context_iteration")
        newBoolean = try glib.function("g_variant_new_boolean")
        newInteger = try glib.function("g_variant_new_int64")
        newString = try glib.function("g_variant_new_string")
        newArray = try glib.function("g_variant_new_fixed_array")
        boolean = try glib.function("g_variant_get_boolean")
        integer = try glib.function("g_variant_get_int64")
        string = try glib.function("g_variant_get_string")
        array = try glib.function("g_variant_get_fixed_array")
        releaseVariant = try glib.function("g_variant_unref")
    }
}
