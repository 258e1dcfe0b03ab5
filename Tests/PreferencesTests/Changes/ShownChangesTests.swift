import FileTestSupport
import Observation
import TestSupport
import Testing

@testable import Preferences

/// Observers are notified of the changes of what a property shows, and of no others.
struct ShownChangesTests {
    /// A value that is equal to those that differ only in case.
    struct Word: RawRepresentable, Equatable {
        var rawValue: String

        static func == (left: Word, right: Word) -> Bool { left.rawValue.lowercased() == right.rawValue.lowercased() }
    }

    /// A value without `==`.
    struct Blob: Codable, Sendable {
        var bytes = [0]
    }

    /// Returns what an observer, a sequence and an observer of the time before see while `body` runs.
    private func changes<Value: Sendable>(
        of preference: Preference<Value>,
        _ text: @escaping @Sendable (Value) -> String,
        during body: () throws -> Void
    ) async rethrows -> [String] {
        let (seen, early) = (Recorder<String>(), Recorder<String>())
        let observations = [
            preference.observe { seen.record("\(text($0.old)) → \(text($0.new))") },
            preference.observe(at: .willSet) { early.record("\(text($0.old)) → \(text($0.new))") },
        ]
        var updates = preference.updates.makeAsyncIterator()
        _ = await updates.next()
        try body()
        same(early.elements, seen.elements)
        for change in seen.elements {
            let next = await updates.next()
            same(next.map { change.hasSuffix(" → \(text($0))") }, true)
        }
        withExtendedLifetime(observations) {}
        return seen.elements
    }

    @Test
    func valueThatEqualsTheDefaultIsNoChange() async {
        let volume = Preference("volume", default: 5, in: .inMemory())
        let seen = await changes(of: volume, String.init) {
            volume.value = 5
            volume.value = 7
            volume.value = 5
            volume.reset()
        }
        same(seen, ["5 → 7", "7 → 5"])
    }

    @Test
    func valueThatCanNotBeUsedAndGivesWayToAnotherOneIsNoChange() async {
        let store = PreferenceStore.inMemory()
        store.issueHandler = { _ in }
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        let raw = Recorder<String>()
        let all = store.subscribe { raw.record("\(PreferenceStoreChange($0).names)") }
        let seen = await changes(of: volume, String.init) {
            store["volume"] = "loud"
            store["volume"] = 11
            store["volume"] = 7
            store["volume"] = "loud"
            store["volume"] = nil
        }
        same(seen, ["5 → 7", "7 → 5"])
        same(raw.elements.count, 5, "the stored values have changed")
        withExtendedLifetime(all) {}
    }

    @Test
    func equalityOfTheTypeDecides() async {
        let store = PreferenceStore.inMemory()
        let word = Preference("word", default: Word(rawValue: "a"), in: store)
        let words = await changes(of: word, \.rawValue) {
            word.value = Word(rawValue: "A")
            word.value = Word(rawValue: "b")
        }
        same(words, ["A → b"])
        let real = Preference("real", default: 0.0, in: store)
        let reals = await changes(of: real, { "\($0)" }) {
            store["real"] = 1
            store["real"] = 1.0
            store["real"] = .real(-0.0)
            store["real"] = .real(0)
            store["real"] = .real(.nan)
            store["real"] = .real(.nan)
        }
        same(reals, ["0.0 → 1.0", "1.0 → -0.0", "0.0 → nan"])
    }

    @Test
    func withoutEqualityTheStoredFormDecides() async {
        let store = PreferenceStore.inMemory()
        let blob = Preference("blob", default: Blob(), in: store)
        let seen = await changes(of: blob, { "\($0.bytes)" }) {
            blob.value = Blob()
            blob.value = Blob(bytes: [1])
            store["blob"] = ["bytes": [1], "unknown": 2]
            blob.reset()
        }
        same(seen, ["[0] → [1]", "[1] → [0]"])
        let optional = Preference<Blob?>("optional", in: store)
        let optionals = await changes(of: optional, { "\($0?.bytes ?? [])" }) {
            store["optional"] = "broken"
            store["optional"] = nil
            optional.value = Blob()
            optional.value = nil
        }
        same(optionals, ["[] → [0]", "[0] → []"])
    }

    /// The old and the new value are decoded for the first observer.
    @Test(arguments: [PreferenceTiming.didSet, .willSet])
    func observersOfOneTypeDecodeAChangeOnce(timing: PreferenceTiming) {
        let decoded = Recorder<String>()
        let coding = PreferenceCoding<[String]>("counted") {
            .string($0.joined(separator: ","))
        } decode: { stored in
            guard case .string(let text) = stored else { return nil }
            decoded.record(text)
            return text.split(separator: ",").map(String.init)
        }
        let store = PreferenceStore.inMemory(["list": "a"])
        let seen = Recorder<String>()
        // Declared several times, as by instances of a group.
        let observations = (0..<5).map { number in
            Preference("list", default: [], coding: coding, in: store).observe(at: timing) {
                seen.record("\(number): \($0.old) → \($0.new)")
            }
        }
        store["list"] = "a,b"
        same(decoded.drain().sorted(), ["a", "a,b"])
        same(seen.elements, (0..<5).map { "\($0): [\"a\"] → [\"a\", \"b\"]" })
        withExtendedLifetime(observations) {}
    }

