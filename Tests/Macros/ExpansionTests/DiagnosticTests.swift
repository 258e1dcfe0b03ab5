#if Macros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// The diagnostics of the macros, and the results of their fix-its.
struct DiagnosticTests {
    static let inBoth: [(String, String, String, [(String, String)])] = [
        (
            "    let volume = 5", "a preference must be a 'var', as it can be set", "let",
            [
                ("write 'var'", "    var volume = 5"),
                ("leave it out of the preferences by '@Transient'", "    @Transient let volume = 5"),
            ]
        ),
        (
            "    @Key(\"v\") let volume = 5", "a preference must be a 'var', as it can be set", "let",
            [("write 'var'", "    @Key(\"v\") var volume = 5")]
        ),
        (
            "    @Key(\"v\") var volume: Int { 5 }",
            "'@Key' can't be on a computed property, which is not a preference of its group", "@Key",
            [("remove '@Key'", "    var volume: Int { 5 }")]
        ),
        (
            "    @Key(\"v\") @Options(.range(0...1)) public var volume: Int { 5 }",
            "'@Key' and '@Options' can't be on a computed property, which is not a preference of its group", "@Key",
            [("remove '@Key' and '@Options'", "    public var volume: Int { 5 }")]
        ),
        (
            "    @Options(.range(0...1)) let volume = Preference(\"volume\", default: 5)",
            "'@Options' can't be on a 'let', which is not a preference of its group", "@Options",
            [("remove '@Options'", "    let volume = Preference(\"volume\", default: 5)")]
        ),
        (
            "    var volume: Int", "'volume' needs a default, as its type isn't written as an optional", "volume",
            [("add a default", "    var volume: Int = <#default#>")]
        ),
        (
            "    lazy var volume = 5",
            "a preference can't be lazy; its default is evaluated only when it is needed anyway", "lazy",
            [("remove 'lazy'", "    var volume = 5")]
        ),
        (
            "    public weak var object: Item?", "a preference is a stored value and can't be 'weak'", "weak",
            [("remove 'weak'", "    public var object: Item?")]
        ),
        (
            "    unowned var object: Item?", "a preference is a stored value and can't be 'unowned'",
            "unowned",
            [("remove 'unowned'", "    var object: Item?")]
        ),
        (
            "    public var first = 1, second: Int? = 2", "each preference needs a separate 'var'", "public",
            [("write a 'var' for each", "    public var first = 1\n    public var second: Int? = 2")]
        ),
        ("    var first, second: Int?", "each preference needs a separate 'var'", "var", []),
        (
            "    var (left, right) = (1, 2)",
            "a preference can't be a tuple of names; write a separate 'var' for each",
            "(left", []
        ),
        (
            "    var text: String! = \"\"",
            "a property of a group can't be unwrapped implicitly, as it may have no value",
            "String!",
            [("write 'String?'", "    var text: String? = \"\"")]
        ),
        ("    @Key(\"\") var volume = 5", "a stored name can't be empty", "\"\"", []),
        (
            "    @Key(name) var volume = 5", "a stored name must be a plain string literal, as in '@Key(\"volume\")'",
            "name", []
        ),
        (
            "    @Key(\"a\\(b)\") var volume = 5",
            "a stored name must be a plain string literal, as in '@Key(\"volume\")'",
            "\"a", []
        ),
        ("    @Key(\"a\") @Key(\"b\") var volume = 5", "a preference has one '@Key'", "@Key(\"b\")", []),
        (
            "    @Options(.range(0...1)) @Key(\"a\") @Options(.range(1...), .secret) var volume = 5",
            "a preference has one '@Options': write '@Options(.range(0...1), .range(1...), .secret)'",
            "@Options(.range(1",
            [
                (
                    "write '@Options(.range(0...1), .range(1...), .secret)'",
                    "    @Options(.range(0...1), .range(1...), .secret) @Key(\"a\") var volume = 5"
                )
            ]
        ),
        (
            "    @Transient @Key(\"b\") var volume = 5",
            "a property with '@Transient' is not stored, so it can't have a key or options",
            "@Transient", [("remove '@Key'", "    @Transient var volume = 5")]
        ),
        (
            "    @Options(.secret) @Transient var volume = 5",
            "a property with '@Transient' is not stored, so it can't have a key or options",
            "@Options", [("remove '@Options'", "    @Transient var volume = 5")]
        ),
        (
            "    @Options(.secret) var volume: Int { 5 }",
            "'@Options' can't be on a computed property, which is not a preference of its group", "@Options",
            [("remove '@Options'", "    var volume: Int { 5 }")]
        ),
    ]

    @Test(arguments: inBoth.indices, ["struct", "class"])
    func propertyIsRefused(index: Int, kind: String) throws {
        let (property, message, place, fixIts) = Self.inBoth[index]
        try Refused(property, in: kind, message, at: place, fixIts).check()
    }

