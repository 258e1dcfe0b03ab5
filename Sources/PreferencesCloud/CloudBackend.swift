#if canImport(Darwin) || STANDINS
internal import DurableFile
#if canImport(Darwin)
internal import Foundation
public import Preferences
#else
internal import Preferences
#endif

/// A backend over iCloud's key-value store: values are on this device at once, and on the user's other devices when the system
/// synchronizes them.
///
/// Unlike user defaults, that store calls no observer inside a set, so `apply` writes at once.
final class CloudBackend: PreferenceBackend {
    let plainTextPlace: String? = "iCloud"
    private let values: any CloudValues
    private let limits: CloudLimits
    private let state = Lock(State())

    private struct State {
        /// The host, once the values are loaded.
        var host: PreferenceBackendHost?
        var observation: (any AnyObject & Sendable)?
        /// The values as they were last read.
        private(set) var cached: [String: PropertyListValue] = [:]
        /// The approximate size of these values, in bytes.
        private var size = 0

        mutating func set(_ name: String, to value: PropertyListValue?) {
            size += growth(name, to: value)
            cached[name] = value
        }

        private func growth(_ name: String, to value: PropertyListValue?) -> Int {
            CachedDefaults.size(of: value, named: name) - CachedDefaults.size(of: cached[name], named: name)
        }

        var usage: CloudLimits.Usage { CloudLimits.Usage(nameCount: cached.count, size: size) }

        func usage(after changes: [String: PropertyListValue?]) -> CloudLimits.Usage {
            changes.reduce(into: usage) { usage, change in
                usage.nameCount += (change.value == nil ? 0 : 1) - (cached[change.key] == nil ? 0 : 1)
                usage.size += growth(change.key, to: change.value)
            }
        }
    }

