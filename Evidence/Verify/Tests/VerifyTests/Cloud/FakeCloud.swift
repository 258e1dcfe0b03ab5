import Foundation

@testable import Preferences
@testable import PreferencesCloud

/// A fake of a device's copy of the cloud's values, like `NSUbiquitousKeyValueStore`.
final class FakeCloud: CloudValues {
    private struct State {
        var contents: [String: PropertyListValue] = [:]
        var sets: [String] = []
        var observers: [Weak] = []
        var synchronizeCount = 0
        var copyCount = 0
        var isEntitled = true
    }

    private struct Weak {
        weak var observer: Observer?
    }

    private final class Observer: Sendable {
        let body: @Sendable (CloudChange) -> Void
        init(_ body: @escaping @Sendable (CloudChange) -> Void) { self.body = body }
    }

    private let state = Lock(State())

    init(_ contents: [String: PropertyListValue] = [:]) {
        state.withLock { $0.contents = contents }
    }

    var contents: [String: Any] {
        state.withLock { state in
            state.copyCount += 1
            return state.contents.mapValues { value in Shown(value.propertyList) }
        }.mapValues(\.object)
    }

    func object(for name: String) -> Any? {
        state.withLock { $0.contents[name].map { Shown($0.propertyList) } }?.object
    }

    /// The number of times that all values were copied.
    var copyCount: Int { state.withLock { $0.copyCount } }
    var stored: [String: PropertyListValue] { state.withLock { $0.contents } }
    var sets: [String] { state.withLock { $0.sets } }
    var synchronizeCount: Int { state.withLock { $0.synchronizeCount } }
    var observerCount: Int { state.withLock { $0.observers.count { $0.observer != nil } } }

    /// An object that is passed through a lock.
    private struct Shown: @unchecked Sendable {
        let object: Any
        init(_ object: Any) { self.object = object }
    }

    func set(_ object: Any?, for name: String) {
        let value = object.flatMap { PropertyListValue(propertyList: $0) }
        state.withLock { state in
            state.contents[name] = value
            state.sets.append(name)
        }
    }

    func synchronize() -> Bool {
        state.withLock { state in
            state.synchronizeCount += 1
            return state.isEntitled
        }
    }

    func observe(_ body: @escaping @Sendable (CloudChange) -> Void) -> any AnyObject & Sendable {
        let observer = Observer(body)
        state.withLock { $0.observers.append(Weak(observer: observer)) }
        return observer
    }

    /// A change that comes from another device, or of another account.
    func receive(_ changes: [String: PropertyListValue?], _ change: CloudChange = .values) {
        let observers = state.withLock { state in
            for (name, value) in changes { state.contents[name] = value }
            return state.observers.compactMap(\.observer)
        }
        for observer in observers { observer.body(change) }
    }

    func removeEntitlement() { state.withLock { $0.isEntitled = false } }
}