    @Test(
        arguments: [
            "() -> Void", "@Sendable () -> Void", "(Int, Int)", "Any", "AnyObject", "any Codable", "some Codable",
            "Int.Type",
            "Codable & Sendable",
        ],
        ["%", "%?", "[%]", "[String: %]", "Set<%>", "Optional<%>"]
    )
    func typeCantBeStored(part: String, whole: String) throws {
        let isWrapped = part.contains("any") || part.contains("some") || part.contains("->") || part.contains("&")
        let part = whole.contains("?") && isWrapped ? "(\(part))" : part
        let type = whole.replacing("%", with: part)
        let inner =
            part.hasPrefix("((") || (part.hasPrefix("(") && isWrapped && whole.contains("?"))
            ? String(part.dropFirst().dropLast()) : part
        try Refused(
            "    var value: \(type) = initial",
            "'\(inner)' can't be stored; a preference's type is one of the basic types, an enum with raw values, 'Codable' or "
                + "'PreferenceValue'",
            at: inner,
            [("leave it out of the preferences by '@Transient'", "    @Transient var value: \(type) = initial")]
        ).check()
    }

    @Test(arguments: [("{ 1 }", "closure"), ("(1, 2)", "tuple")])
    func valueCantBeStored(value: String, kind: String) throws {
        for (group, fixIt) in [
            ("struct", "leave it out of the preferences by '@Transient'"),
            ("class", "leave a 'Sendable' value out by '@Transient'"),
        ] {
            try Refused(
                "    var value = \(value)",
                in: group,
                "a \(kind) can't be stored",
                at: value,
                [(fixIt, "    @Transient var value = \(value)")]
            ).check()
        }
    }

    @Test
    func propertyObserversAreRefused() throws {
        let text = "a preference also changes elsewhere, which 'didSet' would not notice; "
        let property = "    var volume = 5 { didSet { print(1) } }"
        try Refused(property, text + "observe it by '$volume.observe { change in … }'", at: "didSet", []).check()
        try Refused(property, in: "class", text + "observe it by '_volume.observe { change in … }'", at: "didSet", [])
            .check()
        try Refused(
            "    @Transient var volume = 5 { didSet { } }",
            in: "class",
            "'didSet' can't be on a '@Transient' property of a class, which has accessors already; track it by "
                + "'withObservationTracking', or set what depends on it in a method",
            at: "didSet",
            []
        ).check()
    }

    @Test
    func markersWithAWrapperAreRejected() throws {
        try Refused(
            "    @Key(\"a\") @Preference(\"b\") var volume = 5",
            "'@Key' can't be on a property with '@Preference', which is not a preference of its group",
            at: "@Key",
            [("remove '@Key'", "    @Preference(\"b\") var volume = 5")]
        ).check()
    }

    @Test(
        arguments: [
            (".check { (value: Int) in value > 1 }", "value: Int"), (".check { value in value > 1 }", "value in"),
            (".check { let one = 1; return $0 > one }", "one = 1"),
            (".check { $0.allSatisfy { (item) in item > 1 } }", "item)"),
            (".secret, .check(\"large\") { value in value > 1 }", "value in"),
        ]
    )
    func namesInAnOptionOfAStructAreRefused(option: String, place: String) throws {
        try Refused(
            "    @Options(\(option)) var volume = 5",
            "in a struct the closure of an option can't name its parameters or other values; write '$0', as in "
                + "'PreferenceOption<Int>.check { $0 > 1 }', or a function, as in '.check(isSmall)'",
            at: place,
            []
        ).check()
    }

    @Test
    func privateTypeInsideAnotherIsRefused() {
        expectExpansion(
            of: "enum Outer {\n    @PreferenceGroup\n    private struct Group {\n    }\n}",
            is: "enum Outer {\n    private struct Group {\n    }\n}",
            diagnostics: [
                .init(
                    message:
                        "inside another type a type with '@PreferenceGroup' can't be private, as the extension with its conformances "
                        + "couldn't name it",
                    line: 3,
                    column: 5,
                    fixIts: [.init(message: "write 'fileprivate'")]
                )
            ],
            applying: "write 'fileprivate'",
            fixed: "enum Outer {\n    @PreferenceGroup\n    fileprivate struct Group {\n    }\n}"
        )
    }

    @Test
    func secondPropertyOfAStoredNameIsRefused() {
        expectExpansion(
            of:
                "@PreferenceGroup\nstruct Group {\n    var artist = 1\n    @Key(\"artist\") var nickname = 1\n    init() {}\n}",
            is: """
                struct Group {
                    @PreferencesMacros.Preference("artist")
                    var artist = 1
                    @Key("artist")
                    @PreferencesMacros.Preference("artist") var nickname = 1
                    init() {}
                }
                """,
            conformances: false,
            diagnostics: [
                .init(
                    message:
                        "another property of this group is stored as \"artist\", too; give one of them another name by '@Key' "
                        + "(a value stored under the old name is then no longer read)",
                    line: 4,
                    column: 5
                )
            ]
        )
    }