    /// They share what is decoded, but neither the default nor, with another type or a member, the value.
    @Test
    func observersOfOneNameKeepTheirDefaultsAndTypes() {
        let store = PreferenceStore.inMemory(["pair": ["a": 1, "b": 2]])
        let seen = Recorder<String>()
        struct Pair: Codable, Equatable { var a = 0, b = 0 }
        struct Alone: Codable, Equatable { var a: Int }
        func observe<Value>(_ preference: Preference<Value>) -> PreferenceObservation {
            preference.observe { seen.record("\($0.old) → \($0.new)") }
        }
        let first = Preference("pair", default: Pair(), in: store)
        let observations = [
            observe(first), observe(Preference("pair", default: Pair(a: 1, b: 3), in: store)),
            observe(first[\.b]), observe(Preference("pair", default: Alone(a: 5), in: store)),
        ]
        func expectChanges(_ changes: [String], to value: PropertyListValue?) {
            store["pair"] = value
            same(seen.drain(), changes)
        }
        let start = Pair(a: 1, b: 2), next = Pair(a: 1, b: 3)
        // The last one's type has the other member only.
        expectChanges(["\(start) → \(next)", "\(start) → \(next)", "2 → 3"], to: ["a": 1, "b": 3])
        // The second one's default is equal to its value.
        expectChanges(["\(next) → \(Pair())", "3 → 0", "\(Alone(a: 1)) → \(Alone(a: 5))"], to: nil)
        withExtendedLifetime(observations) {}
    }

    /// The default of another instance, and what is read besides the value, is signalled, too.
    @Test(arguments: [true, false])
    @MainActor
    func observationSignalsEachReader(isKept: Bool) {
        let readings: [(Preference<Int>) -> Void] = [
            { _ = Preference("volume", default: 6, in: $0.store).value }, { _ = $0.source },
            { _ = $0.isSet }, { _ = $0.storedValue }, { _ = $0.isManaged }, { _ = try? $0.read() },
        ]
        for (index, read) in readings.enumerated() {
            let volume = Preference("volume", default: 5, in: .inMemory())
            _ = volume.value
            let signalled = countSignals { read(isKept ? volume : Preference("volume", default: 5, in: volume.store)) }
            volume.value = 5
            same(signalled.value, 1, "\(index)")
            _ = volume.value
        }
    }

    /// Of the writable layer's own value, also one that another layer hides.
    @Test
    @MainActor
    func observationSignalsWhetherAPreferenceIsSet() {
        let own = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([.inMemory(["volume": 7]).readOnly(named: "policy"), own])
        store.issueHandler = { _ in }
        let volume = Preference("volume", default: 5, in: store)
        for isSet in [true, false] {
            let signalled = countSignals {
                _ = volume.value
                same(volume.isSet, !isSet)
            }
            own["volume"] = isSet ? 6 : nil
            same(signalled.value, 1)
        }
    }

    /// The source of a layer may be another layer, too.
    @Test
    @MainActor
    func observationSeesAStoreThatIsTwoLayers() {
        let store = PreferenceStore.inMemory()
        let volume = Preference("volume", default: 5, in: .layered([store.readOnly(named: "above"), store]))
        let changes = Recorder<Int>()
        for new in [7, 8] {
            withObservationTracking {
                _ = volume.value
            } onChange: {
                changes.record(new)
            }
            volume.value = new
            same(volume.value, new)
        }
        withObservationTracking {
            _ = volume.value
        } onChange: {
            changes.record(5)
        }
        volume.reset()
        same(changes.elements, [7, 8, 5])
    }

    @Test
    @MainActor
    func observationSignalsNoEqualStoredForm() {
        let (upper, lower) = (PreferenceStore.inMemory(["a": 7]), PreferenceStore.inMemory(["a": 7, "b": [1, 2]]))
        let store = PreferenceStore.layered([upper, lower])
        let (a, b) = (Preference("a", default: 5, in: store), Preference("b", default: [0], in: store))
        let signalled = countSignals { _ = (a.value, b.value) }
        for change in [{ upper["a"] = 7 }, { lower["a"] = 8 }, { lower["b"] = [1, 2] }, { upper["c"] = 1 }] { change() }
        same(signalled.value, 0)
        upper["a"] = nil
        same(signalled.value, 1)
    }
}
