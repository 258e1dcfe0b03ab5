import Preferences
import PreferencesSchema
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private enum Look: String, CaseIterable { case system, dark }
private struct Grade: RawRepresentable { var rawValue = 3 }
private struct Spot: Codable { var x = 1 }

/// A type with a raw value that defines another stored form.
private struct Paint: RawRepresentable, PreferenceValue {
    var rawValue = 7
    init() {}
    init(rawValue: Int) { self.rawValue = rawValue }
    init(storedValue: PropertyListValue) throws {}
    func storedValue() -> PropertyListValue? { "#000007" }
}

private struct Part: PreferenceGroup {
    @Preference("window.width", .description("In points.")) var width: UInt = 800
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
    @Preference("byte") var byte: UInt8 = 1
    @Preference("narrow", .range(...200)) var narrow: UInt8? = nil
    @Preference("least", .range(5...)) var least: Int16 = 5
    @Preference("signed") var signed: [Int8] = []
    @Preference("wide") var wide: UInt64 = 1
    @Preference("day", .range(Date(timeIntervalSinceReferenceDate: 0)...)) var day: Date?
    @Preference("wait", .range(...Duration.seconds(3))) var wait: Duration?
    let inner = Part()
    let plain = Preference("plain", default: 9)
}

private struct Optioned: PreferenceGroup {
    @Preference("sendReports", .title("Reports"), .section("Privacy"), .formerly("telemetry", "stats")) var reports =
        true
    @Preference("loudness", .deprecated("set volume")) var loudness = 5
    @Preference("size", .range(0...100), .range(10...), .choices([10, 20])) var size = 10
    @Preference("port", .check("must be even") { $0.isMultiple(of: 2) }, .check("must not be 80") { $0 != 80 })
    var port: Int = 8080
    @Preference("server", .required) var server: String?
    @Preference("token", .secret, .title("Token"), .formerly("key"), .deprecated("sign in"), .length(1...9))
    var token: String?
}

