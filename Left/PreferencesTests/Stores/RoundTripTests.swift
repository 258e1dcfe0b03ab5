import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Values that are restored to the last bit, from memory and from a reopened file.
struct RoundTripTests {
    private let samples: [Sample] = {
        let texts = [
            "", "\0", "\u{1}\u{1F}\u{7F}\u{85}\u{2028}", "\u{FEFF}first", "\u{E9}", "e\u{301}", "👩‍👩‍👧", "$null", "$$null",
            "$data",
            "\"\\\n\r\t/", "null", String(repeating: "é\n", count: rounds(1 << 19)),
        ]
        let reals = [
            0.0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .leastNormalMagnitude,
            .greatestFiniteMagnitude,
            -.greatestFiniteMagnitude, 0.1, 1.0.nextUp, 1e22, 2.0, 0x1p53 + 2, 1e-7,
        ]
        let dates = [
            0.0, -0.0, 0.1, 785_451_600.123_456_7, -1e11, 1e300, 63_113_904_000.000_01, .leastNonzeroMagnitude,
        ]
        let urls = ["https://example.com/a%20b?q=1&r=%C3%A9#part", "file:///tmp/x%20y/", "mailto:a@b.c"]
        var samples: [Sample] = [
            Sample(true), Sample(false), Sample(Int.min), Sample(Int.max), Sample(Int8.min), Sample(Int16.max),
            Sample(Int32.min),
            Sample(Int64.min), Sample(Int64.max), Sample(UInt64.max), Sample(UInt64(Int64.max) + 1), Sample(UInt8.max),
            Sample(UInt16.max), Sample(UInt32.max), Sample(UInt.max), Sample(0), Sample(Float.leastNonzeroMagnitude),
            Sample(-Float.zero),
            Sample(Character("👩‍👩‍👧")), Sample(Data()), Sample(Data((0...255).map(UInt8.init))),
            Sample(Data(repeating: 7, count: rounds(1 << 20))),
            Sample(UUID()), Sample(Decimal(string: "-12.340")), Sample(Duration(attoseconds: .min)),
            Sample(Duration.milliseconds(1500)),
            Sample(Locale(identifier: "de_AT")), Sample(TimeZone(secondsFromGMT: 3600)), Sample(Theme.dark),
            Sample(Level.high), Sample(Frame()),
            Sample([Int]()), Sample([[nil, 1], nil] as [[Int?]?]), Sample(Set(texts.prefix(9))),
            Sample([1: "a", -2: "b"]),
            Sample([Level.low: [Theme.dark], .high: []]), Sample(1..<5), Sample("a"..."z"),
            Sample(Int??.some(.some(7))), Sample(texts),
            Sample(reals), Sample(reals.map(Date.init(timeIntervalSinceReferenceDate:))),
            Sample(
                Dictionary(
                    uniqueKeysWithValues: ["", "a.b", "@x", "$data", "$", "é", "\u{FEFF}", "\0"].map { ($0, 1) }
                )
            ),
        ]
        samples += texts.map(Sample.init) + reals.map(Sample.init) + urls.map { Sample(URL(string: $0)) }
        samples += dates.map { Sample(Date(timeIntervalSinceReferenceDate: $0)) }
        return samples
    }()

    @Test
    func everyConformanceComesBackFromTheFile() throws {
        let folder = try TemporaryFolder()
        try reopened(in: folder) { try write(to: $0) }
        let bytes = try folder.read("preferences.jsonl")
        try reopened(in: folder) { store in
            try check(in: store)
            try write(to: store)
        }
        try same(
            folder.read("preferences.jsonl"),
            bytes,
            "what is read is equal to what was set, so nothing is written"
        )
    }

    @Test
    func namesOfAnyKindComeBackFromTheFile() throws {
        let folder = try TemporaryFolder()
        let names = [
            "a.b.c", "@at", "$dollar", "$data", "$$", "👩‍👩‍👧", " spaces ", "\"quotes\"", "'", "\\", "\n", "\0", "\u{FEFF}",
            "é",
            String(repeating: "n", count: 1_000), "null", "__proto__", "/", "-name", "{", "a:b",
        ]
        try reopened(in: folder) { store in
            for (index, name) in names.enumerated() { Preference(name, default: -1, in: store).value = index }
        }
        try reopened(in: folder) { store in
            same(Set(store.names), Set(names))
            for (index, name) in names.enumerated() {
                same(Preference(name, default: -1, in: store).value, index, "\(name)")
            }
            let decomposed = Preference("e\u{301}", default: -1, in: store)
            same(decomposed.value, 13, "é composed and decomposed are one name")
            decomposed.value = 100
            same(Preference("\u{E9}", default: -1, in: store).value, 100)
        }
        try reopened(in: folder) { store in
            same(store.names.count, names.count)
            same(Preference("\u{E9}", default: -1, in: store).value, 100)
        }
    }

    private func write(to store: PreferenceStore) throws {
        for (index, sample) in samples.enumerated() { try sample.write("\(index)", store) }
    }

    private func check(in store: PreferenceStore) throws {
        for (index, sample) in samples.enumerated() { try sample.check("\(index)", store) }
    }
}

/// Runs `body` with the store of the folder's file, which has no other user, so that it is reopened.
func reopened(in folder: TemporaryFolder, _ body: (PreferenceStore) throws -> Void) throws {
    weak var last: PreferenceStore?
    try {
        let store = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
        store.issueHandler = { Issue.record($0) }
        last = store
        try body(store)
        // A sync in the background would end after the store, and find its folder removed.
        try store.core.layers.writable?.backend?.sync()
    }()
    // A thread that opens another file looks at all stores, and retains them for that time.
    for _ in 0..<100_000 where last != nil { usleep(100) }
    #expect(last == nil)
}

/// A value with its type erased.
private struct Sample: Sendable {
    let write: @Sendable (_ name: String, PreferenceStore) throws -> Void
    let check: @Sendable (_ name: String, PreferenceStore) throws -> Void

    init<Value: PreferenceValue>(_ value: Value?) {
        write = { name, store in try Preference<Value?>(name, in: store).write(value) }
        check = { name, store in
            let expected = try #require(try value.storedValue())
            same(store[name], expected)
            let read = try Preference<Value?>(name, in: store).read()
            // Compared as stored values, which are equal only if their bits are.
            try same(read.storedValue(), expected)
        }
    }
}
