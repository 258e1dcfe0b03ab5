#if Macros
import Testing

/// The expansions of the macros.
struct ExpansionTests {
    @Test
    func structGetsWrappers() {
        expectExpansion(
            of: """
                @PreferenceGroup(prefix: "player.")
                struct Player {
                    /// How loud it is
                    @Options(.range(0...10), .title("Volume")) var volume = 5
                    var artist: String?
                    @Key("nick") @Options(.formerly("userName")) var nickname = ""
                    @Transient var selection = 0
                    /// For the server
                    @Options(.secret) var token: String?
                    /// Not this
                    @Options(.description("This"), .check("even") { $0.isMultiple(of: 2) }) var count = 0
                    let settings = Settings()
                    static let shared = Player()
                    @Preference("written") var written = 1
                    var sum: Int { volume + 1 }
                }
                """,
            is: """
                struct Player {
                    /// How loud it is
                    @Options(.range(0...10), .title("Volume"))
                    @PreferencesMacros.Preference("player.volume", .range(0...10), .title("Volume"), .description("How loud it is")) var volume = 5
                    @PreferencesMacros.Preference("player.artist")
                    var artist: String?
                    @Key("nick") @Options(.formerly("userName"))
                    @PreferencesMacros.Preference("player.nick", .formerly("userName")) var nickname = ""
                    @Transient var selection = 0
                    /// For the server
                    @Options(.secret)
                    @PreferencesMacros.Preference("player.token", .secret, .description("For the server")) var token: String?
                    /// Not this
                    @Options(.description("This"), .check("even") { $0.isMultiple(of: 2) })
                    @PreferencesMacros.Preference("player.count", .description("This"), .check("even") { $0.isMultiple(of: 2) }) var count = 0
                    let settings = Settings()
                    static let shared = Player()
                    @Preference("written") var written = 1
                    var sum: Int { volume + 1 }

                    /// Creates the group over the store that is bound now: the standard one, unless `init(in:)` binds another.
                    nonisolated init() {}
                }

                extension Player: PreferencesMacros.PreferenceGroup {}
                """
        )
    }

    @Test
    func classGetsAMacroForEachProperty() {
        expectExpansion(
            of: """
                @PreferenceGroup
                public final class Settings {
                    /// How loud
                    @Options(.range(0...10)) public private(set) var volume = 5
                    var artist: String?
                    /// Not this
                    @Options(.description("For the server"), .secret) var token = ""
                    @Transient var selection = 0
                    @Transient let constant = 0
                }
                """,
            is: """
                public final class Settings {
                    /// How loud
                    @Options(.range(0...10))
                    @PreferencesMacros._PreferenceProperty("volume", description: "How loud") public private(set) var volume = 5
                    @PreferencesMacros._PreferenceProperty("artist")
                    var artist: String?
                    /// Not this
                    @Options(.description("For the server"), .secret)
                    @PreferencesMacros._PreferenceProperty("token") var token = ""
                    @Transient
                    @PreferencesMacros._TransientProperty var selection = 0
                    @Transient let constant = 0

                    /// Creates the group over the store that is bound now: the standard one, unless `init(in:)` binds another.
                    public nonisolated init() {}
                }

                extension Settings: PreferencesMacros.PreferenceGroup {}

                extension Settings: nonisolated PreferencesMacros.Observable {}
                """
        )
    }

    @Test
    func propertyOfAClassGetsAPreferenceAndAccessors() {
        expectExpansion(
            of: """
                final class Settings {
                    @_PreferenceProperty("loud", description: "How loud") @Options(.range(0...10), .secret) public private(set) var volume = 5
                    @_PreferenceProperty("artist") var `default`: String?
                    @_TransientProperty var selection: Set<Int> = []
                    @_TransientProperty var found: Int?
                }
                """,
            is: """
                final class Settings {
                    @Options(.range(0...10), .secret) public private(set) var volume {
                    get { _volume.value }
                    set { _volume.value = newValue }
                    }

                    /// The preference of `volume`.
                    public nonisolated let _volume = PreferencesMacros.Preference("loud", default: 5, .range(0...10), .secret, .description("How loud"))
                    var `default`: String? {
                    get { _default.value }
                    set { _default.value = newValue }
                    }

                    /// The preference of `default`.
                    nonisolated let _default = PreferencesMacros.Preference<String?>("artist")
                    var selection: Set<Int> {
                    get { _selection.value }
                    set { _selection.value = newValue }
                    }

                    nonisolated let _selection = PreferencesMacros._TransientValue<Set<Int>>([])
                    var found: Int? {
                    get { _found.value }
                    set { _found.value = newValue }
                    }

                    nonisolated let _found = PreferencesMacros._TransientValue<Int?>(nil)
                }
                """
        )
    }

