#if canImport(SwiftUI)
internal import DurableFile
internal import Foundation

/// User defaults that show a store in memory, for `AppStorage` where that store replaces user defaults: in an app that hosts its own
/// tests, in isolated stores and in a program that is started isolated.
///
/// Reads and sets go to the store, whose changes are notified as those of user defaults are: to key-value observers, and by
/// `didChangeNotification`, as the change of a name with a dot isn't to these.
final class StoreDefaults: UserDefaults {
    private let source: Source
    private let store: PreferenceStore
    private var observation: PreferenceObservation?

    private struct Reference: @unchecked Sendable {  // of an object whose properties an initializer writes last
        weak var object: StoreDefaults?
    }

    private static let known = Lock<[ObjectIdentifier: Reference]>([:])

    /// Returns the user defaults over a source in memory: the same ones for as long as they are in use, as a view creates its wrapper at
    /// each evaluation.
    static func over(_ source: Source) -> StoreDefaults? {
        let id = ObjectIdentifier(source)
        // A source that was released may have had the same address.
        if let known = known.withLock({ $0[id] })?.object, known.source === source { return known }
        let new = StoreDefaults(source)
        let reference = Reference(object: new)
        known.withLock { known in
            known = known.filter { $0.value.object != nil }
            known[id] = reference
        }
        return new
    }

    private init?(_ source: Source) {
        self.source = source
        store = PreferenceStore(Layer(source: source))
        // A domain without values, for what isn't overridden below.
        super.init(suiteName: "swift-preferences.isolated")
        let reference = Reference(object: self)
        observation = store.subscribe { batch in
            guard let defaults = reference.object else { return }
            for name in PreferenceStoreChange(batch).names { defaults.notifyObservers(of: name) }
            NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: defaults)
        }
    }

    override func object(forKey name: String) -> Any? { store[name]?.propertyList }

    override func set(_ value: Any?, forKey name: String) {
        store[name] = value.flatMap { PropertyListValue(propertyList: $0) }
    }

    override func removeObject(forKey name: String) { store[name] = nil }
}

#if canImport(ObjectiveC)
extension StoreDefaults {
    fileprivate func notifyObservers(of name: String) {
        willChangeValue(forKey: name)
        didChangeValue(forKey: name)
    }
}
#else
extension StoreDefaults {
    /// Does nothing: there is no key-value observing.
    fileprivate func notifyObservers(of name: String) {}
}
#endif
#endif
