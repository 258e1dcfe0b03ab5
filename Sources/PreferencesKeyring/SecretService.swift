#if os(Linux) && !canImport(Security)
internal import Preferences

/// Returns the keyring of the desktop.
func systemKeyring(service: String, library: String?) throws(PreferenceError) -> any Keyring {
    try SecretService(service, library: LibSecret(library ?? "libsecret-1.so.0"))
}

/// The items of the Secret Service whose attribute `application` is the service's name; the attribute `name` is an item's
/// name.
///
/// Items have no other attributes and no schema, like those of `secret-tool`, so that both find the same ones. If several items have
/// the same name, the one changed last counts; a set changes that one, and a removal removes all.
final class SecretService: Keyring, @unchecked Sendable {  // used by one thread at a time
    private let service: String
    private let library: LibSecret
    /// Receives the signals of the library's objects, which otherwise would wait for a main loop of the program.
    private let context: LibSecret.Object?
    /// The service, with a session; `nil` at first and after a call failed.
    private var proxy: LibSecret.Object?

    init(_ service: String, library: LibSecret) {
        self.service = service
        self.library = library
        context = library.makeContext()
    }

    deinit {
        disconnect()
        if let context { library.freeContext(context) }
    }

    func items(_ call: KeyringCall) throws(PreferenceError) -> KeyringItems {
        try connected(call) { (proxy) throws(Failure) in
            let items = try items(nil, proxy, call)
            try load(items, call)
            var contents = KeyringItems()
            for item in items.sorted(by: { $0.isOlder(than: $1) }) {
                if let name = item.name { contents.bytes[name] = try bytes(of: item) }
            }
            return contents
        }
    }

    func set(_ bytes: [UInt8]?, for name: String, _ call: KeyringCall) throws(PreferenceError) {
        guard !name.utf8.contains(0) else {
            throw PreferenceError(
                .invalidName,
                name: name,
                "the system's keyring can't store a name with a NUL character; nothing was changed. Use another name"
            )
        }
        try connected(call) { (proxy) throws(Failure) in
            // Strings that are equal in Swift may have different bytes.
            let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
            let items = try items(isASCII ? name : nil, proxy, call).filter { $0.name == name }
            guard let bytes else {
                try delete(items, call)
                return
            }
            let value = bytes.withUnsafeBytes { bytes in
                let isText = String(validating: bytes, as: UTF8.self) != nil
                return library.makeValue(
                    bytes.baseAddress,
                    bytes.count,
                    isText ? "text/plain" : "application/octet-stream"
                )
            }
            guard let value else { throw Failure(.refused, "no memory") }
            defer { library.freeValue(UnsafeMutableRawPointer(value)) }
            if let item = items.max(by: { $0.isOlder(than: $1) }) {
                try write(call) { library.setSecret(item.object, value, $0, $1) }
            } else {
                try create(name, value, proxy, call)
            }
        }
    }
}

// MARK: Items

extension SecretService {
    private final class Item {
        let object: LibSecret.Object
        /// The attribute; `nil` if another program's item lacks it, or a locked item doesn't show it.
        let name: String?
        let isLocked: Bool
        private let path: String
        private let modified: UInt64
        private let library: LibSecret

        /// Creates the item of an object, which it releases at its end.
        init(_ object: LibSecret.Object, _ library: LibSecret) {
            let attributes = library.attributes(object)
            defer { library.freeTable(UnsafeMutableRawPointer(attributes)) }
            self.object = object
            name = attributes.flatMap { library.lookUp($0, "name") }.map { String(cString: $0) }
            isLocked = library.isLocked(object) != 0
            path = library.path(object).map { String(cString: $0) } ?? ""
            modified = library.modified(object)
            self.library = library
        }

        deinit { library.release(UnsafeMutableRawPointer(object)) }

        /// Returns whether the other item counts: the newer one, or, within one second, the last one in the order of their numbered paths.
        func isOlder(than other: Item) -> Bool {
            (modified, path.utf8.count, path) < (other.modified, other.path.utf8.count, other.path)
        }
    }

    /// Returns the items of the service, or those of one name; asks the user to unlock those that are locked.
    private func items(_ name: String?, _ proxy: LibSecret.Object, _ call: KeyringCall) throws(Failure) -> [Item] {
        var objects = try search(name, proxy, call)
        if objects.contains(where: \.isLocked) {
            try unlock(objects.filter(\.isLocked).map(\.object), proxy, call)
            // A locked item of gnome-keyring doesn't show its attributes, and so no name.
            objects = try search(name, proxy, call)
            guard !objects.contains(where: \.isLocked) else { throw Failure(.locked, "it was locked again") }
        }
        return objects.filter { $0.name != nil }
    }

    private func search(_ name: String?, _ proxy: LibSecret.Object, _ call: KeyringCall) throws(Failure) -> [Item] {
        let attributes = try attributes(name)
        defer { library.freeTable(UnsafeMutableRawPointer(attributes)) }
        let all: Int32 = 1 << 1
        let list = try perform(call) { library.search(proxy, nil, attributes, all, $0, $1) }
        defer { library.freeList(list) }
        return GLibList.items(of: list).map { Item($0, library) }
    }

