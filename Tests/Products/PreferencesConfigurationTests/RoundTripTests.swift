#if Configuration
import Configuration
import Foundation
@testable import Preferences
import PreferencesConfiguration
import TestSupport
import Testing

/// Values that go from a store through a provider, a reader and a layer to a preference again.
struct RoundTripTests {
    enum Theme: String { case light, dark }
    enum Zoom: Int, PreferenceValue { case whole = 100, half = 50 }
    struct Frame: Codable, Hashable {
        var x = 0
        var opened = Date(timeIntervalSinceReferenceDate: 0.1)
        var icon = Data([1, 2])
        var names: [String?] = []
        var ratio = 0.0
    }
    struct Temperature: PreferenceValue, Equatable {
        var celsius: Double
        init(celsius: Double) { self.celsius = celsius }
        init(storedValue: PropertyListValue) throws { celsius = try Double(storedValue: storedValue) }
        func storedValue() throws -> PropertyListValue? { .real(celsius) }
    }

    struct Scalars: PreferenceGroup {
        @Preference("player.bool") var bool = false
        @Preference("int") var int = 0
        @Preference("int8") var int8: Int8 = 0
        @Preference("int64") var int64: Int64 = 0
        @Preference("uint8") var uint8: UInt8 = 0
        @Preference("uint64") var uint64: UInt64 = 0
        @Preference("int128") var int128: Int128 = 0
        @Preference("double") var double = 0.0
        @Preference("float") var float: Float = 0
        @Preference("string") var string = ""
        @Preference("character") var character: Character = "a"
        @Preference("data") var data = Data()
        @Preference("date") var date = Date.distantPast
        @Preference("url") var url: URL?
        @Preference("uuid") var uuid: UUID?
        @Preference("decimal") var decimal = Decimal()
        @Preference("duration") var duration = Duration.zero
        @Preference("theme") var theme = Theme.light
        @Preference("zoom") var zoom = Zoom.whole
        @Preference("optional") var optional: Int?
        @Preference("frame") var frame = Frame()
        @Preference("json", coding: .json) var json = Frame()
        @Preference("jsonString", coding: .jsonString) var jsonString = Frame()
        @Preference("temperature") var temperature = Temperature(celsius: 0)
        @Preference("any") var any: PropertyListValue?
    }

    struct Collections: PreferenceGroup {
        @Preference("bools") var bools: [Bool] = []
        @Preference("ints") var ints: [Int] = []
        @Preference("bytes") var bytes: [UInt8] = []
        @Preference("uint64s") var uint64s: [UInt64] = []
        @Preference("doubles") var doubles: [Double] = []
        @Preference("strings") var strings: [String] = []
        @Preference("optionals") var optionals: [String?] = []
        @Preference("optionalInts") var optionalInts: [Int?] = []
        @Preference("datas") var datas: [Data] = []
        @Preference("dates") var dates: [Date] = []
        @Preference("urls") var urls: [URL] = []
        @Preference("frames") var frames: [Frame] = []
        @Preference("nested") var nested: [[Int]] = []
        @Preference("set") var set: Set<String> = []
        @Preference("range") var range = 0..<1
        @Preference("empty") var empty = ["not empty"]
        @Preference("dictionary") var dictionary: [String: Int] = [:]
        @Preference("optionalArray") var optionalArray: [Int]?
    }

    /// Issues of a store, for a test that expects none.
    static func noIssues(of stores: PreferenceStore...) {
        for store in stores { store.issueHandler = { Issue.record("\($0)") } }
    }

    static let frame = Frame(
        x: -3,
        opened: Date(timeIntervalSinceReferenceDate: 785_000_000.123_456_7),
        icon: Data([0, 255]),
        names: [nil, "$null", "a"],
        ratio: -0.5
    )

    @Test(arguments: [false, true])
    func scalarsSurvive(isDeclared: Bool) throws {
        let written = PreferenceStore.inMemory()
        let provider =
            isDeclared ? PreferenceStoreProvider(written, for: Scalars.self) : PreferenceStoreProvider(written)
        let read = PreferenceStore.configuration(ConfigReader(provider: provider), for: Scalars.self)
        Self.noIssues(of: written, read)
        let (old, new) = (Scalars(in: written), Scalars(in: read))
        old.bool = true
        old.int = .min
        old.int8 = -128
        old.int64 = .max
        old.uint8 = 255
        old.uint64 = .max
        old.int128 = .max
        old.double = 0.1
        old.float = 0.3
        old.string = "\"5\"\n"
        old.character = "7"
        old.data = Data([0, 1, 255])
        old.date = Date(timeIntervalSinceReferenceDate: 785_000_000.123_456_7)
        old.url = URL(string: "https://example.com/a?b#c")
        old.uuid = UUID()
        old.decimal = Decimal(string: "0.30000000000000000000001") ?? 0
        old.duration = .milliseconds(-1500)
        old.theme = .dark
        old.zoom = .half
        old.optional = 7
        old.frame = Self.frame
        old.json = Self.frame
        old.jsonString = Self.frame
        old.temperature = Temperature(celsius: 20.5)
        old.any = ["[1]"]
        try expectSame(old, new)
    }