    @Test(
        arguments: [
            ("/// One\n/// line", "One line"),
            ("/// First.\n///\n/// Second.", "First."),
            ("/// First.\n\n/// Second.", "Second."),
            ("/// First.\n// A comment\n/// Second.", "Second."),
            ("/** In a block */", "In a block"),
            ("/**\n * In a\n * block\n *\n * and more\n */", "In a block"),
            ("/**\r\n * In a\r\n * block\r\n *\r\n * and more\r\n */", "In a block"),
            ("///   Trimmed  ", "Trimmed"),
            ("/// First.\n/// - Note: Not this.", "First."),
        ]
    )
    func documentationBecomesTheDescription(comment: String, description: String) {
        expectDescription(comment, "\"\(description)\"")
    }

    @Test
    func descriptionsAreQuoted() {
        expectDescription("/// A \"loud\" \\(one)", "#\"A \"loud\" \\(one)\"#")
    }

    @Test(arguments: ["// A comment", "///", ""])
    func withoutDocumentationThereIsNoDescription(comment: String) {
        expectDescription(comment, nil)
    }

    private func expectDescription(_ comment: String, _ literal: String?) {
        let arguments = ["\"volume\"", literal.map { ".description(\($0))" }].compactMap { $0 }.joined(separator: ", ")
        let lines = comment.isEmpty ? "" : comment + "\n"
        expectExpansion(
            of: "@PreferenceGroup\nstruct Player {\n\(lines)@objc var volume = 5\ninit() {}\n}",
            is:
                "struct Player {\n\(lines)@objc\n@PreferencesMacros.Preference(\(arguments)) var volume = 5\ninit() {}\n}",
            conformances: false
        )
    }

    @Test(
        arguments: [
            ("public struct", "public "), ("package struct", "package "), ("struct", ""), ("private struct", ""),
            ("internal struct", ""),
        ]
    )
    func initializerIsAsVisibleAsTheType(type: String, access: String) {
        expectExpansion(
            of: "@PreferenceGroup\n\(type) Player {\n}",
            is: """
                \(type) Player {

                    /// Creates the group over the store that is bound now: the standard one, unless `init(in:)` binds another.
                    \(access)nonisolated init() {}
                }
                """,
            conformances: false
        )
    }

    @Test(arguments: ["init() {}", "public init() {}", "#if DEBUG\n    init() {}\n    #endif"])
    func writtenInitializerStays(initializer: String) {
        expectExpansion(
            of: "@PreferenceGroup\nstruct Player {\n    \(initializer)\n}",
            is: "struct Player {\n    \(initializer)\n}",
            conformances: false
        )
    }

    @Test
    func extensionsAccessIsTheTypes() {
        expectExpansion(
            of: "public extension Prefs {\n    @PreferenceGroup\n    struct Player {\n    }\n}",
            is: """
                public extension Prefs {
                    struct Player {

                        /// Creates the group over the store that is bound now: the standard one, unless `init(in:)` binds another.
                        public nonisolated init() {}
                    }
                }
                """,
            conformances: false
        )
    }

    @Test
    func conformanceThatIsWrittenIsNotAdded() {
        expectExpansion(
            of: "@PreferenceGroup\nstruct Player: PreferenceGroup {\n    init() {}\n}",
            is: "struct Player: PreferenceGroup {\n    init() {}\n}",
            conformances: false
        )
    }
}
#endif
