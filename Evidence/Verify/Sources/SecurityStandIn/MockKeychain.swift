public import Foundation
internal import Synchronization

/// A mock of the data protection keychain of a device, as one program sees it.
///
/// Each service has a separate keychain, so that tests with different services don't affect each other.
public struct MockKeychain: Sendable {
    public struct Item: Sendable, Hashable {
        public var account: String
        public var accessGroup: String
        public var isSynchronizable: Bool
        public var accessible: String
        public var data: Data
        public var modificationDate: Date
    }

    public enum Lock: Sendable {
        case unlocked, locked
        /// Whether the device was unlocked since its restart.
        case beforeFirstUnlock
    }

    public enum Function: Sendable, Hashable { case copyMatching, add, update, delete }

    public var items: [Item] = []
    public var lock = Lock.unlocked
    /// Whether a search finds nothing before the first unlock, as it does in a program that the system starts early, instead of failing.
    public var hidesItems = false
    public var hasPasscode = true
    /// The access groups by the program's entitlements; new items get the first one.
    public var accessGroups = ["team.program", "team.shared"]
    /// The statuses of the next calls of a function; these calls have no effect.
    public var failures: [Function: [OSStatus]] = [:]
    /// Runs before each call, outside the keychain's lock, like another process that uses the keychain.
    public var beforeCall: (@Sendable (Function) -> Void)?
    /// The functions that were called.
    public var calls: [Function] = []
    /// The number of items that were modified.
    private var time = 0

    private static let services = Mutex<[String: MockKeychain]>([:])

    /// Reads or changes the keychain of a service.
    public static func of<Result: Sendable>(
        _ service: String,
        _ body: (inout MockKeychain) -> Result
    ) -> Result {
        services.withLock { services in body(&services[service, default: MockKeychain()]) }
    }

    static func call(
        _ function: Function,
        _ query: NSDictionary,
        _ values: NSDictionary = [:],
        _ body: (inout MockKeychain, Request) -> (OSStatus, Answer?),
        found: (AnyObject) -> Void = { _ in }
    ) -> OSStatus {
        guard let request = Request(function, query, values), let service = request.service else { return errSecParam }
        let beforeCall = of(service) { $0.beforeCall }
        beforeCall?(function)
        let (status, answer): (OSStatus, Answer?) = of(service) { keychain in
            keychain.calls.append(function)
            if let status = keychain.failures[function]?.first {
                keychain.failures[function]?.removeFirst()
                return (status, nil)
            }
            // securityd rejects a program without any group, and a query with another program's group.
            guard let first = keychain.accessGroups.first else { return (errSecMissingEntitlement, nil) }
            if !keychain.accessGroups.contains(request.accessGroup ?? first) { return (errSecMissingEntitlement, nil) }
            return body(&keychain, request)
        }
        if let object = answer?.object { found(object) }
        return status
    }

    /// Adds an item as another program would.
    public mutating func insert(
        _ account: String,
        _ text: String,
        accessGroup: String = "team.program",
        isSynchronizable: Bool = false,
        accessible: String = "ck"
    ) {
        time += 1
        items.append(
            Item(
                account: account,
                accessGroup: accessGroup,
                isSynchronizable: isSynchronizable,
                accessible: accessible,
                data: Data(text.utf8),
                modificationDate: Date(timeIntervalSinceReferenceDate: Double(time))
            )
        )
    }
}

/// The result of a search, in the form in which it is returned.
enum Answer: Sendable {
    case attributes([MockKeychain.Item])
    case data(Data)

    var object: AnyObject {
        switch self {
        case .attributes(let items):
            let found = items.map { item in
                let attributes = NSMutableDictionary()
                attributes[kSecAttrAccount] = item.account
                attributes[kSecAttrAccessGroup] = item.accessGroup
                attributes[kSecAttrModificationDate] = item.modificationDate
                return attributes
            }
            return NSArray(array: found)
        case .data(let data): return NSData(data: data)
        }
    }
}

/// The dictionaries of a call, whose keys must be those that the function accepts.
struct Request: Sendable {
    var service: String?
    var account: String?
    var accessGroup: String?
    var isSynchronizable = false
    var returnsAttributes = false
    var returnsData = false
    var isUnlimited = false
    var data: Data?
    var accessible: String?

