#if !canImport(Darwin) && STANDINS
internal import Foundation

extension NSNumber {
    /// What the number was made from: swift-corelibs-foundation encodes nothing but a boolean as a character.
    var storedKind: StoredNumberKind {
        let encoding = UInt8(bitPattern: objCType.pointee)
        return encoding == UInt8(ascii: "c") ? .boolean : StoredNumberKind(encoding: encoding)
    }
}
#endif
