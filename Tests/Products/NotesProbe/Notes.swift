#if ArgumentParser
import ArgumentParser
import Foundation
import Preferences
import PreferencesArgumentParser

enum Order: String, PreferenceValue, CaseIterable { case newest, oldest, title }

struct Notes: ConfigurablePreferences {
    @Preference("limit", .range(1...500), .description("Notes to show."), .short("n")) var limit = 20
    @Preference("verbose", .description("Show more."), .short("v")) var verbose = false
    @Preference("editor.lineNumbers", .title("Line numbers")) var lineNumbers = true
    @Preference("order", .description("The order of the notes.")) var order = Order.newest
    @Preference("tags", .description("Tags to show.")) var tags: [String] = []
    @Preference("ports", .length(1...3)) var ports: Set<Int> = [80]
    @Preference("colors", .description("Colors of tags.")) var colors: [String: String] = [:]
    @Preference("wait", .description("Time between saves.")) var wait = Duration.seconds(5)
    @Preference("since") var since: Date?
    @Preference("server", .formerly("host")) var server: URL?
    @Preference("ratio") var ratio = 0.5
    @Preference("port", .check("must be even") { $0 % 2 == 0 }) var port: UInt16 = 8080
    @Preference("loudness", .deprecated("set ratio")) var loudness = 3
    @Preference("token", .secret, .description("The password\tof the server.")) var token: String?

    static var store: PreferenceStore { .layered([.environment(prefix: "NOTES"), .standard]) }
}

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show notes.")

    @OptionGroup(title: "Preferences") var preferences: PreferenceArguments<Notes>
    @Argument(help: "A word to find.") var word: String?

    func run() throws {
        let notes = Notes(in: .layered([preferences.layer, Notes.store]))
        for preference in notes.preferences { print(preference) }
    }
}

@main
struct NotesTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "Keep notes.",
        version: "1.0",
        subcommands: [Show.self, PreferenceCommand<Notes>.self]
    )
}
#else
// Without the trait there is nothing to try.
@main
enum NotesTool {
    static func main() {}
}
#endif
