/// The size of a binary property list in which each reference to an object is replaced by the object.
///
/// A small list may refer to one object very often, at many levels: Foundation, which replaces the references, would take all memory.
struct BinaryPropertyList {
    /// The largest size in bytes of a list that is read, that of the longest line of a preferences file.
    static let largest = 64 << 20
    private static let deepest = 512

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    private let top: Int
    private var sizes: [Int: Int] = [:]

    /// Creates the list of some bytes; `nil` if they have another format, or no valid table of objects, which the parser rejects.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: "bplist0".utf8), bytes.count >= 40 else { return nil }
        let trailer = Array(bytes.suffix(32))
        let (offsetSize, count) = (Int(trailer[6]), Self.number(trailer[8..<16]))
        let (top, table) = (Self.number(trailer[16..<24]), Self.number(trailer[24..<32]))
        referenceSize = Int(trailer[7])
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, let count, let top, let table, count <= bytes.count,
            top < count,
            table <= bytes.count - 32, count <= (bytes.count - 32 - table) / offsetSize
        else { return nil }
        var offsets: [Int] = []
        for index in 0..<count {
            let start = table + index * offsetSize
            guard let offset = Self.number(bytes[start..<start + offsetSize]), offset < table else { return nil }
            offsets.append(offset)
        }
        (self.bytes, self.offsets, self.top) = (bytes, offsets, top)
    }

    /// Whether the list is larger than any that can be stored, or has no end.
    mutating func isTooLarge() -> Bool { size(of: top, depth: 0) > Self.largest }

    private mutating func size(of object: Int, depth: Int) -> Int {
        if let size = sizes[object] { return size }
        guard object < offsets.count, depth < Self.deepest else { return Self.largest + 1 }
        // An object that contains itself has no end.
        sizes[object] = Self.largest + 1
        var size = 1
        let marker = bytes[offsets[object]]
        if let (count, start) = count(at: offsets[object]) {
            switch marker >> 4 {
            case 0x4, 0x5: size += count
            case 0x6: size += count * 2
            case 0xA, 0xC, 0xD:
                let references = marker >> 4 == 0xD ? count * 2 : count
                for index in 0..<references where size <= Self.largest {
                    let place = start + index * referenceSize
                    guard place + referenceSize <= bytes.count,
                        let reference = Self.number(bytes[place..<place + referenceSize])
                    else { break }
                    size += self.size(of: reference, depth: depth + 1)
                }
            default: break
            }
        }
        sizes[object] = size
        return size
    }

    /// Returns the number of elements or bytes of the object at an offset, and where they begin.
    private func count(at offset: Int) -> (count: Int, start: Int)? {
        let low = bytes[offset] & 0xF
        if low < 0xF { return (Int(low), offset + 1) }
        guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { return nil }
        let start = offset + 2
        let length = 1 << Int(bytes[offset + 1] & 0xF)
        guard length <= 8, start + length <= bytes.count, let count = Self.number(bytes[start..<start + length]),
            count <= bytes.count
        else { return nil }
        return (count, start + length)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
