#if canImport(Darwin) || STANDINS
internal import Foundation

/// Tells of changes of single names in user defaults, also by other processes, until it is released.
protocol UserDefaultsObserving: AnyObject, Sendable {
    /// Tells of the name's changes from now on; the name is one that `canObserve` allows.
    func observe(_ name: String)
}

/// User defaults, to be taken to other threads.
struct SharedUserDefaults: @unchecked Sendable {  // "The UserDefaults class is thread-safe", says its documentation.
    let object: UserDefaults

    /// Whether key-value observing can tell of a name: it takes a dot for a path, and a leading `@` for an operator.
    static func canObserve(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(UInt8(ascii: ".")) && name.utf8.first != UInt8(ascii: "@")
    }
}

/// Tells of each notification of a name, on the thread that posts it, until it is released.
final class NotificationObserver: @unchecked Sendable {  // the token is only written before anybody else has the object
    private let token: any NSObjectProtocol

    init(of name: Notification.Name, _ body: @escaping @Sendable (Notification) -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil, using: body)
    }

    deinit {
        NotificationCenter.default.removeObserver(token)
    }
}
#endif

#if canImport(ObjectiveC)
internal import DurableFile
internal import Foundation

/// Observes names of user defaults by key-value observing; all of Objective-C that the library has.
final class KeyValueObserver: NSObject, UserDefaultsObserving {
    private let defaults: SharedUserDefaults
    private let deliver: @Sendable (String) -> Void
    private let names = Lock<Set<String>>([])

    init(of defaults: SharedUserDefaults, _ deliver: @escaping @Sendable (String) -> Void) {
        self.defaults = defaults
        self.deliver = deliver
    }

    deinit {
        for name in names.withLock({ $0 }) { defaults.object.removeObserver(self, forKeyPath: name) }
    }

    func observe(_ name: String) {
        guard names.withLock({ $0.insert(name).inserted }) else { return }
        // Without options nothing is read, and nobody is called, before there is a change.
        defaults.object.addObserver(self, forKeyPath: name, options: [], context: nil)
    }

    override func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        if let keyPath { deliver(keyPath) }
    }
}
#endif
