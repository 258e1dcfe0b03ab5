#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The types that are stored otherwise than their own `encode(to:)` says, wherever they stand in a value.
enum NativeValue {
    // A chain of comparisons of two addresses each; a cast would look conformances up for every member. Of the methods that
    // containers must have for each scalar the compiler makes one line.
    /// Shows the types to a visitor until it takes one; their only list.
    @inline(__always)
    private static func isTaken<Visitor: NativeVisitor>(by visitor: inout Visitor) throws -> Bool {
        if try visitor.takes(String.self) { return true }
        if try visitor.takes(Int.self) { return true }
        if try visitor.takes(Bool.self) { return true }
        if try visitor.takes(Double.self) { return true }
        if try visitor.takes(Date.self) { return true }
        if try visitor.takes(Data.self) { return true }
        if try visitor.takes(Float.self) { return true }
        if try visitor.takes(Int8.self) { return true }
        if try visitor.takes(Int16.self) { return true }
        if try visitor.takes(Int32.self) { return true }
        if try visitor.takes(Int64.self) { return true }
        if try visitor.takes(UInt.self) { return true }
        if try visitor.takes(UInt8.self) { return true }
        if try visitor.takes(UInt16.self) { return true }
        if try visitor.takes(UInt32.self) { return true }
        if try visitor.takes(UInt64.self) { return true }
        if try visitor.takes(Int128.self) { return true }
        if try visitor.takes(UInt128.self) { return true }
        if try visitor.takes(Duration.self) { return true }
        if try visitor.takes(Locale.self) { return true }
        if try visitor.takes(TimeZone.self) { return true }
        if visitor.isDone { return false }
        if try visitor.takes(URL.self) { return true }
        if try visitor.takes(UUID.self) { return true }
        if try visitor.takes(Decimal.self) { return true }
        return false
    }

    /// What is stored for a value; nil where its type is none of these.
    static func stored<Value>(_ value: Value) throws -> PropertyListValue? {
        try withUnsafePointer(to: value) { place in
            var writing = Writing(type: Value.self, place: UnsafeRawPointer(place))
            return try isTaken(by: &writing) ? writing.stored : nil
        }
    }

    /// The value of what is stored, or what `other` makes of a type that is none of these.
    static func value<Value>(
        _ type: Value.Type,
        of stored: PropertyListValue,
        else other: () throws -> Value
    ) throws -> Value {
        try withUnsafeTemporaryAllocation(of: type, capacity: 1) { place in
            var reading = Reading(type: type, stored: stored, place: UnsafeMutableRawBufferPointer(place))
            return try isTaken(by: &reading) ? place.moveElement(from: 0) : try other()
        }
    }

    private struct Writing: NativeVisitor {
        let type: Any.Type
        let place: UnsafeRawPointer
        var stored: PropertyListValue?
        var isDone: Bool { false }

        @inline(__always)
        mutating func takes<Native: PreferenceValue>(_ native: Native.Type) throws -> Bool {
            guard type == native else { return false }
            stored = try place.assumingMemoryBound(to: native).pointee.storedValue()
            return true
        }
    }

    private struct Reading: NativeVisitor {
        let type: Any.Type
        let stored: PropertyListValue
        let place: UnsafeMutableRawBufferPointer

        /// Foundation's property lists hold URLs and decimals as dictionaries, which their `init(from:)` knows.
        var isDone: Bool { if case .dictionary = stored { true } else { false } }

        @inline(__always)
        func takes<Native: PreferenceValue>(_ native: Native.Type) throws -> Bool {
            guard type == native else { return false }
            let value = try Native(storedValue: stored)
            place.baseAddress?.initializeMemory(as: native, to: value)
            return true
        }
    }
}

/// What is done with the native types, one after the other.
private protocol NativeVisitor {
    /// Whether the types that Foundation may store in another form too are left out.
    var isDone: Bool { get }
    /// Whether the type is the one that is looked for; then what was to be done with it is done.
    mutating func takes<Native: PreferenceValue>(_ native: Native.Type) throws -> Bool
}