    @Test
    func collectionsSurvive() throws {
        let written = PreferenceStore.inMemory()
        let reader = ConfigReader(provider: PreferenceStoreProvider(written))
        let read = PreferenceStore.configuration(reader, for: Collections.self)
        Self.noIssues(of: written, read)
        let (old, new) = (Collections(in: written), Collections(in: read))
        old.bools = [true, false]
        old.ints = [.min, 0, .max]
        old.bytes = [0, 255]
        old.uint64s = [0, .max]
        old.doubles = [0.1, 1]
        old.strings = ["$null", "{}", "a,b", ""]
        old.optionals = [nil, "a", "$null"]
        old.optionalInts = [nil, 1]
        old.datas = [Data(), Data([1])]
        old.dates = [Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: 1)]
        old.urls = [URL(filePath: "/tmp/a")]
        old.frames = [Self.frame, Frame()]
        old.nested = [[1], []]
        old.set = ["a", "b"]
        old.range = 3..<9
        old.empty = []
        old.dictionary = ["a": 1]
        old.optionalArray = [1]
        try expectSame(old, new)
    }

    /// Values without a text that every reader understands.
    @Test
    func extremesSurvive() {
        let written = PreferenceStore.inMemory()
        let reader = ConfigReader(provider: PreferenceStoreProvider(written))
        let read = PreferenceStore.configuration(reader, for: Scalars.self)
        Self.noIssues(of: written, read)
        let (old, new) = (Scalars(in: written), Scalars(in: read))
        old.date = Date(timeIntervalSinceReferenceDate: 1e15)
        old.double = -.infinity
        old.url = URL(string: "/tmp", relativeTo: nil)
        same(new.date, old.date)
        same(new.double, old.double)
        same(new.url, old.url)
    }

    /// A preference of any type reads the value that another one has stored.
    private func roundTrip(_ value: PropertyListValue) -> PropertyListValue? {
        let written = PreferenceStore.inMemory(["any": value])
        let reader = ConfigReader(provider: PreferenceStoreProvider(written))
        let read = PreferenceStore.configuration(reader, for: Scalars.self)
        Self.noIssues(of: written, read)
        return Scalars(in: read).any
    }

    @Test(
        arguments: [
            true, 1, 0, .integer(.min), 0.5, "a", "12", "yes", "[1]", "{}", "2001-01-01T00:00:00Z", .data(Data([0])),
            [], ["[1]"], ["{}", "a"], ["2001-01-01T00:00:00Z"], [1, 2], [0.5], [true, false], [.data(Data([1]))],
        ] as [PropertyListValue]
    )
    func valueOfAnyTypeSurvives(value: PropertyListValue) {
        same(roundTrip(value), value)
    }

    /// Types that a configuration doesn't have.
    @Test(
        arguments: [
            (2.0, 2), ([2.0], [2]), (.unsigned(.max), "18446744073709551615"),
            (.date(Date(timeIntervalSinceReferenceDate: 0)), "2001-01-01T00:00:00Z"),
            ([.date(Date(timeIntervalSinceReferenceDate: 0))], ["2001-01-01T00:00:00Z"]),
            (["a": 1], #"{"a":1}"#), ([["a": 1]], [#"{"a":1}"#]), ([1, "a"], #"[1,"a"]"#),
        ] as [(PropertyListValue, PropertyListValue)]
    )
    func valueOfAnyTypeWithoutAKindBecomesTextOrANumber(value: PropertyListValue, read: PropertyListValue) {
        same(roundTrip(value), read)
    }

    /// Compares the values of the preferences, in their stored form.
    private func expectSame(_ old: some PreferenceGroup, _ new: some PreferenceGroup) throws {
        for (old, new) in zip(old.preferences, new.preferences) {
            #expect(old.isSet, "the test sets no \(old.name)")
            same(new.source.name, "configuration", "\(new)")
            try same(new.storedForm(in: new.store.snapshot()), old.storedForm(in: old.store.snapshot()), "\(new)")
        }
    }
}
#endif
