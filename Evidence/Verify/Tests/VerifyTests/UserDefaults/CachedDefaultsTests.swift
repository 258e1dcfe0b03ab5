import Testing

@testable import Preferences

/// What the parts of user defaults were when they were last read.
struct CachedDefaultsTests {
    private var cached = CachedDefaults()
    private let found = FoundDefaults(managed: nil, own: .known(1), weaker: 7)

    /// Reads the own value of a name while `meanwhile` runs.
    private mutating func read(meanwhile: (inout CachedDefaults) -> Void = { _ in }) -> PropertyListValue? {
        _ = cached.value(.own, of: "n")
        let ticket = cached.ticket(of: "n")
        meanwhile(&cached)
        return cached.record(found, of: "n", for: .own, readAt: ticket)
    }

    @Test
    mutating func otherPartsNeedNotReadTheNameOnce() {
        #expect(read() == 1)
        #expect(cached.value(.weaker, of: "n") == 7)
        #expect(cached.value(.weaker, of: "n") == nil)
        #expect(cached.value(.own, of: "n") == nil)
    }

    @Test
    mutating func otherPartsReadItAfterAnyEvent() {
        let events: [(inout CachedDefaults) -> Void] = [
            { _ = $0.invalidate("n", isOwn: false) }, { $0.invalidateAll() },
            {
                $0.set("n", to: 5)
                $0.noteWritten("n")
            },
        ]
        for event in events {
            _ = read(meanwhile: event)
            #expect(cached.value(.weaker, of: "n") == nil)
        }
        _ = read()
        cached.invalidateAll()
        #expect(cached.value(.weaker, of: "n") == nil)
    }

    @Test
    mutating func queuedValueIsTheOwnOneUntilItIsWritten() {
        #expect(read { $0.set("n", to: 5) } == 5)
        #expect(cached.value(.own, of: "n") == 5)
        cached.noteWritten("n")
        #expect(cached.value(.own, of: "n") == nil)
    }

    @Test
    mutating func valueIsOwnUntilOtherCodeChangesIt() {
        #expect(!cached.isStored(StoredChange("n", 1)))
        _ = read()
        #expect(!cached.isStored(StoredChange("n", 1)), "other code may have set it without a notification")
        cached.set("n", to: 1)
        cached.noteWritten("n")
        #expect(cached.isStored(StoredChange("n", 1)) && !cached.isStored(StoredChange("n", nil)))
        _ = cached.invalidate("n", isOwn: true)
        #expect(cached.isStored(StoredChange("n", 1)))
        _ = cached.invalidate("n", isOwn: false)
        #expect(!cached.isStored(StoredChange("n", 1)))
    }

    @Test
    mutating func sizeFollowsTheValues() {
        _ = read()
        let small = cached.size
        cached.set("n", to: .string(String(repeating: "a", count: 100)))
        let large = cached.size
        #expect(large > small + 90)
        #expect(cached.size(with: [StoredChange("n", nil)]) == 0)
        cached.set("n", to: nil)
        #expect(cached.size == 0)
    }
}
