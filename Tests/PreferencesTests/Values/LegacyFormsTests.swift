import Foundation
import Preferences
import TestSupport
import Testing

/// Tests that a declaration reads the forms that other libraries store, which were derived from their sources.
struct LegacyFormsTests {
    private enum Look: String, Codable, Sendable { case light, dark }
    private enum Plain: String, Sendable { case light, dark }

    private struct Profile: Codable, Equatable, Sendable {
        var name: String
        var born: Date
        var site: URL?
    }

    private let profile = Profile(
        name: "Ada",
        born: Date(timeIntervalSinceReferenceDate: 700_000_000.5),
        site: URL(string: "https://example.com/a?b=c#d")
    )
    private static let json = #"{"name":"Ada","born":700000000.5,"site":"https:\/\/example.com\/a?b=c#d"}"#

    /// A `Codable` value as JSON in data (CodableStorage, PDefaults, @ComplexUserDefault, the modular repository), as JSON in a string
    /// (sindresorhus/Defaults, AppStorage with RawRepresentable), and as a property list (PropertyListEncoder, or by hand).
    @Test(
        arguments: [
            .data(Data(json.utf8)), .string(json),
            [
                "name": "Ada", "born": .date(Date(timeIntervalSinceReferenceDate: 700_000_000.5)),
                "site": "https://example.com/a?b=c#d",
            ],
        ] as [PropertyListValue]
    )
    func codableValueIsRead(stored: PropertyListValue) throws {
        let store = PreferenceStore.inMemory(["profile": stored])
        try same(Preference<Profile?>("profile", in: store).read(), profile)
        try same(Preference<Profile?>("profile", coding: .json, in: store).read(), profile)
        try same(Preference<Profile?>("profile", coding: .jsonString, in: store).read(), profile)
    }

    /// sindresorhus/Defaults stores an array of `Codable` values as an array of JSON texts.
    @Test
    func arrayOfTextsIsRead() throws {
        let store = PreferenceStore.inMemory(["profiles": [.string(Self.json), .string(Self.json)]])
        try same(Preference<[Profile]?>("profiles", in: store).read(), [profile, profile])
    }

    /// An enum as its raw value, or as JSON text with quotes, as sindresorhus/Defaults stores an enum that is also `Codable`.
    @Test(arguments: ["dark", "\"dark\""])
    func enumIsRead(text: String) throws {
        let store = PreferenceStore.inMemory(["look": .string(text), "data": .data(Data("\"dark\"".utf8))])
        try same(Preference<Look?>("look", in: store).read(), .dark)
        try same(Preference<Plain?>("look", in: store).read(), .dark)
        try same(Preference<Look?>("data", in: store).read(), .dark)
    }

    /// A URL as text, and as JSON text with escaped slashes.
    @Test(arguments: ["https://example.com/a?b=c#d", #""https:\/\/example.com\/a?b=c#d""#])
    func urlIsRead(text: String) throws {
        let store = PreferenceStore.inMemory(["site": .string(text)])
        try same(Preference<URL?>("site", in: store).read()?.absoluteString, "https://example.com/a?b=c#d")
    }

    /// A dictionary of JSON texts, and a set as an array.
    @Test
    func collectionsAreRead() throws {
        let store = PreferenceStore.inMemory(["byYear": ["1815": .string(Self.json)], "tags": ["a", "b"]])
        try same(Preference<[Int: Profile]?>("byYear", in: store).read(), [1815: profile])
        try same(Preference<Set<String>?>("tags", in: store).read(), ["a", "b"])
    }

    /// The declared coding determines the written form, so that the other library can still read it.
    @Test
    func setWritesTheFormThatIsDeclared() throws {
        let store = PreferenceStore.inMemory(["profile": .data(Data(Self.json.utf8))])
        try Preference<Profile?>("profile", coding: .json, in: store).write(profile)
        guard case .data = store["profile"] else {
            Issue.record("a JSON coding still writes data")
            return
        }
        try Preference<Profile?>("profile", coding: .jsonString, in: store).write(profile)
        guard case .string = store["profile"] else {
            Issue.record("a JSON text coding writes text")
            return
        }
        try Preference<Profile?>("profile", in: store).write(profile)
        guard case .dictionary = store["profile"] else {
            Issue.record("without a coding it is stored as nested values")
            return
        }
    }
}
