#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The types that are stored in another form than that of their own `encode(to:)`, at any depth of a value.
enum NativeValue {
    // A chain of comparisons of two addresses each; a cast would look up conformances for every member. The methods that
    // containers must have for each scalar compile to one line each.
    /// Calls a visitor with each type until it handles one; returns whether it has. This is the only list of the types.
    @inline(__always)
    private static func isHandled<Visitor: NativeVisitor>(by visitor: inout Visitor) throws -> Bool {
        if try visitor.handles(String.self) { return true }
        if try visitor.handles(Int.self) { return true }
        if try visitor.handles(Bool.self) { return true }
        if try visitor.handles(Double.self) { return true }
        if try visitor.handles(Date.self) { return true }
        if try visitor.handles(Data.self) { return true }
        if try visitor.handles(Float.self) { return true }
        if try visitor.handles(Int8.self) { return true }
        if try visitor.handles(Int16.self) { return true }
        if try visitor.handles(Int32.self) { return true }
        if try visitor.handles(Int64.self) { return true }
        if try visitor.handles(UInt.self) { return true }
        if try visitor.handles(UInt8.self) { return true }
        if try visitor.handles(UInt16.self) { return true }
        if try visitor.handles(UInt32.self) { return true }
        if try visitor.handles(UInt64.self) { return true }
        if try visitor.handles(Int128.self) { return true }
        if try visitor.handles(UInt128.self) { return true }
        if try visitor.handles(Duration.self) { return true }
        if try visitor.handles(Locale.self) { return true }
        if try visitor.handles(TimeZone.self) { return true }
        if visitor.isDone { return false }
        if try visitor.handles(URL.self) { return true }
        if try visitor.handles(UUID.self) { return true }
        if try visitor.handles(Decimal.self) { return true }
        return false
    }

    /// Returns whether a type is in the list.
    static func contains(_ type: Any.Type) -> Bool {
        var search = Search(type: type)
        do { return try isHandled(by: &search) } catch { return false }  // it throws nothing
    }

    // The generic functions are never specialized, and compile to a call of one that isn't generic: copies of the list for each scalar
    // were a tenth of the module's code.
    /// Returns the stored form of a value, or `nil` if its type isn't in the list.
    @_semantics("optimize.sil.specialize.generic.never")
    static func stored<Value>(_ value: Value) throws -> PropertyListValue? {
        try withUnsafePointer(to: value) { try stored(Value.self, at: UnsafeRawPointer($0)) }
    }

    @inline(never)
    private static func stored(_ type: Any.Type, at place: UnsafeRawPointer) throws -> PropertyListValue? {
        var writing = Writing(type: type, place: place)
        return try isHandled(by: &writing) ? writing.stored : nil
    }

    /// Returns the value of a stored form, or the result of `other` if its type isn't in the list.
    @_semantics("optimize.sil.specialize.generic.never")
    static func value<Value>(
        _ type: Value.Type,
        of stored: PropertyListValue,
        else other: () throws -> Value
    ) throws -> Value {
        // On the heap: `withUnsafeTemporaryAllocation` looks up generic types at each call from generic code, which takes ten times
        // the instructions of an allocation.
        let place = UnsafeMutableRawBufferPointer.allocate(
            byteCount: MemoryLayout<Value>.size,
            alignment: MemoryLayout<Value>.alignment
        )
        defer { place.deallocate() }
        guard let base = place.baseAddress, try initialize(place, as: type, to: stored) else { return try other() }
        return base.assumingMemoryBound(to: type).move()
    }

    /// Initializes memory to the value of a stored form; returns false if the type isn't in the list.
    @inline(never)
    private static func initialize(
        _ place: UnsafeMutableRawBufferPointer,
        as type: Any.Type,
        to stored: PropertyListValue
    ) throws -> Bool {
        var reading = Reading(type: type, stored: stored, place: place)
        return try isHandled(by: &reading)
    }

    private struct Search: NativeVisitor {
        let type: Any.Type
        var isDone: Bool { false }

        func handles<Native: PreferenceValue>(_ native: Native.Type) -> Bool { type == native }
    }

    private struct Writing: NativeVisitor {
        let type: Any.Type
        let place: UnsafeRawPointer
        var stored: PropertyListValue?
        var isDone: Bool { false }

        @inline(__always)
        mutating func handles<Native: PreferenceValue>(_ native: Native.Type) throws -> Bool {
            guard type == native else { return false }
            stored = try place.assumingMemoryBound(to: native).pointee.storedValue()
            return true
        }
    }

    private struct Reading: NativeVisitor {
        let type: Any.Type
        let stored: PropertyListValue
        let place: UnsafeMutableRawBufferPointer

        /// Whether the stored value is a dictionary: Foundation's property lists encode URLs and decimals as dictionaries, which
        /// their `init(from:)` reads.
        var isDone: Bool { if case .dictionary = stored { true } else { false } }

        @inline(__always)
        func handles<Native: PreferenceValue>(_ native: Native.Type) throws -> Bool {
            guard type == native else { return false }
            let value = try Native(storedValue: stored)
            place.baseAddress?.initializeMemory(as: native, to: value)
            return true
        }
    }
}

/// An operation on the native type that a value has.
private protocol NativeVisitor {
    /// Whether to leave out the types that Foundation may also store in another form.
    var isDone: Bool { get }
    /// Performs the operation if the type is that of the value; returns whether it is.
    mutating func handles<Native: PreferenceValue>(_ native: Native.Type) throws -> Bool
}
