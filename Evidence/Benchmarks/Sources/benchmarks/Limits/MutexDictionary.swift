import Synchronization

/// The least that several threads need to share values: a dictionary under a mutex.
final class MutexDictionary: Sendable {
    private let values: Mutex<[String: Stored]>

    init(_ samples: Samples) throws {
        values = Mutex(Dictionary(uniqueKeysWithValues: try samples.contents().map { ($0.name, $0.value) }))
    }

    func value(_ name: String) -> Stored? { values.withLock { $0[name] } }

    func set(_ value: Stored, for name: String) { values.withLock { $0[name] = value } }
}

/// A mutex that is locked and unlocked, with nothing in between.
final class MutexPair: Sendable {
    private let mutex = Mutex(0)

    func use() { mutex.withLock { $0 &+= 1 } }
}

/// The cost of a value that is shared in the cheapest way.
final class AtomicNumber: Sendable {
    private let number = Atomic<Int>(1)

    @inline(__always)
    func load() -> Int { number.load(ordering: .relaxed) }
}
