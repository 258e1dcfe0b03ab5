import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// The cache after a kill at each moment.
struct OfflineCopyTests {
    private let folder: TemporaryFolder
    private let keys: KeySpace
    private var place: URL { URL(filePath: folder.path("cache.jsonl")) }

    init() throws {
        folder = try TemporaryFolder()
        keys = try KeySpace(prefix: "p", suite: "s")
    }

    private func event(_ name: String, _ number: Int64?, _ revision: Int64) -> WatchEvent {
        WatchEvent(
            type: number == nil ? "DELETE" : nil,
            kv: KeyValue(
                key: keys.key(of: name),
                value: number.map { Data("\($0)".utf8) },
                modRevision: GatewayInteger(revision)
            )
        )
    }

    private func update(_ copy: OfflineCopy, from mirror: inout Mirror) {
        copy.update {
            var origin = OfflineCopy.Origin(prefix: "p", suite: "s", cluster: "1", endpoints: ["e"])
            origin.position = mirror.position
            return (mirror.drainUncopied(isFirst: $0), origin)
        } restore: { changes in
            mirror.restoreUncopied(changes)
        }
    }

    /// Own writes come before the events up to their revision, and the copy is written after each of both.
    @Test
    func valuesAndPositionBelongTogetherAfterEachKill() throws {
        let names = ["a", "b", "c"]
        var mirror = Mirror(keys)
        let copy = OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s"))
        _ = copy.load()
        _ = mirror.replace(with: [event("a", 0, 1).kv], at: 1, of: "1")
        update(copy, from: &mirror)
        var events: [WatchEvent] = []
        var generator = SeededGenerator(seed: 7)
        var states: [Int64: [String: PropertyListValue]] = [1: mirror.values]
        var delivered = 0
        for revision in Int64(2)...200 {
            let name = names.pick(&generator)
            let number =
                Int.random(in: 0..<4, using: &generator) == 0 ? nil : Int64.random(in: 0..<9, using: &generator)
            events.append(event(name, number, revision))
            states[revision] = states[revision - 1]
            states[revision]?[name] = number.map { .integer($0) }
            if Bool.random(using: &generator) {
                // An own write, whose names have no external change that isn't delivered.
                let isKnown = !events[delivered...].dropLast().contains { $0.kv.key == keys.key(of: name) }
                if isKnown { mirror.commit([name: number.map { .integer($0) }], at: revision) }
            } else {
                for event in events[delivered...] {
                    mirror.apply([event])
                    update(copy, from: &mirror)
                }
                delivered = events.count
            }
            update(copy, from: &mirror)
        }
        #expect(copy.drainProblems().isEmpty)
        let bytes = try Data(contentsOf: place)
        var positions: Set<Int64> = []
        var used = 0
        for length in 0...bytes.count
        where length == bytes.count || bytes[length] == UInt8(ascii: "\n") || length % 7 == 0 {
            let killed = folder.path("\(length).jsonl")
            try bytes.prefix(length).write(to: URL(filePath: killed))
            let contents = OfflineCopy(URL(filePath: killed), OfflineCopy.Origin(prefix: "p", suite: "s")).load()
            try FileManager.default.removeItem(atPath: killed)
            guard let origin = contents.origin, let position = origin.position else { continue }
            used += 1
            positions.insert(position.revision)
            var resumed = Mirror(keys)
            resumed.begin(withCopy: contents.values, at: position, of: origin.cluster)
            let ahead = Set(position.ahead.keys)
            let expected = try #require(states[position.revision])
            // The names that the store has written since may be newer, all others are those of the revision.
            same(contents.values.filter { !ahead.contains($0.key) }, expected.filter { !ahead.contains($0.key) })
            for event in events where event.kv.modRevision.value > position.revision {
                // An event that the values contain already changes nothing.
                let before = resumed.values
                resumed.apply([event])
                if let name = keys.name(of: event.kv.key), let own = position.ahead[name],
                    event.kv.modRevision.value <= own
                {
                    same(resumed.values, before)
                }
            }
            same(resumed.values, states[200])
        }
        #expect(used > 100 && positions.count > 50)
    }

    @Test
    func oneStoreAtATimeWrites() throws {
        var mirror = Mirror(keys)
        _ = mirror.replace(with: [event("a", 2, 2).kv], at: 2, of: "1")
        var older = Mirror(keys)
        _ = older.replace(with: [event("a", 1, 1).kv, event("b", 1, 1).kv], at: 1, of: "1")
        var first: OfflineCopy? = OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s"))
        _ = first?.load()
        if let first { update(first, from: &mirror) }
        let second = OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s"))
        same(second.load().values, ["a": 2])
        update(second, from: &older)
        same(OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s")).load().values, ["a": 2])
        first = nil
        older.apply([event("b", nil, 3)])
        older.apply([event("a", 4, 4)])
        update(second, from: &older)
        let contents = OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s")).load()
        same(contents.values, ["a": 4])
        same(contents.origin?.position?.revision, 4)
    }

    @Test
    func stepThatCannotBeWrittenIsWrittenWithTheNext() throws {
        var mirror = Mirror(keys)
        let copy = OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s"))
        _ = copy.load()
        _ = mirror.replace(with: [event("a", 1, 1).kv], at: 1, of: "1")
        update(copy, from: &mirror)
        mirror.apply([event("a", 2, 2)])
        mirror.restoreUncopied(mirror.drainUncopied(isFirst: false))
        mirror.apply([event("b", 3, 3)])
        update(copy, from: &mirror)
        let contents = OfflineCopy(place, OfflineCopy.Origin(prefix: "p", suite: "s")).load()
        same(contents.values, ["a": 2, "b": 3])
        same(contents.origin?.position?.revision, 3)
    }
}
