extension Dictionary where Key == String {
    /// The entries, sorted by the bytes of their names.
    // Sorts indices, which need not be counted as references are: destroying another list of entries took as long as the sort.
    package var sortedByBytes: [(key: String, value: Value)] {
        var places: [Index] = []
        places.reserveCapacity(count)
        var place = startIndex
        while place != endIndex {
            places.append(place)
            formIndex(after: &place)
        }
        return SortKey.order(of: count) { keys[places[$0]] }.map { self[places[$0]] }
    }
}

extension Collection {
    /// Returns the elements, sorted by the bytes of a text of each.
    // One sort that isn't generic serves all: each type of element would compile its own.
    func sortedByBytes(_ text: (Element) -> String) -> [Element] {
        let elements = Array(self)
        return SortKey.order(of: elements.count) { text(elements[$0]) }.map { elements[$0] }
    }
}

extension Collection where Element == String {
    package var sortedByBytes: [String] { sortedByBytes { $0 } }
}

/// The sort key of a name, ordered by the bytes of its UTF-8.
///
/// A plain value over one buffer: comparing strings took most of the instructions of a transaction.
struct SortKey {
    /// The first sixteen bytes, without those that a shorter name lacks, as numbers with the same order.
    private let beginning: (UInt64, UInt64)
    private let start: Int
    private let count: Int

    /// Returns the indices of the names in their sorted order.
    static func order(of count: Int, _ name: (Int) -> String) -> [Int] {
        guard count > 1 else { return Array(0..<count) }
        // Only this loop is compiled for each closure.
        var (keys, text) = (reserved(count), [UInt8]())
        text.reserveCapacity(count * 24)
        for index in 0..<count { append(name(index), to: &keys, &text) }
        return order(of: keys, text)
    }

    @inline(never)
    private static func reserved(_ count: Int) -> [SortKey] {
        var keys: [SortKey] = []
        keys.reserveCapacity(count)
        return keys
    }

    @inline(never)
    private static func append(_ name: String, to keys: inout [SortKey], _ text: inout [UInt8]) {
        var name = name
        name.withUTF8 { bytes in
            keys.append(SortKey(UnsafeRawBufferPointer(bytes), at: text.count))
            text.append(contentsOf: bytes)
        }
    }

    @inline(never)
    private static func order(of keys: [SortKey], _ text: [UInt8]) -> [Int] {
        // Merges numbers: the sort of the standard library moves whole keys, in twice the instructions for a hundred names.
        let count = keys.count
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: 2 &* count) { numbers in
            for number in 0..<2 &* count { numbers.initializeElement(at: number, to: number) }
            var (sorted, merged) = (numbers.extracting(..<count), numbers.extracting(count...))
            var length = 1
            while length < count {
                var end = 0
                while end < count {
                    let (start, middle) = (end, Swift.min(end &+ length, count))
                    end = Swift.min(middle &+ length, count)
                    keys.merge(sorted, start..<middle, middle..<end, into: merged, text)
                }
                swap(&sorted, &merged)
                length &*= 2
            }
            return Array(sorted)
        }
    }

    private init(_ name: UnsafeRawBufferPointer, at start: Int) {
        self.start = start
        count = name.count
        beginning = (Self.word(name, at: 0), Self.word(name, at: 8))
    }

    /// Returns eight bytes as a number with the same order; zero in place of those beyond the end.
    private static func word(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
        if start &+ 8 <= bytes.count {
            return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        }
        var (word, index) = (UInt64(0), start)
        while index < bytes.count {
            word |= UInt64(bytes[index]) << UInt64(56 &- 8 &* (index &- start))
            index &+= 1
        }
        return word
    }

    fileprivate func precedes(_ other: SortKey, _ text: UnsafeRawBufferPointer) -> Bool {
        if beginning.0 != other.beginning.0 { return beginning.0 < other.beginning.0 }
        if beginning.1 != other.beginning.1 { return beginning.1 < other.beginning.1 }
        let end = Swift.min(count, other.count)
        var index = 16
        while index < end {
            let (byte, otherByte) = (text[start &+ index], text[other.start &+ index])
            if byte != otherByte { return byte < otherByte }
            index &+= 1
        }
        return count < other.count
    }
}

extension [SortKey] {
    /// Merges two sorted ranges of numbers of keys, which adjoin.
    @inline(__always)
    fileprivate func merge(
        _ sorted: UnsafeMutableBufferPointer<Int>,
        _ first: Range<Int>,
        _ second: Range<Int>,
        into merged: UnsafeMutableBufferPointer<Int>,
        _ text: [UInt8]
    ) {
        text.withUnsafeBytes { text in
            withUnsafeBufferPointer { keys in
                var (left, right) = (first.lowerBound, second.lowerBound)
                for place in first.lowerBound..<second.upperBound {
                    let isRight =
                        left == first.upperBound
                        || right < second.upperBound && keys[sorted[right]].precedes(keys[sorted[left]], text)
                    merged[place] = sorted[isRight ? right : left]
                    if isRight { right &+= 1 } else { left &+= 1 }
                }
            }
        }
    }
}
