/// Memory to read into; unlike an array it is neither cleared nor copied.
struct ReadBuffer: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer

    init(count: Int) {
        memory = .allocate(byteCount: count, alignment: 16)
    }

    deinit { memory.deallocate() }

    var count: Int { memory.count }

    func rest(from start: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory[start...])
    }

    func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[..<count])
    }

    func removeFirst(_ removed: Int, of held: Int) {
        guard removed > 0, removed < held else { return }
        memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[removed..<held]))
    }

    mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}
