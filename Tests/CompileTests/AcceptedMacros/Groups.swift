// swiftc: -package-name client
import PreferencesMacros

enum Preferences {}  // Hides the module of the same name, which the expansions therefore must not name.

enum Theme: String { case system, dark }
struct Frame: Codable { var x = 0, y = 0 }

extension PreferenceOption {
    static var general: Self { .section("General") }
}

extension PreferenceOption where Value == Int {
    static var percentage: Self { .range(0...100) }
}

extension PreferenceOption where Value: BinaryInteger {
    static var even: Self { .check("must be even") { $0.isMultiple(of: 2) } }
}

@PreferenceGroup(prefix: "player.")
struct Player {
    /// How loud it is
    @Options(.range(0...10), .title("Volume"), .short("v")) var volume = 5
    var artist: String?
    @Key("nick") @Options(.formerly("player.nickName", "userName")) var nickname = ""
    @Options(.choices([Theme.dark]), .section("Look")) var theme: Theme = .system
    @Options(.length(1...8)) var names: [String] = []
    @Options(.check("must not be 80") { $0 != 80 }, .range(1...)) var port = 1
    @Options(.secret, .check { $0 > 1 }) var factor = 2
    @Options(.required) var needed: Int?
    @Options(.required, .length(1...8)) var word: String?
    @Options(.range(0.5...), .check { $0 != 0.7 }, .required, .title("Ratio")) var ratio: Double?
    @Options(.required, .choices([Theme.dark])) var look: Theme?
    @Options(.percentage, .secret) var share = 50
    @Options(PreferenceOption<Int?>.required) var count: Int?
    @Options(.deprecated("set volume")) var loudness: Double?
    @Options(.general, .range(0...1)) var balance = 0.5
    @Options(.description("A frame"), .general) var window = Frame()
    @Options(PreferenceOption<Frame>.check { $0.x > 0 }) var checked = Frame()
    @Options(.even, .range(0...10)) var sum = 0
    @Options(.check { !$0.isEmpty }) var title = "Untitled"
    @Options(PreferenceOption<Theme>.choices([.dark])) var other = Theme.system
    var frame = Frame()
    var frames: [String: Frame] = [:]
    var optional: Optional<Int>
    var computed: Int { 3 }
    let settings = Settings()
    let launches = Preference("launches", default: 0)
    @Preference("written", .range(0...1), .description("As written"), in: .suite("com.example")) var written = 0.5
    static let shared = Player()
    @Options(.secret) var token: String?
    @Key("c") @Options(.secret, .range(0...9999)) var code = 1
    @Preference("secret", .secret) var secret = ""
    @Transient var selection = 0
    @Transient let constant = 1
    var `default` = 3
    var größe = 1.5
    @available(*, deprecated) var old = 1
    #if os(Linux)
    @Key("linux") @Options(.formerly("l")) var platform: Int? = 3
    #else
    var platform: Int?
    #endif
}

@PreferenceGroup
final class Settings {
    /// The theme
    var theme = Theme.system
    @Options(.range(1...4), .description("How many")) var columns = 2
    @Options(.length(1...8), .required) var artist: String?
    @Options(.choices([Theme.dark])) var other: Theme? = nil
    @Key("nick") @Options(.formerly("nickName")) var nickname = ""
    var frame: Frame? = nil
    var frames: [String: Frame] = [:]
    var opacity = 1.0
    var optional: Optional<Int>
    var computed: Int { columns + 1 }
    let player = Preference("count", default: 0)
    static let shared = Settings()
    @Options(.secret) var token: String?
    @Options(.secret, .length(1...8)) var code = ""
    @Options(.general, .range(0...1)) var balance = 0.5
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
    @Options(
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
}

@PreferenceGroup
struct MultilineStruct {
    var text = """
        Two
          lines
        """
    @Options(PreferenceOption<[Int]>.check { $0.allSatisfy { $0 < 100 } })
    var list = [
        1,  // the first
        2,
    ]
}

func isSmall(_ list: [Int]) -> Bool { list.reduce(0, +) < 100 }

@PreferenceGroup
private struct Private {
    @Options(.check("must be small", isSmall)) private var list = [1]
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
    print(Player(in: .inMemory()).preferences, player.$größe.name, player.default)
    settings.theme = .dark
    settings.columns += 1
    settings.selection.insert(1)
    settings._frames.reset()
    print(settings._columns.name, defaults._readable, Prefs.Open(in: .inMemory()).$shared)
    let _: any Observable & Sendable & PreferenceGroup = settings
}

// Names in other stores, or in other uses, don't collide with those of the group.
@PreferenceGroup
struct Elsewhere {
    @Preference("volume", in: .suite("com.example.other")) var other = 1
    let plain = Preference("columns", default: 2, in: .suite("com.example.other"))
    @Transient let store = PreferenceStore.suite("theme")
    @Key("volume") @Options(.formerly("columns")) var volume = 5
    var theme = ""
    func migrate() {}
}

@globalActor
actor OtherActor { static let shared = OtherActor() }

enum Namespace {
    // The conformances are written out, as an extension can't name a private nested type.
    @PreferenceGroup
    private final class Hidden: PreferenceGroup, Observable { var count = 0 }
}