    init(_ values: any CloudValues, limits: CloudLimits = CloudLimits()) {
        self.values = values
        self.limits = limits
    }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        let observation = values.observe { change in
            switch change {
            case .values: break
            case .quotaExceeded:
                host.report(
                    PreferenceError(
                        .tooLarge,
                        "iCloud did not store the values that were set, because its quota is used up; "
                            + "remove values, and set them again"
                    )
                )
            case .accountChanged:
                host.report(
                    PreferenceError(
                        .accountChanged,
                        "the iCloud account changed, and its values have replaced the other account's"
                    )
                )
            }
            host.changed()
        }
        state.withLock { $0.observation = observation }
        // Requests the cloud's values, which arrive as external changes; without an account there are only this device's.
        _ = values.synchronize()
        let contents = read(host)
        state.withLock { state in
            for (name, value) in contents { state.set(name, to: value) }
            state.host = host
        }
        return contents
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        // Not all names, so that a set costs the same however many there are: iCloud notifies of changes of the others.
        let names = condition.isComplete ? nil : Set(changes.keys).union(condition.values.keys)
        catchUp(names)
        let new = try state.withLock { state throws(PreferenceError) -> [String: PropertyListValue?]? in
            let known = names.map { $0.reduce(into: [String: PropertyListValue]()) { $0[$1] = state.cached[$1] } }
            guard condition.holds(for: known ?? state.cached) else { return nil }
            let new = changes.filter { state.cached[$0.key] != $0.value }
            try limits.check(new, from: state.usage, to: state.usage(after: new))
            return new
        }
        guard let new else { return PreferenceBackendCommit(isStored: false) }
        for (name, value) in new { values.set(value?.propertyList, for: name) }
        state.withLock { state in
            for (name, value) in new { state.set(name, to: value) }
            state.host?.noteApplied()
        }
        return PreferenceBackendCommit()
    }

    /// Writes to this device's disk; iCloud doesn't report when it has the values.
    func sync() throws(PreferenceError) {
        guard values.synchronize() else {
            throw PreferenceError(.notDurable, "iCloud's values could not be synchronized; is the app entitled to it?")
        }
    }

    /// Passes on the differences between the current values and those that were last read.
    func catchUp() { catchUp(nil) }

    /// Passes on the differences of some names, or of all.
    private func catchUp(_ names: Set<String>?) {
        let contents =
            names.map { names in
                names.reduce(into: [String: PropertyListValue]()) { contents, name in
                    contents[name] = values.object(for: name).flatMap { PropertyListValue(propertyList: $0) }
                }
            } ?? read(nil)
        state.withLock { state in
            guard let host = state.host else { return }
            var changes: [String: PropertyListValue?] = [:]
            for name in names ?? Set(contents.keys).union(state.cached.keys) {
                let (old, new) = (state.cached[name], contents[name])
                if let old, let new, new.isSame(as: old) { continue }
                guard old != new else { continue }
                state.set(name, to: new)
                changes.updateValue(new, forKey: name)
            }
            host.collect(changes)
        }
    }

    private func read(_ host: PreferenceBackendHost?) -> [String: PropertyListValue] {
        var contents: [String: PropertyListValue] = [:]
        for (name, object) in values.contents {
            contents[name] = PropertyListValue(propertyList: object)
            if contents[name] == nil {
                host?.report(
                    PreferenceError(
                        .unreadable,
                        name: name,
                        "iCloud holds a \(type(of: object)), which can't be decoded"
                    )
                )
            }
        }
        return contents
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// The limits of iCloud: "The total amount of space available in your app's key-value store, for a given user, is 1 MB. There is a
/// per-key value size limit of 1 MB, and a maximum of 1024 keys"; names have at most 64 bytes of UTF-8.
struct CloudLimits: Sendable {
    var nameSize = 64
    var nameCount = 1024
    var size = 1024 * 1024

    /// The number of names, and the approximate size of all values together, in bytes.
    struct Usage: Sendable {
        var nameCount = 0
        var size = 0
    }

    /// Throws if iCloud wouldn't accept `changes`, after which it has `after` in place of `before`.
    func check(
        _ changes: [String: PropertyListValue?],
        from before: Usage,
        to after: Usage
    ) throws(PreferenceError) {
        for (name, value) in changes where value != nil && name.utf8.count > nameSize {
            throw PreferenceError(
                .invalidName,
                name: name,
                "iCloud allows names of at most \(nameSize) bytes; nothing was changed. Use a shorter name"
            )
        }
        if after.nameCount > nameCount, after.nameCount > before.nameCount {
            throw PreferenceError(
                .tooLarge,
                "iCloud allows at most \(nameCount) names; nothing was changed. Keep related values in one dictionary"
            )
        }
        if after.size > size, after.size > before.size {
            throw PreferenceError(
                .tooLarge,
                "the values would take about \(after.size) bytes, but iCloud holds at most \(size); nothing was changed"
            )
        }
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// The operations of `NSUbiquitousKeyValueStore` that the backend uses.
protocol CloudValues: Sendable {
    /// All current values.
    var contents: [String: Any] { get }
    /// Returns the current value of one name.
    func object(for name: String) -> Any?
    /// Stores an object of a property list, or removes the name.
    func set(_ object: Any?, for name: String)
    /// Writes to the disk and requests the cloud's values; returns false if that isn't possible.
    func synchronize() -> Bool
    /// Reports external changes until the returned object is released.
    func observe(_ body: @escaping @Sendable (CloudChange) -> Void) -> any AnyObject & Sendable
}

/// The reason why the cloud's values changed.
enum CloudChange: Sendable, Hashable {
    /// Another device set values, or the first values arrived.
    case values
    /// The values that were set don't fit, so they aren't stored in the cloud.
    case quotaExceeded
    /// Another account's values replaced the current ones.
    case accountChanged
}
#endif

#if canImport(Darwin)
/// iCloud's key-value store of this app.
struct UbiquitousValues: CloudValues, @unchecked Sendable {  // the process has one such store, for all threads
    private let store = NSUbiquitousKeyValueStore.default

    var contents: [String: Any] { store.dictionaryRepresentation }

    func object(for name: String) -> Any? { store.object(forKey: name) }

    func set(_ object: Any?, for name: String) {
        if let object {
            store.set(object, forKey: name)
        } else {
            store.removeObject(forKey: name)
        }
    }

    func synchronize() -> Bool { store.synchronize() }

    func observe(_ body: @escaping @Sendable (CloudChange) -> Void) -> any AnyObject & Sendable {
        NotificationObserver(of: NSUbiquitousKeyValueStore.didChangeExternallyNotification) { notification in
            switch notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int {
            case NSUbiquitousKeyValueStoreQuotaViolationChange: body(.quotaExceeded)
            case NSUbiquitousKeyValueStoreAccountChange: body(.accountChanged)
            default: body(.values)
            }
        }
    }
}

extension PreferenceStore {
    /// Returns a store of the app's values in iCloud, which the user's other devices share.
    ///
    /// A set is on this device at once and reaches the other devices when the system synchronizes it. Changes by other devices
    /// arrive as external changes, as do the first values after an installation; if two devices set the same name, iCloud decides. It
    /// allows at most 1,024 names of up to 64 bytes, and 1 MB together; a set beyond that is rejected. If the quota of iCloud is
    /// exceeded, or the account changes, the issue handler is called. The app needs the key-value entitlement of iCloud. Inside
    /// `withIsolatedStores`, a store in memory replaces this one.
    public static func ubiquitous() -> PreferenceStore { cloud }

    private static let cloud: PreferenceStore = {
        let source = Source(CloudBackend(UbiquitousValues()))
        let store = PreferenceStore(.writable(source), replacement: .memory(isStandard: false))
        SharedStores.register(layered: store)
        return store
    }()
}
#endif
