#if canImport(Darwin) || STANDINS
internal import Foundation

/// Tells of changes of single names in user defaults, also by other processes, until it is stopped.
protocol UserDefaultsObserving: AnyObject, Sendable {
    /// Tells of the name's changes from now on; the name is one that `canObserve` allows.
    func observe(_ name: String)
    /// Tells of no more; the last call.
    func stop()
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

/// Observes names of user defaults by key-value observing.
final class KeyValueObserver: UserDefaultsObserving {
    private let defaults: SharedUserDefaults
    private let number: UInt
    private let names = Lock<Set<String>>([])

    init(of defaults: SharedUserDefaults, _ deliver: @escaping @Sendable (String) -> Void) {
        self.defaults = defaults
        number = KeyValueReceiver.shared.recipients.add(deliver)
    }

    func observe(_ name: String) {
        guard names.withLock({ $0.insert(name).inserted }) else { return }
        // Without options nothing is read, and nobody is called, before there is a change.
        defaults.object.addObserver(KeyValueReceiver.shared, forKeyPath: name, options: [], context: context)
    }

    func stop() {
        KeyValueReceiver.shared.recipients.remove(number)
        for name in names.withLock({ $0 }) {
            defaults.object.removeObserver(KeyValueReceiver.shared, forKeyPath: name, context: context)
        }
    }

    private var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }
}

/// What key-value observing calls; all of Objective-C that the library has.
///
/// One for the process and never released, as a notification that another thread is delivering just now holds no reference to
/// it. The context, which is no address, says who is meant.
private final class KeyValueReceiver: NSObject, Sendable {
    static let shared = KeyValueReceiver()
    let recipients = Recipients()

    override func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        if let keyPath { recipients.deliver(keyPath, to: UInt(bitPattern: context)) }
    }
}
#endif

#if canImport(Darwin) || STANDINS
internal import DurableFile

/// Who is told of changes, by numbers that aren't used again.
final class Recipients: Sendable {
    private let state = Lock<(last: UInt, bodies: [UInt: @Sendable (String) -> Void])>((0, [:]))

    func add(_ body: @escaping @Sendable (String) -> Void) -> UInt {
        state.withLock { state in
            state.last += 1
            state.bodies[state.last] = body
            return state.last
        }
    }

    func remove(_ number: UInt) {
        let body = state.withLock { $0.bodies.removeValue(forKey: number) }
        withExtendedLifetime(body) {}
    }

    /// Tells a recipient; one that was removed hears nothing any more, but of what is being delivered to it.
    func deliver(_ name: String, to number: UInt) {
        state.withLock { $0.bodies[number] }?(name)
    }
}
#endif