    init?(_ function: MockKeychain.Function, _ query: NSDictionary, _ values: NSDictionary) {
        let keys: [CFString] = [
            kSecClass, kSecUseDataProtectionKeychain, kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup,
            kSecAttrSynchronizable,
        ]
        let more: [CFString] =
            switch function {
            // SecItemUpdate accepts no match keys: errSecItemMatchUnsupported.
            case .update, .delete: []
            case .add: [kSecValueData, kSecAttrAccessible]
            case .copyMatching: [kSecMatchLimit, kSecReturnAttributes, kSecReturnData]
            }
        let allowed = Set((keys + more).map { "\($0)" })
        guard query.allKeys.allSatisfy({ allowed.contains("\($0)") }) else { return nil }
        // "Only real keychain attributes are permitted in this dictionary".
        guard values.allKeys.allSatisfy({ ["v_Data", "pdmn"].contains("\($0)") }) else { return nil }
        // Any other item would be in the file-based keychain on macOS.
        guard query[kSecClass] as? String == "genp", query[kSecUseDataProtectionKeychain] as? Bool == true else {
            return nil
        }
        service = query[kSecAttrService] as? String
        account = query[kSecAttrAccount] as? String
        accessGroup = query[kSecAttrAccessGroup] as? String
        isSynchronizable = query[kSecAttrSynchronizable] as? Bool ?? false
        isUnlimited = query[kSecMatchLimit] as? String == "m_LimitAll"
        returnsAttributes = query[kSecReturnAttributes] as? Bool ?? false
        returnsData = query[kSecReturnData] as? Bool ?? false
        data = (function == .add ? query : values)[kSecValueData] as? Data
        accessible = (function == .add ? query : values)[kSecAttrAccessible] as? String
    }
}

extension MockKeychain {
    func copyMatching(_ request: Request) -> (OSStatus, Answer?) {
        // "You can't combine the kSecReturnData and kSecMatchLimitAll options when copying password items". The library doesn't use
        // other forms of results.
        guard request.returnsAttributes != request.returnsData, request.isUnlimited == request.returnsAttributes else {
            return (errSecParam, nil)
        }
        let found = items.filter { matches($0, request) }
        let isHidden = hidesItems && lock == .beforeFirstUnlock
        guard !isHidden, let first = found.first else { return (errSecItemNotFound, nil) }
        // Attributes are encrypted with a key that is available from the first unlock on, whatever the item's accessibility is.
        if request.returnsAttributes {
            return lock == .beforeFirstUnlock
                ? (errSecInteractionNotAllowed, nil) : (errSecSuccess, .attributes(found))
        }
        return isReadable(first.accessible) ? (errSecSuccess, .data(first.data)) : (errSecInteractionNotAllowed, nil)
    }

    mutating func add(_ request: Request) -> OSStatus {
        guard let account = request.account, let data = request.data, let accessible = request.accessible,
            let group = request.accessGroup ?? accessGroups.first
        else { return errSecParam }
        // A synchronizable item can't have an accessibility "that is incompatible with syncing".
        if request.isSynchronizable, accessible.hasSuffix("u") { return errSecParam }
        if accessible == "akpu", !hasPasscode { return errSecAuthFailed }
        guard isReadable(accessible) else { return errSecInteractionNotAllowed }
        let hasItem = items.contains {
            $0.account == account && $0.accessGroup == group && $0.isSynchronizable == request.isSynchronizable
        }
        guard !hasItem else { return errSecDuplicateItem }
        insert(account, "", accessGroup: group, isSynchronizable: request.isSynchronizable, accessible: accessible)
        items[items.count - 1].data = data
        return errSecSuccess
    }

    mutating func update(_ request: Request) -> OSStatus {
        let found = items.indices.filter { matches(items[$0], request) }
        guard !found.isEmpty else { return errSecItemNotFound }
        if request.accessible == "akpu", !hasPasscode { return errSecAuthFailed }
        let accessibles = found.map { items[$0].accessible } + [request.accessible].compactMap { $0 }
        guard accessibles.allSatisfy(isReadable) else { return errSecInteractionNotAllowed }
        for index in found {
            time += 1
            items[index].data = request.data ?? items[index].data
            items[index].accessible = request.accessible ?? items[index].accessible
            items[index].modificationDate = Date(timeIntervalSinceReferenceDate: Double(time))
        }
        return errSecSuccess
    }

    mutating func delete(_ request: Request) -> OSStatus {
        let kept = items.filter { !matches($0, request) }
        defer { items = kept }
        return items.count == kept.count ? errSecItemNotFound : errSecSuccess
    }

    /// Returns whether a query finds an item: without a group those of all the program's groups, and without `kSecAttrSynchronizable`
    /// none that is synchronizable.
    private func matches(_ item: Item, _ request: Request) -> Bool {
        item.account == request.account ?? item.account
            && item.accessGroup == request.accessGroup ?? item.accessGroup
            && accessGroups.contains(item.accessGroup)
            && item.isSynchronizable == request.isSynchronizable
    }

    private func isReadable(_ accessible: String) -> Bool {
        switch lock {
        case .unlocked: true
        case .locked: accessible.hasPrefix("c")
        case .beforeFirstUnlock: false
        }
    }
}
