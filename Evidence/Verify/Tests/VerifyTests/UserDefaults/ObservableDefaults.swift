import Foundation

@testable import Preferences

/// Foundation's user defaults, with change notifications like those of Apple's.
///
/// A set here calls the name's observers inside `set`, on the setting thread, and then posts `didChangeNotification`. Values set by
/// another process are delivered from within the next read of any name, or by the main run loop, without a notification.
/// The removal of a domain is only posted. Each object has a separate domain, which is written to a disk only by
/// `synchronize()`.
final class ObservableDefaults: UserDefaults {
    let watch = DefaultsWatch()
    let domain = "verify." + UUID().uuidString

    init() {
        // Nil only for names that stand for other domains.
        // swift-format-ignore: NeverForceUnwrap
        super.init(suiteName: domain)!
        // If several threads are the first to use a domain, CoreFoundation on Linux creates it more than once, and a read
        // may miss a value set before.
        super.set(true as Any?, forKey: "first")
        super.removeObject(forKey: "first")
    }

    override func object(forKey name: String) -> Any? {
        watch.willRead()
        return watch.argument(for: name) ?? super.object(forKey: name) ?? watch.global(name)
    }

    override func objectIsForced(forKey name: String) -> Bool {
        watch.willAskForPolicy()
        watch.deliverWaiting()
        return watch.isForced(name)
    }

    override func objectIsForced(forKey name: String, inDomain domain: String) -> Bool {
        domain == self.domain && watch.isForced(name)
    }

    override func set(_ value: Any?, forKey name: String) {
        watch.will(name)
        super.set(value, forKey: name)
        watch.did(name)
    }

    override func removeObject(forKey name: String) {
        super.removeObject(forKey: name)
        watch.did(name)
    }

    override func synchronize() -> Bool { watch.isSynchronizable }

    /// Sets a value as another process does.
    func setElsewhere(_ value: Any?, forKey name: String) {
        super.set(value, forKey: name)
        watch.wait(name)
    }

    /// Removes all values, as `removePersistentDomain(forName:)` and `defaults delete` do.
    func removeDomain(of names: String...) {
        for name in names { super.removeObject(forKey: name) }
        DefaultsWatch.post()
    }

    /// Creates a store over these, which is notified of changes of the names that key-value observing can report.
    ///
    /// - Parameter runLater: The way to read names again after a notification; at once, so that nothing depends on other threads.
    func store(
        protection: DataProtection = .none,
        sizeLimit: UserDefaultsSizeLimit = .platform,
        patience: Duration = .seconds(3600),
        runLater: @escaping UserDefaultsBackend.RunLater = { $1() }
    ) -> PreferenceStore {
        PreferenceStore(
            UserDefaultsBackend(
                shared,
                protection: protection,
                sizeLimit: sizeLimit,
                patience: patience,
                runLater: runLater
            ) { [watch] _, deliver in watch.observer(deliver) }
        )
    }

    /// These, with the domains below and a way to read the domain alone.
    var shared: SharedUserDefaults {
        SharedUserDefaults(
            object: self,
            weaker: SharedUserDefaults.withoutValues.object,
            own: { [domain] in UserDefaults.standard.persistentDomain(forName: domain)?[$0] },
            belowArguments: { SharedUserDefaults.withoutValues.object.object(forKey: $0) }
        )
    }
}

extension SharedUserDefaults {
    /// Read once, for the same reason as in `ObservableDefaults.init`.
    static let withoutValues: SharedUserDefaults = {
        let defaults = UserDefaults(suiteName: emptyDomain) ?? .standard
        _ = defaults.object(forKey: "first")
        return SharedUserDefaults(object: defaults)
    }()
}

/// User defaults that can be used on any thread.
struct SharedDomain: @unchecked Sendable {  // "The UserDefaults class is thread-safe", says its documentation
    let defaults: ObservableDefaults
    init(_ defaults: ObservableDefaults) { self.defaults = defaults }
}

/// The observers of user defaults, and counts of calls.
final class DefaultsWatch: Sendable {
    private struct State {
        var observers: [FakeObserver] = []
        var writes: [String] = []
        var reads = 0
        var forced: Set<String> = []
        var arguments: [String: String] = [:]
        var globals: [String: Int] = [:]
        /// The names that another process has set and that no observer was notified of.
        var waiting: [String] = []
        var onRead: (@Sendable (Int) -> Void)?
        var onForced: (@Sendable () -> Void)?
        var onWrite: (@Sendable (String) -> Void)?
        var onChange: [@Sendable () -> Void] = []
        var onDelivery: (@Sendable (String) -> Void)?
        var isSynchronizable = true
    }