struct SchemaTests {
    /// Returns the text of each property of the schema.
    private func properties(of group: some PreferenceGroup) throws -> [String: String] {
        let schema = try PropertyListValue(json: try group.jsonSchema())
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
        ("window.width", #"{"default": 800, "description": "In points.", "minimum": 0, "type": "integer"}"#),
        ("delay", #"{"default": "1.5", "type": "string"}"#),
        ("price", #"{"default": "7", "type": "string"}"#),
        ("identifier", #"{"type": "string"}"#),
        ("folder", #"{"type": ["string", "object"]}"#),
        ("locale", #"{"type": "string"}"#),
        ("zone", #"{"type": "string"}"#),
        ("letter", #"{"default": "a", "type": "string"}"#),
        ("huge", #"{"default": 1, "type": ["integer", "string"]}"#),
        ("tags", #"{"default": [], "items": {"type": "string"}, "type": "array"}"#),
        ("span", #"{"default": [1, 5], "items": {"type": "integer"}, "type": "array"}"#),
        ("counts", #"{"additionalProperties": {"type": "integer"}, "default": {}, "type": "object"}"#),
        // A nested `nil` is stored as a string.
        (
            "dates",
            #"{"default": [], "items": {"anyOf": [{"required": ["$date"], "type": "object"}, {"enum": ["$null"]}]}, "type": "array"}"#
        ),
        (
            "table",
            #"{"additionalProperties": {"items": {"items": {"type": "number"}, "type": "array"}, "type": "array"}, "type": "object"}"#
        ),
        // An integer has the bounds of its type, unless its rule has narrower ones.
        ("byte", #"{"default": 1, "maximum": 255, "minimum": 0, "type": "integer"}"#),
        ("narrow", #"{"maximum": 200, "minimum": 0, "type": "integer"}"#),
        ("least", #"{"default": 5, "maximum": 32767, "minimum": 5, "type": "integer"}"#),
        (
            "signed",
            #"{"default": [], "items": {"maximum": 127, "minimum": -128, "type": "integer"}, "type": "array"}"#
        ),
        ("wide", #"{"default": 1, "minimum": 0, "type": "integer"}"#),
        // Only numbers have a range.
        ("day", #"{"required": ["$date"], "type": "object"}"#),
        ("wait", #"{"type": "string"}"#),
        // The schema of a `Codable` type is unknown.
        ("spots", #"{"default": []}"#),
        ("plain", #"{"default": 9, "type": "integer"}"#),
    ])
    func schemaMatchesTheDeclaration(_ name: String, _ schema: String) throws {
        try same(properties(of: Whole(in: .inMemory()))[name], schema)
    }

    @Test(arguments: [
        (
            "sendReports",
            #"{"default": true, "title": "Reports", "type": "boolean", "x-formerly": ["telemetry", "stats"], "x-section": "Privacy"}"#
        ),
        (
            "loudness",
            #"{"default": 5, "deprecated": true, "type": "integer", "x-deprecation": "set volume"}"#
        ),
        // The first rule of a kind, then the others.
        (
            "size",
            #"{"allOf": [{"minimum": 10}], "default": 10, "enum": [10, 20], "maximum": 100, "minimum": 0, "type": "integer"}"#
        ),
        (
            "port",
            #"{"allOf": [{"x-requirement": "must not be 80"}], "default": 8080, "type": "integer", "x-requirement": "must be even"}"#
        ),
        ("server", #"{"type": "string", "x-required": true}"#),
        (
            "token",
            #"{"deprecated": true, "title": "Token", "type": "string", "writeOnly": true, "x-deprecation": "sign in", "x-formerly": ["key"]}"#
        ),
    ])
    func schemaHasTheOptions(_ name: String, _ schema: String) throws {
        try same(properties(of: Optioned(in: .inMemory()))[name], schema)
    }

    @Test
    func everyPreferenceIsInTheSchemaOnce() throws {
        try same(properties(of: Whole(in: .inMemory())).count, 41)
    }

    @Test(arguments: Self.nativeValues)
    func storedFormsOfATypeAreAllowedByItsSchema(_ kind: [String: PropertyListValue], _ stored: [PropertyListValue]) {
        #expect(!kind.isEmpty)
        for value in stored { #expect(value.isAllowed(by: .dictionary(kind)), "\(value) by \(kind)") }
    }

    /// The schema of each native type, with stored forms of several values.
    private static let nativeValues: [([String: PropertyListValue], [PropertyListValue])] = [
        native(true, false),
        native(Int.min, -1, .max), native(Int8.min, .max), native(Int16.min, .max), native(Int32.min, .max),
        native(Int64.min, .max), native(Int128.min, 0, .max),
        native(UInt.min, .max), native(UInt8.min, .max), native(UInt16.min, .max), native(UInt32.min, .max),
        native(UInt64.min, .max), native(UInt128.min, .max),
        native(0.5, -0.0, 1e300, .infinity, .nan), native(Float(0.5), .infinity, 1),
        native("", "a", "5", "true", "$null"), native(Character("a"), "👩‍👩‍👧"),
        native(Data(), Data([1])), native(Date(timeIntervalSinceReferenceDate: 0.5), .distantFuture, .distantPast),
        native(
            ["https://example.com/a?b", "file:///a", "/a/b", "~/a", "a/b", "?c"].compactMap { URL(string: $0) }
        ),
        native(UUID(), UUID()), native(Decimal(7), Decimal(string: "0.1") ?? 0, .nan),
        native(Duration.milliseconds(-1500), .zero), native(Locale(identifier: "en_US")),
        native([TimeZone.gmt] + [3600, -5400].compactMap { TimeZone(secondsFromGMT: $0) }),
        native([] as [String], ["a", "$null"]), native([nil, 1] as [UInt8?], []), native([1, 2] as Set<Int>, []),
        native(["a": 1] as [String: Int8], [:]), native([["a": [0.5]]] as [[String: [Double]?]], [["a": nil]]),
        native(1..<5, 0..<0), native(UInt8(1)...5, 0...255),
        native([URL(string: "/a"), URL(string: "https://example.com")]),
    ]

    private static func native<Value: PreferenceValue>(
        _ values: Value...
    ) -> ([String: PropertyListValue], [PropertyListValue]) { native(values) }

    private static func native<Value: PreferenceValue>(
        _ values: [Value]
    ) -> ([String: PropertyListValue], [PropertyListValue]) {
        let kinds = values.first.map { AnyPreference(Preference("name", default: $0)).storedKind }
        do { return (kinds ?? [:], try values.compactMap { try $0.storedValue() }) } catch {
            Issue.record("\(error)")
            return ([:], [])
        }
    }

    @Test
    func descriptionIsThatOfTheDeclaration() throws {
        let text = try Part(in: .inMemory()).jsonSchema()
        same(
            text,
            #"""
            {"properties":{"window.width":{"default":800,"description":"In points.","minimum":0,"type":"integer"}},"type":"object"}
            """#
        )
    }
}

extension PropertyListValue {
    /// Returns whether a schema allows the value, by the keywords that native types use.
    fileprivate func isAllowed(by schema: PropertyListValue) -> Bool {
        guard case .dictionary(let keywords) = schema else { return false }
        if let type = keywords["type"] {
            let types = if case .array(let types) = type { types } else { [type] }
            guard types.contains(where: isOf) else { return false }
        }
        if case .array(let schemas)? = keywords["anyOf"], !schemas.contains(where: isAllowed) { return false }
        if case .array(let choices)? = keywords["enum"], !choices.contains(self) { return false }
        if let least = keywords["minimum"], isBelow(least) { return false }
        if let greatest = keywords["maximum"], greatest.isBelow(self) { return false }
        switch (self, keywords["required"]) {
        case (.data, let required): return required == ["$data"]
        case (.date, let required): return required == ["$date"]
        case (.array(let elements), _):
            return keywords["items"].map { items in elements.allSatisfy { $0.isAllowed(by: items) } } ?? true
        case (.dictionary(let members), .array(let required)?):
            guard case .dictionary(let properties)? = keywords["properties"] else { return false }
            return required.allSatisfy { if case .string(let name) = $0 { members[name] != nil } else { false } }
                && members.allSatisfy { name, member in properties[name].map(member.isAllowed) ?? false }
        case (.dictionary(let members), nil):
            return keywords["additionalProperties"].map { others in
                members.values.allSatisfy { $0.isAllowed(by: others) }
            } ?? true
        default: return true
        }
    }

    private func isOf(_ type: PropertyListValue) -> Bool {
        switch (self, type) {
        case (.boolean, "boolean"), (.integer, "integer"), (.unsigned, "integer"), (.integer, "number"),
            (.unsigned, "number"), (.real, "number"), (.string, "string"), (.data, "object"), (.date, "object"),
            (.array, "array"), (.dictionary, "object"):
            true
        default: false
        }
    }

    private func isBelow(_ other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.integer, .unsigned): true
        case (.real(let left), .integer(let right)): left < Double(right)
        case (.integer(let left), .real(let right)): Double(left) < right
        default: false
        }
    }
}
