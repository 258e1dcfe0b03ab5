#if canImport(Darwin) || STANDINS
package import Foundation

/// An observer of single names in user defaults, including changes by other processes, until it is stopped.
protocol UserDefaultsObserving: AnyObject, Sendable {
    /// Begins to report the name's changes; `canObserve` must be true of the name.
    func observe(_ name: String)
    /// Ends all reports; no other call follows.
    func stop()
}

/// User defaults that can be used on any thread.
struct SharedUserDefaults: @unchecked Sendable {  // "The UserDefaults class is thread-safe", says its documentation.
    let object: UserDefaults
    /// User defaults without values of their own, which show what `object` shows where its domain has no value.
    var weaker: UserDefaults?
    /// Reads a value of the domain alone, if the domain's name is known.
    var own: (@Sendable (String) -> Any?)?
    /// The values of the program's arguments that are shown above those of the domain.
    var arguments: [String: PropertyListValue] = [:]
    /// Reads the value that is shown if neither the domain nor an argument has one.
    var belowArguments: (@Sendable (String) -> Any?)?
    /// The name of a dictionary of managed values, if there is one.
    var configuration: String?

    /// Returns whether key-value observing can report a name's changes: it treats a dot as a path, and a leading `@` as an operator.
    static func canObserve(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(UInt8(ascii: ".")) && name.utf8.first != UInt8(ascii: "@")
    }
}

/// An observer of the notifications of one name, called on the thread that posts them, until it is released.
package final class NotificationObserver: @unchecked Sendable {  // the token is written only by the initializer
    private let token: any NSObjectProtocol

    package init(of name: Notification.Name, _ body: @escaping @Sendable (Notification) -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil, using: body)
    }

    deinit {
        NotificationCenter.default.removeObserver(token)
    }

    /// The notifications that the program becomes active; by name, as not every process may use UIKit, AppKit or WatchKit.
    static let becameActive = [
        "UIApplicationDidBecomeActiveNotification", "NSApplicationDidBecomeActiveNotification",
        "WKApplicationDidBecomeActiveNotification", "NSExtensionHostDidBecomeActiveNotification",
    ].map { Notification.Name($0) }
}
#endif

#if canImport(ObjectiveC)
package import Foundation

/// An observer of names in user defaults that uses key-value observing.
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
        // Without options, nothing is read and no observer is called before there is a change.
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

/// The receiver of key-value observing's calls; the only Objective-C object in the library.
///
/// One for the process and never released, as a notification that another thread is delivering holds no reference to
/// it. The context isn't an address but the recipient's number.
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

/// The recipients of changes, by numbers that aren't reused.
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

    /// Calls a recipient; after its removal it gets no more calls, except one that has already begun.
    func deliver(_ name: String, to number: UInt) {
        state.withLock { $0.bodies[number] }?(name)
    }
}
#endif