    private let state = Lock(State())

    /// The names that were written in this process, in order.
    var writes: [String] { state.withLock { $0.writes } }
    /// The number of reads.
    var reads: Int { state.withLock { $0.reads } }
    var observerCount: Int { state.withLock { $0.observers.count } }
    var isSynchronizable: Bool { state.withLock { $0.isSynchronizable } }

    func force(_ name: String) { state.withLock { _ = $0.forced.insert(name) } }
    func isForced(_ name: String) -> Bool { state.withLock { $0.forced.contains(name) } }
    /// Shows an argument above the value of a name, or none.
    func argue(_ argument: String?, for name: String) { state.withLock { $0.arguments[name] = argument } }
    func argument(for name: String) -> String? { state.withLock { $0.arguments[name] } }
    /// Shows a value of all programs below that of a name.
    func show(_ value: Int, below name: String) { state.withLock { $0.globals[name] = value } }
    func global(_ name: String) -> Int? { state.withLock { $0.globals[name] } }
    func failToSynchronize() { state.withLock { $0.isSynchronizable = false } }

    /// Calls `body` in each read, before it, with the number of reads.
    func onRead(_ body: (@Sendable (Int) -> Void)?) { state.withLock { $0.onRead = body } }

    /// Calls `body` in each check whether a name is forced.
    func onForced(_ body: (@Sendable () -> Void)?) { state.withLock { $0.onForced = body } }

    /// Calls `body` in each write before it happens.
    func onWrite(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.onWrite = body } }

    /// Calls `body` after each write.
    func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onChange.append(body) } }

    /// Calls `body` like another program part's key-value observer of all names, when another process's changes are delivered.
    func onDelivery(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.onDelivery = body } }

    func observer(_ deliver: @escaping @Sendable (String) -> Void) -> FakeObserver {
        let observer = FakeObserver(of: self, deliver)
        state.withLock { $0.observers.append(observer) }
        return observer
    }

    /// Delivers the pending changes, as a read and the main run loop do.
    func deliverWaiting() {
        let (names, observers, body) = state.withLock { state in
            (exchange(&state.waiting, with: []), state.observers, state.onDelivery)
        }
        for name in names {
            for observer in observers { observer.deliver(name) }
            body?(name)
        }
    }

    fileprivate func remove(_ observer: FakeObserver) {
        state.withLock { $0.observers.removeAll { $0 === observer } }
    }

    fileprivate func willRead() {
        let (reads, body) = state.withLock { state in
            state.reads += 1
            return (state.reads, state.onRead)
        }
        body?(reads)
        deliverWaiting()
    }

    fileprivate func willAskForPolicy() { state.withLock { $0.onForced }?() }
    fileprivate func wait(_ name: String) { state.withLock { $0.waiting.append(name) } }
    fileprivate func will(_ name: String) { state.withLock { $0.onWrite }?(name) }

    fileprivate func did(_ name: String) {
        let observers = state.withLock { state in
            state.writes.append(name)
            return state.observers
        }
        for observer in observers { observer.deliver(name) }
        for body in state.withLock({ $0.onChange }) { body() }
        Self.post()
    }

    fileprivate static func post() {
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
    }
}

/// Delivers changes of the observed names only, until it is stopped.
final class FakeObserver: UserDefaultsObserving {
    private let names = Lock<Set<String>>([])
    private let watch: DefaultsWatch
    private let body: @Sendable (String) -> Void

    init(of watch: DefaultsWatch, _ body: @escaping @Sendable (String) -> Void) {
        self.watch = watch
        self.body = body
    }

    func observe(_ name: String) {
        precondition(SharedUserDefaults.canObserve(name))
        guard names.withLock({ $0.insert(name).inserted }) else { return }
        watch.deliverWaiting()
    }

    func stop() { watch.remove(self) }

    func deliver(_ name: String) {
        if names.withLock({ $0.contains(name) }) { body(name) }
    }
}

/// Recorded elements, in order.
final class Log<Element: Sendable>: Sendable {
    private let entries = Lock<[Element]>([])

    var all: [Element] { entries.withLock { $0 } }

    func append(_ element: Element) { entries.withLock { $0.append(element) } }
}
