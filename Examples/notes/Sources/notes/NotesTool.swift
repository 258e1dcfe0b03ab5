import ArgumentParser
import Foundation
import Preferences
import PreferencesArgumentParser

@main
struct NotesTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "Keep notes.",
        version: "1.0.0",
        subcommands: [Show.self, Add.self, PreferenceCommand<Notes>.self],
        defaultSubcommand: Show.self
    )
}

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the notes.")

    @OptionGroup(title: "Settings") var preferences: PreferenceArguments<Notes>
    @Argument(help: "A word that the notes contain.") var word: String?

    func run() throws {
        let notes = Notes(in: .layered([preferences.layer, Notes.store]))
        var shown = Notebook().notes.filter { note in
            word.map(note.text.contains) ?? true && !notes.hidden.contains { note.text.contains($0) }
        }
        if notes.order == .newest { shown.reverse() }
        for note in shown.prefix(notes.limit) {
            print(notes.showDates ? "\(note.date.formatted(.iso8601)) \(note.text)" : note.text)
        }
    }
}

struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write a note.")

    @Argument(help: "The words of the note.") var words: [String]

    func run() throws {
        try Notebook().$notes.update { $0.append(Note(text: words.joined(separator: " "), date: .now)) }
    }
}

/// The notes themselves, which aren't settings.
struct Notebook: PreferenceGroup {
    @Preference("notes", in: .state) var notes: [Note] = []
}

struct Note: Codable {
    var text: String
    var date: Date
}
