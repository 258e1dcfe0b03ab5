import Foundation
@_spi(Tool) import Preferences

/// Reads a property list from standard input and writes it as a line of a preferences file; part of `prefs import`.
///
/// Ends with 1 and a reason on standard output where the list can't be read; where it is damaged, perhaps by a signal.
@main
enum ParsePropertyList {
    static func main() {
        // A crash is an answer here, and should leave no file behind.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // A list of some bytes may refer to itself, so that it has no end or exponentially many parts.
        var time = rlimit(rlim_cur: 10, rlim_max: 10)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &time)
        var memory = rlimit(rlim_cur: 2 << 30, rlim_max: 2 << 30)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory)
        do {
            let data = try FileHandle.standardInput.readToEnd() ?? Data()
            let list = try PropertyListSerialization.propertyList(from: data, format: nil)
            guard case .dictionary(let contents) = try value(of: list, at: []) else {
                throw Unreadable(reason: "its root is no dictionary of names")
            }
            try FileHandle.standardOutput.write(contentsOf: PreferenceText.line(contents.mapValues { $0 }))
        } catch {
            let reason = (error as? Unreadable)?.reason ?? (error as? PreferencesError)?.description
            print(reason ?? (error as NSError).userInfo[NSDebugDescriptionErrorKey] ?? error, terminator: "")
            exit(1)
        }
    }

    private struct Unreadable: Error {
        let reason: String
    }

    private static func value(of object: Any, at path: [String]) throws -> PropertyListValue {
        switch object {
        case let text as String: return .string(text)
        case let data as Data: return .data(data)
        case let date as Date: return .date(date)
        case let elements as [Any]: return .array(try elements.map { try value(of: $0, at: path + ["[]"]) })
        case let members as [String: Any]:
            let pairs = try members.map { ($0, try value(of: $1, at: path + [$0])) }
            return .dictionary(Dictionary(uniqueKeysWithValues: pairs))
        case let number as NSNumber:
            switch number.objCType.pointee {
            case CChar(UInt8(ascii: "c")), CChar(UInt8(ascii: "B")): return .boolean(number.boolValue)
            case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return .real(number.doubleValue)
            case CChar(UInt8(ascii: "Q")) where number.uint64Value > Int64.max: return .unsigned(number.uint64Value)
            default: return .integer(number.int64Value)
            }
        default:
            throw Unreadable(
                reason: "\(path.joined(separator: ".")) is a \(type(of: object)), which no preference can hold"
            )
        }
    }
}