    @Test
    func formerNameOfAnotherPropertyIsRefused() {
        expectExpansion(
            of: """
                @PreferenceGroup(prefix: "player.")
                struct Group {
                    @Options(.formerly("gain", "player.volume")) var loudness = 1
                    var volume = 1
                    init() {}
                }
                """,
            is: """
                struct Group {
                    @Options(.formerly("gain", "player.volume"))
                    @PreferencesMacros.Preference("player.loudness", .formerly("gain", "player.volume")) var loudness = 1
                    @PreferencesMacros.Preference("player.volume")
                    var volume = 1
                    init() {}
                }
                """,
            conformances: false,
            diagnostics: [
                .init(
                    message:
                        "a property of this group is stored as \"player.volume\", which is therefore not read as a former name; "
                        + "remove it from '.formerly'",
                    line: 3,
                    column: 5
                )
            ]
        )
    }

    static let written: [(String, String, String)] = [
        ("    @Preference(\"player.volume\") var volume = 5", "    var volume = 5", "write 'var volume'"),
        (
            "    @Preference(\"player.loud\") var volume = 5", "    @Key(\"loud\") var volume = 5",
            "write '@Key(\"loud\")'"
        ),
        (
            "    @ObservationIgnored @Preference(\"player.loud\", .range(0...10), .description(\"How loud\"))\n    public var volume = 5",
            "    @Key(\"loud\") @Options(.range(0...10), .description(\"How loud\")) public var volume = 5",
            "write '@Key(\"loud\") @Options(.range(0...10), .description(\"How loud\"))'"
        ),
        (
            "    /// How loud it is\n    @Preference(\"player.volume\", .secret) var volume = 5",
            "    /// How loud it is\n    @Options(.secret) var volume = 5", "write '@Options(.secret)'"
        ),
    ]

    @Test(arguments: written)
    func writtenPreferenceInAClassIsKeptByMarkers(property: String, fixed: String, fixIt: String) throws {
        try Refused(
            property,
            in: "class",
            "'@Preference' can't be in a final class with '@PreferenceGroup', which is 'Sendable'; the group makes each 'var' a "
                + "preference, with '@Key' for its name and '@Options' for its options",
            at: "@Preference",
            [(fixIt, fixed)]
        ).check(prefix: "player.")
    }

    @Test(arguments: [
        "\"volume\"", "\"player.volume\", in: store", "\"player.volume\", coding: .json",
        "\"player.volume\", description: \"Loud\"", "name",
    ])
    func writtenPreferenceThatMarkersDontSayHasNoFixIt(arguments: String) throws {
        try Refused(
            "    @Preference(\(arguments)) var volume = 5",
            in: "class",
            "'@Preference' can't be in a final class with '@PreferenceGroup', which is 'Sendable'; write 'let volume = Preference(…)' "
                + "and use its value",
            at: "@Preference",
            []
        ).check(prefix: "player.")
    }

    static let hosts: [(String, String, String, (String, String)?)] = [
        (
            "class Group {\n}", "a class with '@PreferenceGroup' must be final, as it is 'Sendable'", "Group",
            ("add 'final'", "final class Group {\n}")
        ),
        (
            "open class Group {\n}", "a class with '@PreferenceGroup' must be final, as it is 'Sendable'", "Group",
            ("add 'final'", "public final class Group {\n}")
        ),
        ("enum Group {\n}", "'@PreferenceGroup' is for a struct or a final class", "enum", nil),
        ("actor Group {\n}", "'@PreferenceGroup' is for a struct or a final class", "actor", nil),
        (
            "struct Group<Value> {\n}",
            "a type with '@PreferenceGroup' can't be generic, nor inside a generic type: all its types would share the stored names; use the types that are "
                + "stored, or declare a 'Preference' with the name and store that each of them needs", "<", nil
        ),
        (
            "nonisolated struct Group {\n}",
            "a struct with '@PreferenceGroup' is never on the main actor, and 'nonisolated' keeps it from having properties with a "
                + "wrapper", "nonisolated", ("remove 'nonisolated'", "struct Group {\n}")
        ),
    ]

    @Test(arguments: hosts.indices)
    func typeIsRefused(index: Int) throws {
        let (type, message, place, fixIt) = Self.hosts[index]
        let start = try #require(type.firstRange(of: place)?.lowerBound)
        expectExpansion(
            of: "@PreferenceGroup\n\(type)",
            is: type,
            diagnostics: [
                .init(
                    message: message,
                    line: 2,
                    column: 1 + type[..<start].count,
                    fixIts: fixIt.map { [.init(message: $0.0)] } ?? []
                )
            ],
            applying: fixIt?.0,
            fixed: fixIt.map { "@PreferenceGroup\n\($0.1)" }
        )
    }

    @Test(arguments: ["prefix", "\"a\\(b)\""])
    func prefixIsALiteral(prefix: String) {
        expectExpansion(
            of: "@PreferenceGroup(prefix: \(prefix))\nstruct Group {\n}",
            is: "struct Group {\n}",
            diagnostics: [
                .init(message: "the prefix must be a plain string literal, as in \"player.\"", line: 1, column: 26)
            ]
        )
    }
}
#endif
