#if os(Linux) && !canImport(Security)
internal import Preferences

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// The functions of libsecret and of the libraries below it, loaded at run time so that a program needs them neither to be built
/// nor to start.
///
/// Only functions without variable arguments, because Swift can't call those. An object is an `OpaquePointer`.
struct LibSecret: Sendable {
    typealias Object = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    /// A `GError **`.
    typealias Failure = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// A `GList *`.
    typealias List = UnsafeMutableRawPointer
    typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void
    typealias Hash = @convention(c) (UnsafeRawPointer?) -> UInt32
    typealias Equal = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32

    // GLib
    let freeError: Release
    let free: Release
    let copyText: @convention(c) (Text) -> UnsafeMutableRawPointer?
    let prepend: @convention(c) (List?, Object?) -> List?
    let freeList: @convention(c) (List?) -> Void
    let makeTable: @convention(c) (Hash, Equal, Release?, Release?) -> Object?
    let insert: @convention(c) (Object, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
    let lookUp: @convention(c) (Object, Text) -> Text?
    let freeTable: Release
    let hashText: Hash
    let equalText: Equal
    let makeContext: @convention(c) () -> Object?
    let pushContext: @convention(c) (Object) -> Void
    let popContext: @convention(c) (Object) -> Void
    let iterate: @convention(c) (Object, Int32) -> Int32
    let freeContext: @convention(c) (Object) -> Void
    // GObject and GIO
    let release: Release
    let makeCancellable: @convention(c) () -> Object?
    let cancel: @convention(c) (Object) -> Void
    let bus: @convention(c) (Int32, Object?, Failure) -> Object?
    let exitOnClose: @convention(c) (Object, Int32) -> Void
    let isClosed: @convention(c) (Object) -> Int32
    let path: @convention(c) (Object) -> Text?
    let ioDomain: UInt32
    let busDomain: UInt32
    // libsecret
    let secretDomain: UInt32
    let serviceType: UInt
    let open: @convention(c) (UInt, Text?, Int32, Object?, Failure) -> Object?
    let search: @convention(c) (Object, UnsafeRawPointer?, Object, Int32, Object?, Failure) -> List?
    let unlock: @convention(c) (Object, List?, Object?, UnsafeMutablePointer<List?>?, Failure) -> Int32
    let store: @convention(c) (Object, UnsafeRawPointer?, Object, Text?, Text, Object, Object?, Failure) -> Int32
    let collection: @convention(c) (Object, Text, Int32, Object?, Failure) -> Object?
    let isCollectionLocked: @convention(c) (Object) -> Int32
    let loadSecrets: @convention(c) (List?, Object?, Failure) -> Int32
    let attributes: @convention(c) (Object) -> Object?
    let isLocked: @convention(c) (Object) -> Int32
    let modified: @convention(c) (Object) -> UInt64
    let secret: @convention(c) (Object) -> Object?
    let setSecret: @convention(c) (Object, Object, Object?, Failure) -> Int32
    let delete: @convention(c) (Object, Object?, Failure) -> Int32
    let makeValue: @convention(c) (UnsafeRawPointer?, Int, Text) -> Object?
    let bytes: @convention(c) (Object, UnsafeMutablePointer<Int>) -> UnsafeRawPointer?
    let freeValue: @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// Creates the functions by loading the library, once in a process for each name.
    init(_ name: String) throws(PreferenceError) {
        // RTLD_LOCAL, so that the program's own symbols aren't replaced. `dlsym` also searches the libraries on which this one depends.
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw PreferenceError(noLibrary: dlerror().map { String(cString: $0) } ?? name)
        }
        func address(_ symbol: String) throws(PreferenceError) -> UnsafeMutableRawPointer {
            if let address = dlsym(library, symbol) { return address }
            throw PreferenceError(noLibrary: dlerror().map { String(cString: $0) } ?? symbol)
        }
        func function<Function>(_ symbol: String) throws(PreferenceError) -> Function {
            unsafeBitCast(try address(symbol), to: Function.self)
        }
        func quark(_ symbol: String) throws(PreferenceError) -> UInt32 {
            let get: @convention(c) () -> UInt32 = try function(symbol)
            return get()
        }
        freeError = try function("g_error_free")
        free = try function("g_free")
        copyText = try function("g_strdup")
        prepend = try function("g_list_prepend")
        freeList = try function("g_list_free")
        makeTable = try function("g_hash_table_new_full")
        insert = try function("g_hash_table_insert")
        lookUp = try function("g_hash_table_lookup")
        freeTable = try function("g_hash_table_unref")
        hashText = try function("g_str_hash")
        equalText = try function("g_str_equal")
        makeContext = try function("g_main_context_new")
        pushContext = try function("g_main_context_push_thread_default")
        popContext = try function("g_main_context_pop_thread_default")
        iterate = try function("g_main_context_iteration")
        freeContext = try function("g_main_context_unref")
        release = try function("g_object_unref")
        makeCancellable = try function("g_cancellable_new")
        cancel = try function("g_cancellable_cancel")
        bus = try function("g_bus_get_sync")
        exitOnClose = try function("g_dbus_connection_set_exit_on_close")
        isClosed = try function("g_dbus_connection_is_closed")
        path = try function("g_dbus_proxy_get_object_path")
        ioDomain = try quark("g_io_error_quark")
        busDomain = try quark("g_dbus_error_quark")
        secretDomain = try quark("secret_error_get_quark")
        let type: @convention(c) () -> UInt = try function("secret_service_get_type")
        serviceType = type()
        open = try function("secret_service_open_sync")
        search = try function("secret_service_search_sync")
        unlock = try function("secret_service_unlock_sync")
        store = try function("secret_service_store_sync")
        collection = try function("secret_collection_for_alias_sync")
        isCollectionLocked = try function("secret_collection_get_locked")
        loadSecrets = try function("secret_item_load_secrets_sync")
        attributes = try function("secret_item_get_attributes")
        isLocked = try function("secret_item_get_locked")
        modified = try function("secret_item_get_modified")
        secret = try function("secret_item_get_secret")
        setSecret = try function("secret_item_set_secret_sync")
        delete = try function("secret_item_delete_sync")
        makeValue = try function("secret_value_new")
        bytes = try function("secret_value_get")
        freeValue = try function("secret_value_unref")
    }
}

/// GLib's `GError`.
struct GLibError {
    var domain: UInt32
    var code: Int32
    var message: UnsafePointer<CChar>?
}

/// GLib's `GList`.
struct GLibList {
    var item: OpaquePointer?
    var next: UnsafeMutableRawPointer?
    var previous: UnsafeMutableRawPointer?

    /// Returns the items of a list.
    static func items(of list: UnsafeMutableRawPointer?) -> [OpaquePointer] {
        var items: [OpaquePointer] = []
        var rest = list
        while let node = rest?.load(as: GLibList.self) {
            if let item = node.item { items.append(item) }
            rest = node.next
        }
        return items
    }
}

extension PreferenceError {
    fileprivate init(noLibrary reason: String) {
        self.init(
            .unavailable,
            "the library for the system's keyring can't be loaded (\(reason)); nothing was changed. Install libsecret: the "
                + "package libsecret-1-0 of Debian and Ubuntu, libsecret of Fedora and Arch"
        )
    }
}
#endif
