// swiftc: -package-name client
import PreferencesMacros

enum Preferences {}  // Hides the module of the same name, which the expansions therefore must not name.

enum Theme: String { case system, dark }
struct Frame: Codable { var x = 0, y = 0 }

@PreferenceGroup(prefix: "player.")
struct Player {
    /// How loud it is
    @Rule(.range(0...10)) var volume = 5
    var artist: String?
    @Key("nick", migratingFrom: "player.nickName", "userName") var nickname = ""
    @Rule(.choices([Theme.dark])) var theme: Theme = .system
    @Rule(.length(1...8)) var names: [String] = []
    @Rule(.check { $0 != 80 }) var port = 1
    @Rule(.check { !$0.isEmpty }) var title = "Untitled"
    @Rule(PreferenceRule<Theme>.choices([.dark])) var other = Theme.system
    var frame = Frame()
    var frames: [String: Frame] = [:]
    var optional: Optional<Int>
    var computed: Int { 3 }
    let settings = Settings()
    let launches = Preference("launches", default: 0)
    @Preference("written", .range(0...1), .description("As written"), in: .suite("com.example")) var written = 0.5
    static let shared = Player()
    @Secret var token: String?
    @Key("c") @Secret @Rule(.range(0...9999)) var code = 1
    @Preference("secret", .secret) var secret = ""
    @Transient var selection = 0
    @Transient let constant = 1
    var `default` = 3
    var größe = 1.5
    @available(*, deprecated) var old = 1
    #if os(Linux)
    @Key("linux", migratingFrom: "l") var platform: Int? = 3
    #else
    var platform: Int?
    #endif
}

@PreferenceGroup
final class Settings {
    /// The theme
    var theme = Theme.system
    @Rule(.range(1...4)) var columns = 2
    @Rule(.length(1...8)) var artist: String?
    @Rule(.choices([Theme.dark])) var other: Theme? = nil
    @Key("nick", migratingFrom: "nickName") var nickname = ""
    var frame: Frame? = nil
    var frames: [String: Frame] = [:]
    var opacity = 1.0
    var optional: Optional<Int>
    var computed: Int { columns + 1 }
    let player = Preference("count", default: 0)
    static let shared = Settings()
    @Secret var token: String?
    @Secret @Rule(.length(1...8)) var code = ""
    @Transient var selection: Set<Int> = []
    @Transient var found: String?
    @Transient let constant = 1
    var `default` = 3
    private(set) var größe = 1.5
    @available(*, deprecated) var old = 1
    #if os(Linux)
    var platform: Int? = 3
    #else
    var platform: Int?
    #endif
}

enum Prefs {}

extension Prefs {
    /// A struct.
    @PreferenceGroup
    public struct Open {
        /// A number.
        public var count = 0
        package var shared = 0
        private var hidden = 0
    }

    /// A class.
    @PreferenceGroup
    public final class OpenObject {
        /// A number.
        public var count = 0
        /// A number that clients can only read.
        public private(set) var readable = 0
        package var shared = 0
        private var hidden = 0

        /// Sets a number.
        public func hide() {
            hidden += shared
            readable = hidden
        }
    }

    @PreferenceGroup
    package final class Shared {
        package var count = 0
    }
}

/// A type with nested types.
public struct Outer {
    @PreferenceGroup
    fileprivate struct Hidden {
        private var count = 0
    }

    @PreferenceGroup
    fileprivate final class HiddenObject {
        var count = 0
        init() { count = 0 }
    }
}

@PreferenceGroup
struct Conforming: PreferenceGroup {
    var count = 0
    init() {}
}

@PreferenceGroup
final class Multiline {
    var text = """
        Two
          lines
        """
    @Rule(
        .check { (list: [Int]) in
            // One statement, and a comment.
            let sum = list.reduce(0, +)
            return sum < 100  // at most
        }
    )
    var list = [
        1,  // the first
        2,
    ]
    var made = { () -> Int in
        let one = 1
        return one
    }()
    var negative = -1
}

@PreferenceGroup
struct MultilineStruct {
    var text = """
        Two
          lines
        """
    @Rule(PreferenceRule<[Int]>.check { $0.allSatisfy { $0 < 100 } })
    var list = [
        1,  // the first
        2,
    ]
    var made = { () -> Int in
        let one = 1
        return one
    }()
}

func isSmall(_ list: [Int]) -> Bool { list.reduce(0, +) < 100 }

@PreferenceGroup
private struct Private {
    @Rule(.check(isSmall)) private var list = [1]
}

extension Outer {
    @PreferenceGroup
    private struct Conforming: PreferenceGroup {
        private var count = 0
    }
}

@MainActor @PreferenceGroup
final class Screen {
    var count = 0
    @Transient var selection = 0
}

func use(_ player: Player, _ settings: Settings, _ defaults: Prefs.OpenObject) {
    player.volume = 7
    player.$volume.reset()
    player.migrate()
    print(Player(in: .inMemory()).preferences, player.$größe.name, player.default)
    settings.theme = .dark
    settings.columns += 1
    settings.selection.insert(1)
    settings._frames.reset()
    settings.migrate()
    print(settings._columns.name, defaults._readable, Prefs.Open(in: .inMemory()).$shared)
    let _: any Observable & Sendable & PreferenceGroup = settings
}

// Names in other stores, or in other uses, don't collide with those of the group.
@PreferenceGroup
struct Elsewhere {
    @Preference("volume", in: .suite("com.example.other")) var other = 1
    let plain = Preference("columns", default: 2, in: .suite("com.example.other"))
    @Transient let store = PreferenceStore.suite("theme")
    @Key("volume", migratingFrom: "columns") var volume = 5
    var theme = ""
    static func migrate() {}
}

@globalActor
actor OtherActor { static let shared = OtherActor() }

enum Namespace {
    // The conformances are written out, as an extension can't name a private nested type.
    @PreferenceGroup
    private final class Hidden: PreferenceGroup, Observable { var count = 0 }
}