    private func load(_ items: [Item], _ call: KeyringCall) throws(Failure) {
        guard !items.isEmpty else { return }
        let list = self.list(items.map(\.object))
        defer { library.freeList(list) }
        _ = try perform(call) { library.loadSecrets(list, $0, $1) }
    }

    private func bytes(of item: Item) throws(Failure) -> [UInt8] {
        guard let value = library.secret(item.object) else { throw Failure(.refused, "an item has no secret") }
        defer { library.freeValue(UnsafeMutableRawPointer(value)) }
        var count = 0
        guard let bytes = library.bytes(value, &count), count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Asks the user to unlock items or collections, if there are any.
    private func unlock(_ objects: [LibSecret.Object], _ proxy: LibSecret.Object, _ call: KeyringCall) throws(Failure) {
        guard !objects.isEmpty else { return }
        guard call.mayPrompt else { throw Failure(.locked, "no prompt") }
        let list = self.list(objects)
        defer { library.freeList(list) }
        let count = try call.prompting { () throws(Failure) in
            do throws(Failure) {
                return try perform(call) { library.unlock(proxy, list, $0, nil, $1) }
            } catch {
                throw error.kind == .late ? Failure(.locked, "the prompt was not answered") : error
            }
        }
        guard Int(count) == objects.count else { throw Failure(.locked, "the prompt was dismissed") }
    }

    private func create(
        _ name: String,
        _ value: LibSecret.Object,
        _ proxy: LibSecret.Object,
        _ call: KeyringCall
    ) throws(Failure) {
        let attributes = try attributes(name)
        defer { library.freeTable(UnsafeMutableRawPointer(attributes)) }
        let label = "\(service): \(name)"
        let collection = try perform(call) { library.collection(proxy, "default", 0, $0, $1) }
        guard let collection else { throw Failure(.noCollection, "no default collection") }
        defer { library.release(UnsafeMutableRawPointer(collection)) }
        try unlock(library.isCollectionLocked(collection) != 0 ? [collection] : [], proxy, call)
        try write(call) { library.store(proxy, nil, attributes, nil, label, value, $0, $1) }
    }

    private func delete(_ items: [Item], _ call: KeyringCall) throws(Failure) {
        for (index, item) in items.enumerated() {
            do throws(Failure) {
                try write(call) { library.delete(item.object, $0, $1) }
            } catch {
                throw index == 0 ? error : Failure(.broken, error.message, isWriting: true)
            }
        }
    }

    private func attributes(_ name: String?) throws(Failure) -> LibSecret.Object {
        guard let table = library.makeTable(library.hashText, library.equalText, library.free, library.free) else {
            throw Failure(.refused, "no memory")
        }
        _ = library.insert(table, library.copyText("application"), library.copyText(service))
        if let name { _ = library.insert(table, library.copyText("name"), library.copyText(name)) }
        return table
    }

    private func list(_ objects: [LibSecret.Object]) -> LibSecret.List? {
        objects.reversed().reduce(nil) { library.prepend($0, $1) }
    }
}

// MARK: Calls

extension SecretService {
    /// The failure of a call of the library.
    fileprivate struct Failure: Error {
        enum Kind {
            case noBus, noService, noCollection, locked
            /// Cancelled at the deadline.
            case late
            /// The service answered that it rejects the call.
            case refused
            /// There was no answer, and none will come.
            case broken
        }

        let kind: Kind
        let message: String
        /// Whether the call was a write.
        let isWriting: Bool

        init(_ kind: Kind, _ message: String, isWriting: Bool = false) {
            self.kind = kind
            self.message = message
            self.isWriting = isWriting
        }

        init(_ error: GLibError, _ library: LibSecret, isWriting: Bool) {
            let kind: Kind =
                switch (error.domain, error.code) {
                // G_IO_ERROR_CANCELLED, G_IO_ERROR_TIMED_OUT
                case (library.ioDomain, 19), (library.ioDomain, 24): .late
                // G_IO_ERROR_DBUS_ERROR: an answer that GLib has no code for
                case (library.ioDomain, 36): .refused
                // SECRET_ERROR_IS_LOCKED
                case (library.secretDomain, 2): .locked
                // SECRET_ERROR_PROTOCOL: an answer that can't be understood
                case (library.secretDomain, 1): .broken
                case (library.secretDomain, _): .refused
                // G_DBUS_ERROR_SERVICE_UNKNOWN, _NAME_HAS_NO_OWNER, and the bus could not start it (G_DBUS_ERROR_SPAWN_…)
                case (library.busDomain, 2), (library.busDomain, 3), (library.busDomain, 23...34): .noService
                // G_DBUS_ERROR_NO_REPLY, _TIMEOUT, _DISCONNECTED, _TIMED_OUT
                case (library.busDomain, 4), (library.busDomain, 12), (library.busDomain, 15), (library.busDomain, 20):
                    .broken
                case (library.busDomain, _): .refused
                default: .broken
                }
            self.init(kind, error.message.map { String(cString: $0) } ?? "", isWriting: isWriting)
        }

        /// Whether it is unknown if anything was changed.
        var isOutcomeUnknown: Bool { isWriting && (kind == .late || kind == .broken) }

        /// Whether the call could succeed if it is repeated over a new connection.
        var isOfConnection: Bool { !isOutcomeUnknown && [.noService, .refused, .broken].contains(kind) }
    }

