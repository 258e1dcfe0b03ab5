#if canImport(Darwin)
internal import CoreFoundation
internal import Foundation

extension NSNumber {
    /// What the number was made from: on Apple platforms a boolean is an object of its own, whatever its encoding says.
    var storedKind: StoredNumberKind {
        guard CFGetTypeID(self) != CFBooleanGetTypeID() else { return .boolean }
        return StoredNumberKind(encoding: UInt8(bitPattern: objCType.pointee))
    }
}
#endif
