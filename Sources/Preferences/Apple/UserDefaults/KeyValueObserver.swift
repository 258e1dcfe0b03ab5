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
