import Preferences
import PreferencesInspection
import PreferencesSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A schema in the formats of other tools.
struct SchemaExport {
    private let schema: Schema
    /// The name of the suite.
    private let suite: String
    /// The preferences by sections, in the order of their names; those without a section come first.
    private let sections: [(title: String?, preferences: [Preference])]

    private struct Preference {
        let name: String
        let property: Schema.Property

        var title: String { property.title ?? name }
    }

    /// A text, and the names that the format can't represent.
    typealias Export = (text: String, leftOut: [String])

    init(_ schema: Schema, suite: String) {
        self.schema = schema
        self.suite = suite
        let all = schema.properties.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { Preference(name: $0.key, property: $0.value) }
        var titles: [String?] = []
        for title in all.map(\.property.section).sorted(by: { $0 ?? "" < $1 ?? "" }) where !titles.contains(title) {
            titles.append(title)
        }
        sections = titles.map { title in (title: title, preferences: all.filter { $0.property.section == title }) }
    }

    // MARK: Markdown

    /// Returns a table for each section.
    func markdown() throws -> Export {
        var text = "# \(Self.markdown(suite))\n"
        for section in sections {
            if let title = section.title { text += "\n## \(Self.markdown(title))\n" }
            text += "\n| name | type | default | allowed | description |\n|---|---|---|---|---|\n"
            for preference in section.preferences {
                let property = preference.property
                let cells: [String?] = [
                    Self.code(preference.name), Self.markdown(property.type ?? "any"),
                    try property.defaultValue.map { Self.code(try ValueText.json($0)) },
                    try property.allowed().map { Self.markdown($0) },
                    Self.summary(of: property).map { Self.markdown($0) },
                ]
                text += "| \(cells.map { $0 ?? "" }.joined(separator: " | ")) |\n"
            }
        }
        return (text, [])
    }

    /// Returns the title, the description and the notes on one line; `nil` if there are none.
    private static func summary(of property: Schema.Property) -> String? {
        var texts = [property.title, property.description].compactMap(\.self)
        if property.isRequired { texts.append("Required.") }
        if property.isSecret { texts.append("Secret.") }
        if let deprecation = property.deprecation { texts.append(note(of: deprecation)) }
        return texts.isEmpty ? nil : texts.map { ValueText.line($0) }.joined(separator: " · ")
    }

    private static func note(of deprecation: String) -> String {
        deprecation.isEmpty ? "Deprecated." : "Deprecated: \(deprecation)"
    }

