// error: cannot convert value of type 'Int' to expected argument type 'String'
#if canImport(Darwin)
internal import Foundation

func remove(_ name: Int) { UserDefaults.standard.removeObject(forKey: name) }
#endif
