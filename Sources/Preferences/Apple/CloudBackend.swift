#if canImport(Darwin) || STANDINS
internal import DurableFile
#if canImport(Darwin)
internal import Foundation
#endif

/// Keeps values in iCloud's key-value store: on this device at once, on the user's others when the system sees fit.
///
/// The store there calls nobody inside a set, unlike user defaults, so `apply` writes at once.
final class CloudBackend: PreferenceBackend, PlainTextBackend {
    let place = "iCloud"
    private let values: any CloudValues
    private let limits: CloudLimits
    private let state = Lock(State())

    private struct State {
        var observation: (any AnyObject & Sendable)?
        /// What the store knows.
        var known: [String: PropertyListValue] = [:]
        /// Outside changes that the store was not told of yet.
        var untold: [String: PropertyListValue?] = [:]
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
                    PreferencesError(
                        .tooLarge,
                        "iCloud did not take what was set, because its room is used up; remove values, and set it again"
                    )
                )
            case .accountChanged:
                host.report(
                    PreferencesError(
                        .accountChanged,
                        "the iCloud account changed, and its values have taken the place of the other account's"
                    )
                )
            }
            host.changed()
        }
        state.withLock { $0.observation = observation }
        // Asks for the cloud's values, which come as outside changes; without an account there are only this device's.
        _ = values.synchronize()
        let contents = read(host)
        state.withLock { $0.known = contents }
        return contents
    }

    func refresh() -> [String: PropertyListValue?] {
        compare()
        return state.withLock { exchange(&$0.untold, with: [:]) }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        compare()
        let known = state.withLock { $0.known }
        let isStored = condition.holds(for: known)
        if isStored {
            let changes = changes.filter { known[$0.key] != $0.value }
            var contents = known
            for (name, value) in changes { contents[name] = value }
            try limits.check(changes, making: contents, of: known)
            for (name, value) in changes { values.set(value?.propertyList, for: name) }
            state.withLock { [contents] in $0.known = contents }
        }
        return PreferenceBackendCommit(outside: state.withLock { exchange(&$0.untold, with: [:]) }, isStored: isStored)
    }

    /// Writes to this device's disk; when the cloud has it nobody is told.
    func sync() throws(PreferencesError) {
        guard values.synchronize() else {
            throw PreferencesError(.notDurable, "iCloud's values could not be synchronized; is the app entitled to it?")
        }
    }

    /// Notes how what is there differs from what the store knows.
    private func compare() {
        let contents = read(nil)
        state.withLock { state in
            for name in Set(contents.keys).union(state.known.keys) {
                let (old, new) = (state.known[name], contents[name])
                if let old, let new, new.isSame(as: old) { continue }
                guard old != new else { continue }
                state.known[name] = new
                state.untold.updateValue(new, forKey: name)
            }
        }
    }

    private func read(_ host: PreferenceBackendHost?) -> [String: PropertyListValue] {
        var contents: [String: PropertyListValue] = [:]
        for (name, object) in values.contents {
            contents[name] = PropertyListValue(propertyList: object)
            if contents[name] == nil {
                host?.report(
                    PreferencesError(.unreadable, name: name, "iCloud holds a \(type(of: object)), which is no value")
                )
            }
        }
        return contents
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// "The total amount of space available in your app's key-value store, for a given user, is 1 MB. There is a per-key value
/// size limit of 1 MB, and a maximum of 1024 keys"; names have 64 bytes of UTF-8 at most.
struct CloudLimits: Sendable {
    var nameSize = 64
    var nameCount = 1024
    var size = 1024 * 1024

    /// Throws where the cloud would not take `changes`, which make `contents` of what was there.
    func check(
        _ changes: [String: PropertyListValue?],
        making contents: [String: PropertyListValue],
        of before: [String: PropertyListValue]
    ) throws(PreferencesError) {
        for (name, value) in changes where value != nil && name.utf8.count > nameSize {
            throw PreferencesError(
                .invalidName,
                name: name,
                "iCloud takes names of at most \(nameSize) bytes; nothing was changed. Use a shorter name"
            )
        }
        if contents.count > nameCount, contents.count > before.count {
            throw PreferencesError(
                .tooLarge,
                "iCloud takes \(nameCount) names at most; nothing was changed. Keep related values in one dictionary"
            )
        }
        let total = Self.size(of: contents)
        if total > size, total > Self.size(of: before) {
            throw PreferencesError(
                .tooLarge,
                "the values would take about \(total) bytes, and iCloud takes \(size); nothing was changed"
            )
        }
    }

    /// About how large values are together, in bytes.
    private static func size(of contents: [String: PropertyListValue]) -> Int {
        PropertyListValue.dictionary(contents).approximateSize
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// What the cloud backend needs of `NSUbiquitousKeyValueStore`.
protocol CloudValues: Sendable {
    /// Everything that is there just now.
    var contents: [String: Any] { get }
    /// Stores an object of a property list, or removes the name.
    func set(_ object: Any?, for name: String)
    /// Writes to the disk and asks for what the cloud has; false where that can't be.
    func synchronize() -> Bool
    /// Tells of changes that others made, until what is returned is released.
    func observe(_ body: @escaping @Sendable (CloudChange) -> Void) -> any AnyObject & Sendable
}

/// Why the cloud's values changed.
enum CloudChange: Sendable, Hashable {
    /// Another device set values, or the first values arrived.
    case values
    /// What was set does not fit, so it is not stored in the cloud.
    case quotaExceeded
    /// Another account's values have taken the place of these.
    case accountChanged
}
#endif

#if canImport(Darwin)
/// iCloud's key-value store of this app.
struct UbiquitousValues: CloudValues, @unchecked Sendable {  // the store there is one for all threads
    private let store = NSUbiquitousKeyValueStore.default

    var contents: [String: Any] { store.dictionaryRepresentation }

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
    /// The app's values in iCloud, which the user's other devices show too.
    ///
    /// A set is on this device at once and reaches the others when the system sees fit. Theirs come as changes from
    /// outside, also the first ones after an installation; where two set one name the cloud decides. At most 1,024
    /// names of up to 64 bytes, and 1 MB together: what is more is refused. Where the cloud has no room, or the account
    /// changes, the issue handler is told. The app needs the key-value entitlement of iCloud. Inside
    /// `withIsolatedStores` a store in memory takes its place.
    public static func ubiquitous() -> PreferenceStore { cloud }

    private static let cloud: PreferenceStore = {
        let source = Source(CloudBackend(UbiquitousValues()))
        let store = PreferenceStore(Layer(source: source), replacement: .memory(isStandard: false))
        SharedStores.register(layered: store)
        return store
    }()
}
#endif