    /// Returns text in which no character is markup.
    private static func markdown(_ text: String) -> String {
        line(text).map { "\\`*_{}[]<>#|~&".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }

    /// Returns a code span; a bar would end the cell, also in code.
    private static func code(_ text: String) -> String {
        let runs = text.split { $0 != "`" }.map(\.count)
        let fence = String(repeating: "`", count: (runs.max() ?? 0) + 1)
        let space = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
        return fence + space + line(text).replacing("|", with: "\\|") + space + fence
    }

    /// Returns text for one line, with each character that could change the display of the text around it escaped.
    private static func line(_ text: String) -> String { PreferenceText.printable(ValueText.line(text)) }

    // MARK: Settings of iOS

    /// Returns the `Root.plist` of a `Settings.bundle`: a control for each preference that has one.
    func rootPlist() throws -> Export {
        var specifiers: [PropertyListValue] = []
        var leftOut: [String] = []
        for section in sections {
            let title = PropertyListValue.string(section.title ?? "")
            let controls = try section.preferences.map { preference in
                let control = try Self.control(preference).flatMap {
                    PropertyListXML.hasForm(of: [title, .dictionary($0)]) ? $0 : nil
                }
                return (preference.name, control)
            }
            leftOut += controls.filter { $0.1 == nil }.map { $0.0 }
            let shown = controls.compactMap { $0.1 }
            let isSlider = { (control: [String: PropertyListValue]) in control["Type"] == "PSSliderSpecifier" }
            let others = shown.filter { !isSlider($0) }
            if !others.isEmpty { specifiers.append(Self.group(section.title)) }
            specifiers += others.map { .dictionary($0) }
            // iOS shows no title beside a slider, so that of its group stands for it.
            for var slider in shown where isSlider(slider) {
                let titles = [section.title, slider.removeValue(forKey: "Title").map(Self.label)].compactMap(\.self)
                specifiers += [Self.group(titles.joined(separator: ": ")), .dictionary(slider)]
            }
        }
        let text = try PropertyListXML.text(of: ["PreferenceSpecifiers": .array(specifiers), "StringsTable": "Root"])
        return (text, leftOut)
    }

    private static func group(_ title: String?) -> PropertyListValue {
        var group: [String: PropertyListValue] = ["Type": "PSGroupSpecifier"]
        group["Title"] = title.map { .string($0) }
        return .dictionary(group)
    }

    /// Returns the control of a preference; `nil` if there is none: each but a text field needs a default, a secret doesn't belong into user
    /// defaults, a text field would store a number as text, and a slider an integer with a fraction.
    private static func control(_ preference: Preference) throws -> [String: PropertyListValue]? {
        let property = preference.property
        guard !property.isSecret else { return nil }
        var members: [String: PropertyListValue] = [
            "Key": .string(preference.name), "Title": .string(preference.title),
        ]
        members["DefaultValue"] = property.defaultValue
        let choices = try property.allowedValues(among: property.choices ?? integers(of: property) ?? [])
        switch (property.types, property.defaultValue) {
        case (_, let value?) where choices.contains(value):
            members["Values"] = .array(choices)
            members["Titles"] = .array(choices.map { .string(label($0)) })
            members["Type"] = "PSMultiValueSpecifier"
        case (["boolean"], .some): members["Type"] = "PSToggleSwitchSpecifier"
        case (["number"], .some):
            guard let minimum = property.minimum, let maximum = property.maximum else { return nil }
            members["MinimumValue"] = minimum
            members["MaximumValue"] = maximum
            members["Type"] = "PSSliderSpecifier"
        case (["string"], _) where property.choices == nil: members["Type"] = "PSTextFieldSpecifier"
        default: return nil
        }
        return members
    }

    /// Returns the integers of a short range.
    private static func integers(of property: Schema.Property) -> [PropertyListValue]? {
        guard property.types == ["integer"], case .integer(let minimum)? = property.minimum,
            case .integer(let maximum)? = property.maximum, minimum <= maximum
        else { return nil }
        let (distance, isTooLarge) = maximum.subtractingReportingOverflow(minimum)
        guard !isTooLarge, distance < 50 else { return nil }
        return (minimum...maximum).map { .integer($0) }
    }

    private static func label(_ value: PropertyListValue) -> String {
        if case .string(let text) = value { text } else { value.description }
    }

    // MARK: Manifest of managed preferences

    /// Returns a manifest of managed preferences of macOS, as tools for device management read it.
    func manifest() throws -> Export {
        var leftOut: [String] = []
        var subkeys: [PropertyListValue] = []
        for preference in sections.flatMap(\.preferences) {
            guard var key = try Self.managedKey(preference.property, preference.name, &leftOut) else { continue }
            key["pfm_name"] = .string(preference.name)
            key["pfm_title"] = .string(preference.title)
            guard PropertyListXML.hasForm(of: .dictionary(key)) else {
                leftOut.append(preference.name)
                continue
            }
            subkeys.append(.dictionary(key))
        }
        let text = try PropertyListXML.text(of: [
            "pfm_domain": .string(suite), "pfm_title": .string(suite),
            "pfm_description": .string("Preferences of \(suite)"),
            "pfm_format_version": 1, "pfm_version": 1, "pfm_last_modified": .date(try modificationDate()),
            "pfm_platforms": ["macOS"], "pfm_targets": ["system", "user"], "pfm_unique": true,
            "pfm_subkeys": .array(payloadKeys + subkeys),
        ])
        return (text, leftOut)
    }

    /// The keys that every payload of a profile has.
    private var payloadKeys: [PropertyListValue] {
        let suite = PropertyListValue.string(suite)
        let keys: [(name: String, title: String, type: String, value: PropertyListValue?)] = [
            ("PayloadDisplayName", "Payload Display Name", "string", suite),
            ("PayloadIdentifier", "Payload Identifier", "string", suite),
            ("PayloadType", "Payload Type", "string", suite), ("PayloadUUID", "Payload UUID", "string", nil),
            ("PayloadVersion", "Payload Version", "integer", 1),
        ]
        return keys.map { name, title, type, value in
            var key: [String: PropertyListValue] = ["pfm_default": value].compactMapValues(\.self)
            key["pfm_name"] = .string(name)
            key["pfm_title"] = .string(title)
            key["pfm_type"] = .string(type)
            key["pfm_require"] = "always"
            return .dictionary(key)
        }
    }

    /// Returns when the schema was written.
    private func modificationDate() throws -> Date {
        var status = stat()
        guard stat(schema.path, &status) == 0 else { throw Failure("read", schema.path, errno: errno) }
        return Date(timeIntervalSince1970: Double(status.times.written.tv_sec))
    }

    /// Returns the keywords of a value; `nil` if it may be of several types, of which a manifest has one. Adds the dotted names of the
    /// value, members and elements that have none.
    private static func managedKey(
        _ property: Schema.Property,
        _ name: String,
        _ leftOut: inout [String]
    ) throws -> [String: PropertyListValue]? {
        let types = [
            "boolean": "boolean", "integer": "integer", "number": "real", "string": "string", "array": "array",
            "object": "dictionary", "data": "data", "date": "date",
        ]
        guard property.types.count == 1, let type = property.types.first.flatMap({ types[$0] }) else {
            leftOut.append(name)
            return nil
        }
        // A whole number is written without a fraction, and would be an integer of the manifest.
        let number = { (value: PropertyListValue) -> PropertyListValue in
            switch value {
            case .integer(let value) where type == "real": .real(Double(value))
            case .unsigned(let value) where type == "real": .real(Double(value))
            default: value
            }
        }
        var key: [String: PropertyListValue] = ["pfm_type": .string(type)]
        key["pfm_default"] = property.defaultValue.map(number)
        key["pfm_description"] = property.description.map { .string($0) }
        key["pfm_range_list"] = try property.choices.map { .array(try property.allowedValues(among: $0).map(number)) }
        if property.isRequired { key["pfm_require"] = "always" }
        if let deprecation = property.deprecation { key["pfm_note"] = .string(Self.note(of: deprecation)) }
        if property.isSecret {
            key["pfm_sensitive"] = true
            if type == "array" || type == "dictionary" { key["pfm_subkeys"] = [] }
            return key
        }
        key["pfm_range_min"] = property.minimum.map(number)
        key["pfm_range_max"] = property.maximum.map(number)
        if type == "array" {
            let element = try property.items.flatMap { try managedKey($0, "\(name).*", &leftOut) }
            key["pfm_subkeys"] = .array(element.map { [PropertyListValue.dictionary($0)] } ?? [])
        }
        if type == "dictionary" {
            var members: [PropertyListValue] = []
            for (member, property) in property.properties.sorted(by: {
                $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
            }) {
                guard var key = try managedKey(property, "\(name).\(member)", &leftOut) else { continue }
                key["pfm_name"] = .string(member)
                members.append(.dictionary(key))
            }
            key["pfm_subkeys"] = .array(members)
        }
        return key
    }

    // MARK: Template

    /// Returns a settings file, JSON with comments, in which each preference stands with its default, as a comment: one without a default
    /// with an example, or with null if only the program knows one.
    func template() throws -> Export {
        var text = "{\n  // Remove the slashes before a name to set its value.\n"
        text += "  \"$schema\": \(try ValueText.json(.string(Self.fileURL(InputFile.realPath(schema.path))))),\n"
        for section in sections {
            if let title = section.title { text += "\n  // --- \(Self.line(title)) ---\n" }
            for preference in section.preferences where !preference.property.isSecret {
                let property = preference.property
                let type = try [property.type, property.allowed()].compactMap(\.self).joined(separator: ", ")
                let value = try property.defaultValue ?? Self.example(of: property)
                let member = try ValueText.member(preference.name, value)
                text += "\n"
                for comment in [Self.summary(of: property), type.isEmpty ? nil : type].compactMap(\.self) {
                    text += "  // \(Self.line(comment))\n"
                }
                // In JSON, too, a character may be escaped.
                text += "  // \(Self.line(member)),\n"
            }
        }
        let secrets = sections.flatMap(\.preferences).filter(\.property.isSecret).map(\.name)
        return (text + "}\n", secrets)
    }

    /// Returns a value that the schema allows; `nil` if only the program knows one, as a text may stand for something else, such as a URL.
    private static func example(of property: Schema.Property) throws -> PropertyListValue? {
        let example: PropertyListValue? =
            switch property.types.first {
            case "boolean": false
            case "integer", "number": property.minimum ?? 0
            case "array": []
            case "object": [:]
            case "data": try PropertyListValue(json: #"{"$data":""}"#)
            case "date": try PropertyListValue(json: #"{"$date":"2026-11-20T22:00:00Z"}"#)
            case "string" where property.lengths != (nil, nil):
                .string(String(repeating: "x", count: min(max(property.lengths.least ?? 0, 0), 64)))
            default: nil
            }
        return try property.allowedValues(among: property.choices ?? [example].compactMap(\.self)).first
    }

    private static func fileURL(_ path: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
        let digits = Array("0123456789ABCDEF")
        return "file://"
            + path.utf8.map { byte in
                plain.contains(byte)
                    ? String(Character(Unicode.Scalar(byte))) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }.joined()
    }

    // MARK: JSON Schema

    /// Returns the JSON Schema of a file of values, for editors and checkers: other names aren't allowed, former names are deprecated.
    func jsonSchema() throws -> Export {
        var keywords = schema.all.isSecret ? Self.harmless(schema.all.keywords) : schema.all.keywords
        var properties: [String: PropertyListValue] = [:]
        for (name, property) in schema.properties {
            let keywords = Self.keywords(of: property)
            properties[name] = .dictionary(keywords)
            let renamed: [String: PropertyListValue] = ["deprecated": true, "x-deprecation": .string("use \(name)")]
            for former in property.formerNames where schema.properties[former] == nil {
                properties[former] = .dictionary(keywords.filter { $0.key != "x-formerly" }.merging(renamed) { $1 })
            }
        }
        keywords["properties"] = .dictionary(properties)
        keywords["type"] = "object"
        keywords["title"] = keywords["title"] ?? .string(suite)
        keywords["additionalProperties"] = false
        // The names that the library itself keeps, and keywords such as $schema.
        keywords["patternProperties"] = ["^\\$[^$]": [:], "^preferences\\.": [:]]
        // The writer would escape the dollar sign, as in a name.
        let text = try ValueText.pretty(.dictionary(keywords)).dropFirst()
        return ("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\"," + text + "\n", [])
    }

    /// Returns the keywords of a preference; for a secret those that can't reveal a part of its value.
    private static func keywords(of property: Schema.Property) -> [String: PropertyListValue] {
        guard property.isSecret else { return property.keywords }
        return harmless(property.keywords).merging(["writeOnly": true]) { $1 }
    }

    private static func harmless(_ keywords: [String: PropertyListValue]) -> [String: PropertyListValue] {
        let names = [
            "type", "title", "description", "deprecated", "x-section", "x-deprecation", "x-formerly", "x-required",
        ]
        return keywords.filter { names.contains($0.key) }
    }
}
