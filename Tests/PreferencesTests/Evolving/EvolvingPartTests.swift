import Foundation
import TestSupport
import Testing

@testable import Preferences

// Values that open containers in themselves, or are stored in another coding's form.

private struct Nested: Codable, Equatable {
    var name = "n"
    var x = 2, y = 3
    var list = [4, 5]
    var optional: Int? = 9

    enum CodingKeys: CodingKey { case name, position, list, optional }
    enum PositionKeys: CodingKey { case x, y }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        let position = try container.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
        x = try position.decode(Int.self, forKey: .x)
        y = try position.decode(Int.self, forKey: .y)
        var elements = try container.nestedUnkeyedContainer(forKey: .list)
        list = []
        while !elements.isAtEnd { list.append(try elements.decode(Int.self)) }
        optional = try container.decodeNil(forKey: .optional) ? nil : container.decode(Int.self, forKey: .optional)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        var position = container.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
        try position.encode(x, forKey: .x)
        try position.encode(y, forKey: .y)
        var elements = container.nestedUnkeyedContainer(forKey: .list)
        for element in list { try elements.encode(element) }
        if let optional {
            try container.encode(optional, forKey: .optional)
        } else {
            try container.encodeNil(forKey: .optional)
        }
    }
}

private struct Marked: Codable, Equatable { var items: ContiguousArray<Evolving.Item> = [] }

private struct Event: Codable, Equatable {
    var number = 1
    var time = Date(timeIntervalSinceReferenceDate: 5)
    var bytes = Data([1, 2])
}

struct EvolvingPartTests {
    private func preference<Value: Codable & Sendable>(
        _ text: String,
        _ defaultValue: Value,
        isJSON: Bool
    ) throws -> (Preference<Value>, Recorder<PreferenceError>) {
        let tree = try JSONTree(text: Data(text.utf8)).value
        let stored = isJSON ? .data(Data(text.utf8)) : try CodedForm.propertyList.form(of: tree, like: tree)
        let (store, issues) = Evolving.recorded(["value": stored])
        return (Preference("value", default: defaultValue, coding: isJSON ? .json : .propertyList, in: store), issues)
    }

    private func members(_ preference: Preference<some Any>) -> PropertyListValue? {
        preference.storedValue.flatMap { CodedForm.json(.standard).tree(of: $0) }
    }

    @Test(arguments: [false, true])
    func membersOfContainersThatATypeOpensItselfAreFilled(isJSON: Bool) throws {
        let (preference, issues) = try preference(
            #"{"name": "old", "position": {"x": 20, "z": 1}}"#,
            Nested(),
            isJSON: isJSON
        )
        var expected = Nested()
        (expected.name, expected.x) = ("old", 20)
        same(preference.value, expected)
        preference.value.y = 30
        same(preference.value.y, 30)
        same(members(preference)?[member: "position"], ["x": 20, "y": 30, "z": 1])
        #expect(issues.elements.isEmpty)
    }

    @Test(arguments: [false, true])
    func aMissingContainerIsTheDefaults(isJSON: Bool) throws {
        let (preference, issues) = try preference(#"{"name": "old"}"#, Nested(), isJSON: isJSON)
        var expected = Nested()
        expected.name = "old"
        same(preference.value, expected)
        #expect(issues.elements.isEmpty)
    }

    @Test(arguments: [false, true])
    func containersThatCantBeOpenedAreTheDefaults(isJSON: Bool) throws {
        let text = #"{"name": "old", "position": 5, "list": ["a"], "optional": "b"}"#
        let (preference, issues) = try preference(text, Nested(), isJSON: isJSON)
        var expected = Nested()
        expected.name = "old"
        same(preference.value, expected)
        same(issues.elements.map(\.codingPath), [["position"], ["list"], ["optional"]])
        preference.value.name = "new"
        let stored = members(preference)
        same(stored?[member: "position"], 5)
        same(stored?[member: "list"], ["a"])
        same(stored?[member: "optional"], "b")
    }

    @Test(arguments: [false, true])
    func aStoredNilIsNoMissingMember(isJSON: Bool) throws {
        let text = isJSON ? #"{"name": "old", "optional": null}"# : #"{"name": "old", "optional": "$null"}"#
        let (preference, _) = try preference(text, Nested(), isJSON: isJSON)
        #expect(preference.value.name == "old" && preference.value.optional == nil)
    }

    @Test(arguments: [false, true], [#"{"second": 7}"#, #"{"second": 7, "super": "text"}"#])
    func aSuperclassIsTheDefaults(isJSON: Bool, text: String) throws {
        let initial = Evolving.Derived()
        initial.first = 11
        let (preference, issues) = try preference(text, initial, isJSON: isJSON)
        same(preference.value.first, 11)
        same(preference.value.second, 7)
        same(issues.elements.map(\.codingPath), text.contains("text") ? [["super"]] : [])
    }

    @Test(arguments: [false, true])
    func elementsThatATypeDecodesItselfHaveTheirOwnDefaults(isJSON: Bool) throws {
        let (preference, issues) = try preference(#"{"items": [{"id": 1, "color": "red"}]}"#, Marked(), isJSON: isJSON)
        same(preference.value.items.map(\.title), ["untitled"])
        preference.value.items[0].title = "new"
        same(members(preference)?[member: "items"], [["id": 1, "title": "new", "tools": [], "color": "red"]])
        #expect(issues.elements.isEmpty)
    }

    // MARK: Another coding's form

    @Test
    func membersOfATextAreFilledForNestedValues() {
        let (store, issues) = Evolving.recorded(["value": .string(#"{"number": 5, "unknown": 7}"#)])
        let preference = Preference("value", default: Event(), in: store)
        same(preference.value.number, 5)
        preference.value.number = 6
        same(preference.storedValue?[member: "number"], 6)
        same(preference.storedValue?[member: "unknown"], 7)
        #expect(issues.elements.isEmpty)
    }

    @Test
    func nestedValuesBecomeATextWithoutLosingDatesAndData() {
        let date = PropertyListValue.date(Date(timeIntervalSinceReferenceDate: 77))
        let stored: PropertyListValue = [
            "number": 5, "time": date,
            "unknown": ["time": date, "bytes": .data(Data("12".utf8)), "none": .data(Data())],
        ]
        let (store, issues) = Evolving.recorded(["value": stored])
        let preference = Preference("value", default: Event(), coding: .json, in: store)
        same(preference.value.time, Date(timeIntervalSinceReferenceDate: 77))
        same(preference.value.bytes, Data([1, 2]))
        preference.value.number = 6
        same(
            members(preference),
            [
                "number": 6, "time": 77, "bytes": "AQI=", "unknown": ["time": 77, "bytes": "MTI=", "none": ""],
            ]
        )
        #expect(issues.elements.isEmpty)
    }
}
