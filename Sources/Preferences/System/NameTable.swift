internal import CPreferences

/// An object that a table finds by its name.
@usableFromInline
package class Named {
    package final let name: String
    init(_ name: String) { self.name = name }
}

/// Objects by their names.
///
/// Not a dictionary: one costs another 60 bytes a name, and 40,000 instructions at its first use in a process.
struct NameTable<Object: Named>: ~Copyable {
    /// A power of two, or none; an object is at the first free slot from its hash on.
    private var slots = UnsafeMutableBufferPointer<Unmanaged<Named>?>(start: nil, count: 0)
    private(set) var count = 0

    init() {}

    deinit {
        for slot in slots { slot?.release() }
        slots.deallocate()
    }

    private static func hash(_ name: String) -> Int {
        var text = name
        let hash = text.withUTF8 { preferences_hash($0.baseAddress, $0.count) }
        // Names that are equal may have other bytes.
        return hash == -1 ? name.hashValue : hash
    }

    /// The slot of a name, or the free one where it belongs.
    private func find(_ name: String) -> Int {
        var index = Self.hash(name) & (slots.count - 1)
        while let slot = slots[index] {
            if slot._withUnsafeGuaranteedRef({ $0.name == name }) { break }
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    subscript(name: String) -> Object? {
        guard count > 0, let slot = slots[find(name)] else { return nil }
        return unsafeDowncast(slot.takeUnretainedValue(), to: Object.self)
    }

    /// Returns the object of a name, which `make` makes if there is none.
    mutating func find(_ name: String, orAdd make: (String) -> Object) -> Object {
        if (count + 1) * 4 > slots.count * 3 { grow(to: max(4, slots.count * 2)) }
        let index = find(name)
        if let slot = slots[index] { return unsafeDowncast(slot.takeUnretainedValue(), to: Object.self) }
        let object = make(name)
        slots[index] = .passRetained(object)
        count += 1
        return object
    }

    mutating func reserve(_ count: Int) {
        var size = max(4, slots.count)
        while count * 4 > size * 3 { size *= 2 }
        if size > slots.count { grow(to: size) }
    }

    private mutating func grow(to size: Int) {
        let old = slots
        slots = .allocate(capacity: size)
        slots.initialize(repeating: nil)
        for case let slot? in old {
            var index = slot._withUnsafeGuaranteedRef { Self.hash($0.name) } & (size - 1)
            while slots[index] != nil { index = (index + 1) & (size - 1) }
            slots[index] = slot
        }
        old.deallocate()
    }

    mutating func remove(_ name: String) {
        guard count > 0 else { return }
        var hole = find(name)
        guard let slot = slots[hole] else { return }
        count -= 1
        // Those that follow and can't be found any more move into the hole.
        var index = hole
        while true {
            index = (index + 1) & (slots.count - 1)
            guard let next = slots[index] else { break }
            let home = next._withUnsafeGuaranteedRef { Self.hash($0.name) } & (slots.count - 1)
            if (index - home) & (slots.count - 1) >= (index - hole) & (slots.count - 1) {
                (slots[hole], hole) = (next, index)
            }
        }
        slots[hole] = nil
        slot.release()
    }

    borrowing func forEach(_ body: (Object) -> Void) {
        for case let slot? in slots { body(unsafeDowncast(slot.takeUnretainedValue(), to: Object.self)) }
    }
}
