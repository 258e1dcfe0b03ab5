#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue {
    /// What a person may have meant by text that is given for a declared type, besides the text itself and JSON, which
    /// every coding reads: yes and no, and a date.
    static func readings(of text: String) -> [PropertyListValue] {
        switch text.lowercased() {
        case "yes", "on": return [.boolean(true)]
        case "no", "off": return [.boolean(false)]
        default: return DateText.seconds(of: text).map { [.date(Date(timeIntervalSinceReferenceDate: $0))] } ?? []
        }
    }
}
