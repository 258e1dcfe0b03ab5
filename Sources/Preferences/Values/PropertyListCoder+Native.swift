#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Chains of comparisons of two addresses each; a cast would look conformances up for every member. Of the methods that
// containers must have for each scalar the compiler makes one line.
extension PropertyListCoder {
    /// The stored value of a type that is stored otherwise than its `encode(to:)` says, or nil.
    @inline(__always)
    static func nativeValue<Value>(of value: Value) -> PropertyListValue? {
        if let value = reinterpreted(value, as: String.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Int.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Bool.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Double.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Date.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Data.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Float.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Int8.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Int16.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Int32.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Int64.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UInt.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UInt8.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UInt16.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UInt32.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UInt64.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Int128.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UInt128.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: URL.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: UUID.self) { return value.storedValue() }
        if let value = reinterpreted(value, as: Decimal.self) { return value.storedValue() }
        return nil
    }

    /// The value of a type that is stored otherwise than its `init(from:)` says, else what `other` makes.
    ///
    /// A closure in place of an optional result, because the optional of a type is looked up at each use.
    @inline(__always)
    static func value<Value>(_ type: Value.Type, of stored: PropertyListValue, else other: () throws -> Value) throws
        -> Value
    {
        @inline(__always)
        func read<Native: PreferenceValue>(_ native: Native.Type) throws -> Value {
            // Safe, because each call stands behind the comparison of the two types.
            unsafeBitCast(try Native(storedValue: stored), to: type)
        }
        if type == String.self { return try read(String.self) }
        if type == Int.self { return try read(Int.self) }
        if type == Bool.self { return try read(Bool.self) }
        if type == Double.self { return try read(Double.self) }
        if type == Date.self { return try read(Date.self) }
        if type == Data.self { return try read(Data.self) }
        if type == Float.self { return try read(Float.self) }
        if type == Int8.self { return try read(Int8.self) }
        if type == Int16.self { return try read(Int16.self) }
        if type == Int32.self { return try read(Int32.self) }
        if type == Int64.self { return try read(Int64.self) }
        if type == UInt.self { return try read(UInt.self) }
        if type == UInt8.self { return try read(UInt8.self) }
        if type == UInt16.self { return try read(UInt16.self) }
        if type == UInt32.self { return try read(UInt32.self) }
        if type == UInt64.self { return try read(UInt64.self) }
        if type == Int128.self { return try read(Int128.self) }
        if type == UInt128.self { return try read(UInt128.self) }
        // Foundation's property lists hold URLs and decimals as dictionaries, which their `init(from:)` knows.
        if case .dictionary = stored { return try other() }
        if type == URL.self { return try read(URL.self) }
        if type == UUID.self { return try read(UUID.self) }
        if type == Decimal.self { return try read(Decimal.self) }
        return try other()
    }
}
