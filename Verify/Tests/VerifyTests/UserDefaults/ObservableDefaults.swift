import DurableFile
import Foundation

@testable import Preferences

/// Foundation's user defaults that tell of each change as Apple's do: inside `set`, on the setting thread.
///
/// Each has a domain of its own, which nothing writes to a disk unless it is synchronized.
final class ObservableDefaults: UserDefaults {
    let watch = DefaultsWatch()

    init() {
        // Nil for names that stand for other domains only.
        // swift-format-ignore: NeverForceUnwrap
        super.init(suiteName: "verify." + UUID().uuidString)!
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

    override func objectIsForced(forKey name: String) -> Bool { watch.isForced(name) }

    /// A store over these, which hears of changes of the names that key-value observing takes.
    func store(protection: DataProtection = .none, sizeLimit: UserDefaultsSizeLimit = .platform) -> PreferenceStore {
        PreferenceStore(
            SharedUserDefaults(object: self),
            protection: protection,
            sizeLimit: sizeLimit
        ) { [watch] _, deliver in watch.observer(deliver) }
    }
}

/// Who observes some defaults, and what became of them.
final class DefaultsWatch: Sendable {
    private struct State {
        var observers: [Weak] = []
        var writes: [String] = []
        var forced: Set<String> = []
        var onWrite: (@Sendable (String) -> Void)?
        var onChange: [@Sendable () -> Void] = []
    }

    private struct Weak {
        weak var observer: FakeObserver?
    }

    private let state = Lock(State())

    /// The names that were written, in order, by whomever.
    var writes: [String] { state.withLock { $0.writes } }
    var observerCount: Int { state.withLock { $0.observers.count { $0.observer != nil } } }

    func force(_ name: String) { state.withLock { _ = $0.forced.insert(name) } }
    func isForced(_ name: String) -> Bool { state.withLock { $0.forced.contains(name) } }

    /// Calls `body` in each write before it happens.
    func onWrite(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.onWrite = body } }

    /// Calls `body` after each write.
    func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onChange.append(body) } }

    func observer(_ deliver: @escaping @Sendable (String) -> Void) -> FakeObserver {
        let observer = FakeObserver(deliver)
        state.withLock { $0.observers.append(Weak(observer: observer)) }
        return observer
    }

    fileprivate func will(_ name: String) { state.withLock { $0.onWrite }?(name) }

    fileprivate func did(_ name: String) {
        let observers = state.withLock { state in
            state.writes.append(name)
            return state.observers.compactMap(\.observer)
        }
        for observer in observers { observer.deliver(name) }
        for body in state.withLock({ $0.onChange }) { body() }
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
    }
}

/// Delivers changes of the names that it was told to observe, and no others.
final class FakeObserver: UserDefaultsObserving {
    private let names = Lock<Set<String>>([])
    private let body: @Sendable (String) -> Void

    init(_ body: @escaping @Sendable (String) -> Void) {
        self.body = body
    }

    func observe(_ name: String) {
        precondition(SharedUserDefaults.canObserve(name))
        names.withLock { _ = $0.insert(name) }
    }

    func deliver(_ name: String) {
        if names.withLock({ $0.contains(name) }) { body(name) }
    }
}

/// What came, in order.
final class Log<Element: Sendable>: Sendable {
    private let entries = Lock<[Element]>([])

    var all: [Element] { entries.withLock { $0 } }

    func append(_ element: Element) { entries.withLock { $0.append(element) } }
}
