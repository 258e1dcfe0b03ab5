@_spi(Tool) import Preferences
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private enum Look: String, CaseIterable { case system, dark }
private struct Grade: RawRepresentable { var rawValue = 3 }
private struct Spot: Codable { var x = 1 }

/// A type with a raw value that says itself how it is stored.
private struct Paint: RawRepresentable, PreferenceValue {
    var rawValue = 7
    init() {}
    init(rawValue: Int) { self.rawValue = rawValue }
    init(storedValue: PropertyListValue) throws {}
    func storedValue() -> PropertyListValue? { "#000007" }
}

private struct Part: PreferenceGroup {
    @Preference("window.width", description: "In points.") var width: UInt = 800
}

private struct Whole: PreferenceGroup {
    @Preference("flag") var flag = true
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("limit", .range(0...10)) var limit: Int? = nil
    @Preference("scale", .range(0.5...(.infinity))) var scale = 1.0
    @Preference("theme") var theme = Look.system
    @Preference("other") var other: Look?
    @Preference("level") var level = Grade()
    @Preference("colour") var colour = Paint()
    @Preference("point") var point = Spot()
    @Preference("text", coding: .json) var text = "a"
    @Preference("since") var since = Date(timeIntervalSinceReferenceDate: 0)
    @Preference("bytes") var bytes = Data([1])
    @Preference("recent") var recent: [String] = []
    @Preference("even", .check { $0.isMultiple(of: 2) }) var even = 2
    @Preference("side", .choices(["left", "right"])) var side = "left"
    @Preference("look", .choices([.dark])) var look: Look?
    @Preference("name", .length(1...8)) var name = "Pitt"
    @Preference("few", .length(0...3)) var few: [Int]? = nil
    @Preference("delay") var delay = Duration.milliseconds(1500)
    @Preference("price") var price = Decimal(7)
    @Preference("identifier") var identifier: UUID?
    @Preference("folder") var folder: URL?
    @Preference("locale") var locale: Locale?
    @Preference("zone") var zone: TimeZone?
    @Preference("letter") var letter: Character = "a"
    @Preference("huge") var huge: Int128 = 1
    @Preference("tags") var tags: Set<String> = []
    @Preference("span") var span = 1..<5
    @Preference("counts") var counts: [String: Int] = [:]
    @Preference("dates") var dates: [Date?] = []
    @Preference("table") var table: [String: [[Double]]]?
    @Preference("spots") var spots: [Spot] = []
    @Preference("rollouts") var rollouts: [String: Rollout] = [:]
    let inner = Part()
    let plain = Preference("plain", default: 9)
}

struct SchemaTests {
    /// Each property of the schema, as text.
    private func properties(of group: some PreferenceGroup) throws -> [String: String] {
        let schema = try PreferenceText.value(in: try group.jsonSchema())
        guard case .dictionary(let members) = schema, case .dictionary(let properties) = members["properties"] else {
            Issue.record("the schema has no properties")
            return [:]
        }
        return properties.mapValues(\.description)
    }

    @Test(arguments: [
        ("flag", #"{"default": true, "type": "boolean"}"#),
        ("volume", #"{"default": 5, "maximum": 10, "minimum": 0, "type": "integer"}"#),
        ("side", #"{"default": "left", "enum": ["left", "right"], "type": "string"}"#),
        ("look", #"{"enum": ["dark"], "type": "string"}"#),
        ("name", #"{"default": "Pitt", "maxLength": 8, "minLength": 1, "type": "string"}"#),
        ("few", #"{"items": {"type": "integer"}, "maxItems": 3, "minItems": 0, "type": "array"}"#),
        ("limit", #"{"maximum": 10, "minimum": 0, "type": "integer"}"#),
        ("scale", #"{"default": 1.0, "minimum": 0.5, "type": "number"}"#),
        ("theme", #"{"default": "system", "enum": ["system", "dark"], "type": "string"}"#),
        ("other", #"{"enum": ["system", "dark"], "type": "string"}"#),
        ("level", #"{"default": 3, "type": "integer"}"#),
        ("colour", ##"{"default": "#000007"}"##),
        ("point", #"{"default": {"x": 1}}"#),
        ("text", #"{"default": {"$data":"ImEi"}}"#),
        ("since", #"{"default": {"$date":"2001-01-01 00:00:00 +0000"}, "required": ["$date"], "type": "object"}"#),
        ("bytes", #"{"default": {"$data":"AQ=="}, "required": ["$data"], "type": "object"}"#),
        ("recent", #"{"default": [], "items": {"type": "string"}, "type": "array"}"#),
        ("even", #"{"default": 2, "type": "integer"}"#),
        ("window.width", #"{"default": 800, "description": "In points.", "type": "integer"}"#),
        ("delay", #"{"default": "1.5", "type": "string"}"#),
        ("price", #"{"default": "7", "type": "string"}"#),
        ("identifier", #"{"type": "string"}"#),
        ("folder", #"{"type": "string"}"#),
        ("locale", #"{"type": "string"}"#),
        ("zone", #"{"type": "string"}"#),
        ("letter", #"{"default": "a", "type": "string"}"#),
        ("huge", #"{"default": 1, "type": ["integer", "string"]}"#),
        ("tags", #"{"default": [], "items": {"type": "string"}, "type": "array"}"#),
        ("span", #"{"default": [1, 5], "items": {"type": "integer"}, "type": "array"}"#),
        ("counts", #"{"additionalProperties": {"type": "integer"}, "default": {}, "type": "object"}"#),
        // A nil inside of a value is stored as text.
        (
            "dates",
            #"{"default": [], "items": {"anyOf": [{"required": ["$date"], "type": "object"}, {"enum": ["$null"]}]}, "type": "array"}"#
        ),
        (
            "table",
            #"{"additionalProperties": {"items": {"items": {"type": "number"}, "type": "array"}, "type": "array"}, "type": "object"}"#
        ),
        // Of a Codable type nothing is known.
        ("spots", #"{"default": []}"#),
        ("plain", #"{"default": 9, "type": "integer"}"#),
    ])
    func schemaSaysWhatTheDeclarationDoes(_ name: String, _ schema: String) throws {
        #expect(try properties(of: Whole(in: .inMemory()))[name] == schema)
    }

    @Test
    func everyPreferenceIsInTheSchemaOnce() throws {
        #expect(try properties(of: Whole(in: .inMemory())).count == 35)
    }

    @Test
    func descriptionIsTheDeclarations() throws {
        let text = try Part(in: .inMemory()).jsonSchema()
        #expect(
            text == #"""
                {"properties":{"window.width":{"default":800,"description":"In points.","type":"integer"}},"type":"object"}
                """#
        )
    }
}
