#if canImport(Darwin) || STANDINS
#if canImport(Darwin)
internal import Foundation
public import Preferences
#else
internal import Preferences
#endif

/// A backend over iCloud's key-value store: values are on this device at once, and on the user's other devices when the system
/// synchronizes them.
///
/// Unlike user defaults, that store calls no observer inside a set or a read, so it is used in a turn.
final class CloudBackend: Backend, @unchecked Sendable {  // used within a turn, except `values`
    let place = "iCloud"
    let plainTextPlace: String? = "iCloud"
    let saysWhenItWaits = true
    private let values: any CloudValues
    private let limits: CloudLimits
    private var observation: (any AnyObject & Sendable)?
    /// The values as they were last read, and their approximate size in bytes.
    private var known: [String: PropertyListValue] = [:]
    private var size = 0
    /// The names of objects that a preference can't hold.
    private var invalid: [String: PreferenceError] = [:]

    init(_ values: any CloudValues, limits: CloudLimits = CloudLimits()) {
        (self.values, self.limits) = (values, limits)
    }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        observation = values.observe { change in
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
            host.changedNow()
        }
        // Requests the cloud's values, which arrive as external changes; without an account there are only this device's.
        _ = values.synchronize()
        return differences()
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        let changes = differences()
        return changes.isEmpty ? .none : .changes([changes])
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        var changes = try body(.none)
        // Not all names, so that a set costs the same however many there are: iCloud notifies of changes of the others.
        while case let others = differences(changes.map(\.name)), !others.isEmpty {
            changes = try body(.changes([others]))
        }
        try limits.check(changes, from: usage, to: usage(after: changes))
        for change in changes {
            values.set(change.value?.propertyList, for: change.name)
            note(change)
        }
    }

    /// Writes to this device's disk; iCloud doesn't report when it has the values.
    func sync(until deadline: PreferenceDeadline) throws(PreferenceError) {
        guard values.synchronize() else {
            throw PreferenceError(.notDurable, "iCloud's values could not be synchronized; is the app entitled to it?")
        }
    }

    // MARK: What is known

    /// Returns how the current values of some names, or of all, differ from those that were last read.
    private func differences(_ names: [String]? = nil) -> [StoredChange] {
        let contents = names == nil ? values.contents : [:]
        var changes: [StoredChange] = []
        for name in names.map(Set.init) ?? Set(contents.keys).union(known.keys) {
            let object = names == nil ? contents[name] : values.object(for: name)
            let new = object.flatMap(PropertyListValue.init(propertyList:))
            invalid[name] = new == nil ? object.map { error(of: $0, name) } : nil
            // The kind of a number may change; the declared type decides that, so it isn't a change.
            if let new, let old = known[name], new.isSame(as: old) { continue }
            guard new != known[name] else { continue }
            changes.append(StoredChange(name, new))
        }
        for change in changes { note(change) }
        return changes
    }

    var problems: [PreferenceError] { Array(invalid.values) }

    private func error(of object: Any, _ name: String) -> PreferenceError {
        PreferenceError(.unreadable, name: name, "iCloud holds a \(type(of: object)), which can't be decoded")
    }

    private func note(_ change: StoredChange) {
        size += growth(change)
        known[change.name] = change.value
    }

    private func growth(_ change: StoredChange) -> Int {
        CachedDefaults.size(of: change.value, named: change.name)
            - CachedDefaults.size(of: known[change.name], named: change.name)
    }

    private var usage: CloudLimits.Usage { CloudLimits.Usage(nameCount: known.count, size: size) }

    private func usage(after changes: [StoredChange]) -> CloudLimits.Usage {
        changes.reduce(into: usage) { usage, change in
            usage.nameCount += (change.value == nil ? 0 : 1) - (known[change.name] == nil ? 0 : 1)
            usage.size += growth(change)
        }
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
        _ changes: [StoredChange],
        from before: Usage,
        to after: Usage
    ) throws(PreferenceError) {
        for change in changes where change.value != nil && change.name.utf8.count > nameSize {
            throw PreferenceError(
                .invalidName,
                name: change.name,
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
        let layer = Layer(source: Source(CloudBackend(UbiquitousValues())))
        return PreferenceStore(layer, replacement: .memory(isStandard: false))
    }()
}
#endif