    /// Runs `body` with the service; repeats it with a new session if the service was restarted since.
    private func connected<Result>(
        _ call: KeyringCall,
        _ body: (LibSecret.Object) throws(Failure) -> Result
    ) throws(PreferenceError) -> Result {
        guard let context else { throw PreferenceError(Failure(.refused, "no memory")) }
        library.pushContext(context)
        defer {
            while library.iterate(context, 0) != 0 {}
            library.popContext(context)
        }
        do throws(Failure) {
            let isConnected = proxy != nil
            do throws(Failure) {
                return try body(try connect(call))
            } catch {
                guard isConnected, error.isOfConnection else { throw error }
                disconnect()
                return try body(try connect(call))
            }
        } catch {
            if error.kind != .locked { disconnect() }
            throw PreferenceError(error)
        }
    }

    private func connect(_ call: KeyringCall) throws(Failure) -> LibSecret.Object {
        if let proxy { return proxy }
        let bus: LibSecret.Object?
        do throws(Failure) {
            bus = try perform(call) { library.bus(2 /* G_BUS_TYPE_SESSION */, $0, $1) }
        } catch {
            throw error.kind == .late ? error : Failure(.noBus, error.message)
        }
        guard let bus else { throw Failure(.noBus, "") }
        defer { library.release(UnsafeMutableRawPointer(bus)) }
        // Prevents GLib from ending the program when the bus ends.
        library.exitOnClose(bus, 0)
        guard library.isClosed(bus) == 0 else { throw Failure(.noBus, "the connection is closed") }
        let opensSession: Int32 = 1 << 1
        let proxy = try perform(call) { library.open(library.serviceType, nil, opensSession, $0, $1) }
        guard let proxy else { throw Failure(.noService, "") }
        self.proxy = proxy
        return proxy
    }

    private func disconnect() {
        if let proxy { library.release(UnsafeMutableRawPointer(proxy)) }
        proxy = nil
    }

    private func write(
        _ call: KeyringCall,
        _ body: (LibSecret.Object?, LibSecret.Failure) -> Int32
    ) throws(Failure) {
        guard call.beginWriting() else { throw Failure(.late, "the caller no longer waits") }
        guard try perform(call, isWriting: true, body) != 0 else { throw Failure(.refused, "", isWriting: true) }
    }

    /// Calls the library and cancels the call at its deadline.
    private func perform<Result>(
        _ call: KeyringCall,
        isWriting: Bool = false,
        _ body: (LibSecret.Object?, LibSecret.Failure) -> Result
    ) throws(Failure) -> Result {
        let limit = Cancellable(library)
        var error: UnsafeMutableRawPointer?
        let result = call.cancelling(limit.cancel) { body(limit.object, &error) }
        guard let error else { return result }
        defer { library.freeError(error) }
        throw Failure(error.load(as: GLibError.self), library, isWriting: isWriting)
    }

    /// GLib's `GCancellable`.
    private final class Cancellable: @unchecked Sendable {  // a GCancellable may be cancelled on any thread
        let object: LibSecret.Object?
        private let library: LibSecret

        init(_ library: LibSecret) {
            self.library = library
            object = library.makeCancellable()
        }

        deinit { library.release(UnsafeMutableRawPointer(object)) }

        func cancel() { if let object { library.cancel(object) } }
    }
}

extension PreferenceError {
    fileprivate init(_ failure: SecretService.Failure) {
        let reason = failure.message
        switch failure.kind {
        case _ where failure.isOutcomeUnknown: self = .keyringOutcomeUnknown(reason)
        case .late: self = .keyringLate
        case .refused, .broken:
            self.init(
                .unavailable,
                "the system's keyring failed (\(reason)); nothing was changed. Try again; if it fails again, restart its service"
            )
        case .noBus:
            self.init(
                .unavailable,
                "the session bus that leads to the system's keyring can't be reached (\(reason)); nothing was changed. Start the "
                    + "program in a desktop session or with dbus-run-session"
            )
        case .noService:
            self.init(
                .unavailable,
                "no program on the session bus provides the system's keyring (\(reason)); nothing was changed. Install and start "
                    + "gnome-keyring, or let KWallet or KeePassXC offer the Secret Service"
            )
        case .noCollection:
            self.init(
                .unavailable,
                "the system's keyring has no default collection; nothing was changed. Create one with Seahorse or gnome-keyring's "
                    + "--unlock, and try again"
            )
        case .locked:
            self.init(
                .unavailable,
                "the system's keyring is locked and was not unlocked (\(reason)); nothing was changed. Unlock it and try again: the "
                    + "next write or load asks again"
            )
        }
    }
}
#endif
