#if !canImport(Darwin) && !STANDINS
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension URL {
    /// No other way to keep a URL is known here.
    init?(fromUserDefaults stored: PropertyListValue) throws { return nil }
}
#endif
