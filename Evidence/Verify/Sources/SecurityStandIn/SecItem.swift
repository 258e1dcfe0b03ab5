public import Foundation

// The part of the Security framework that `PreferencesKeyring` uses, over keychains in memory that keep the rules of Apple's
// documentation and source (github.com/apple-oss-distributions/Security, keychain/securityd): a mock of the data protection keychain.

public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecUserCanceled: OSStatus = -128
public let errSecMissingEntitlement: OSStatus = -34018
public let errSecNotAvailable: OSStatus = -25291
public let errSecAuthFailed: OSStatus = -25293
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecInteractionNotAllowed: OSStatus = -25308

public nonisolated(unsafe) let kSecClass: CFString = "class"
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"
public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    MockKeychain.call(.copyMatching, query) { (keychain, request) in
        keychain.copyMatching(request)
    } found: {
        result?.pointee = $0
    }
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    MockKeychain.call(.add, attributes) { (keychain, request) in (keychain.add(request), nil) }
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    MockKeychain.call(.update, query, attributesToUpdate) { (keychain, request) in (keychain.update(request), nil) }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    MockKeychain.call(.delete, query) { (keychain, request) in (keychain.delete(request), nil) }
}

public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    status == errSecNotAvailable ? "No keychain is available. You may need to restart your computer." : nil
}
