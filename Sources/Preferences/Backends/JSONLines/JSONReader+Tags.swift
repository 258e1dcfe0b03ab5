#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension JSONReader {
    /// The value of a tagged object, from behind the tag's colon to behind the object.
    @inline(never)
    mutating func taggedValue(_ tag: String, isFirst: Bool, start: Int) throws(JSONLineError) -> PropertyListValue {
        guard isFirst else { throw damaged("a tag stands beside other keys", at: start) }
        let value =
            switch tag {
            case "$data": try taggedData()
            case "$real": try taggedReal()
            case "$date": try taggedDate()
            default: throw damaged("a key with a single $ is not a known tag", at: start)
            }
        try expectEndOfTag()
        return value
    }

    private mutating func taggedData() throws(JSONLineError) -> PropertyListValue {
        if let data = unescapedData() { return .data(data) }
        let (content, start) = try taggedContent()
        guard case .string(var text) = content,
            let data = text.withUTF8({ Base64.data(of: UnsafeRawBufferPointer($0)) })
        else {
            throw damaged("the data is not base64", at: start)
        }
        return .data(data)
    }

    /// What nearly all data is; nil, and nothing is read, where it is something else or damaged.
    private mutating func unescapedData() -> Data? {
        skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { return nil }
        let end = bytes.firstIndexToEscape(from: offset + 1)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\""),
            let data = Base64.data(of: UnsafeRawBufferPointer(rebasing: bytes[offset + 1..<end]))
        else { return nil }
        offset = end + 1
        return data
    }

    private mutating func taggedReal() throws(JSONLineError) -> PropertyListValue {
        let (content, start) = try taggedContent()
        guard case .string(let text) = content, let word = NonfiniteWord(rawValue: text) else {
            throw damaged("the real is none of nan, inf and -inf", at: start)
        }
        return .real(word.value)
    }

    private mutating func taggedDate() throws(JSONLineError) -> PropertyListValue {
        let (content, start) = try taggedContent()
        let seconds: Double? =
            switch content {
            case .string(let text): NonfiniteWord(rawValue: text)?.value ?? DateText.seconds(of: text)
            case .integer(let seconds): Double(seconds)
            case .unsigned(let seconds): Double(seconds)
            case .real(let seconds): seconds
            default: nil
            }
        guard let seconds else { throw damaged("the date is not one of the calendar", at: start) }
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    private mutating func taggedContent() throws(JSONLineError) -> (value: PropertyListValue, start: Int) {
        skipSpace()
        let start = offset
        // Tags don't count as levels, so a tag in a tag would nest without end.
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "{") || bytes[offset] == UInt8(ascii: "[") {
            throw damaged("a tag holds an array or an object", at: start)
        }
        return (try value(nesting: 0), start)
    }
}
