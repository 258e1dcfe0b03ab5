import ArgumentParser
import Preferences

struct WriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Set a value.",
        usage: "prefs write [--file <path>] [<suite>] <name> <value>",
        discussion: """
            The value is JSON, or text after a flag that tells its type, as in the `defaults` of macOS:

              prefs write com.example.app volume 5
              prefs write com.example.app theme -string dark
              prefs write com.example.app window '{"width": 800}'
              prefs write com.example.app recent -array-add "/tmp/a b"

              -string TEXT    -int NUMBER    -float NUMBER    -data HEX
              -bool true|false|yes|no|1|0    -date 2026-11-20T22:00:00Z
              -array VALUE …      -array-add VALUE …
              -dict KEY VALUE …   -dict-add KEY VALUE …

            An element of an array or dictionary is text, or follows a flag of its own; -json VALUE is one of these, too. \
            Options stand before the suite; what follows is taken as it is. Dates, data and special numbers may also be \
            written as in the file: '{"$date":"2026-11-20T22:00:00Z"}', '{"$data":"AQI="}', '{"$real":"inf"}'.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Argument(
        parsing: .captureForPassthrough,
        help: "The suite unless --file is given, the name and the value.",
        completion: Completion.suiteThenNames
    )
    var words: [String] = []

    /// The arguments with a `--` behind the command's own options, as the parser takes text with three dashes for an
    /// option of its own elsewhere.
    static func protected(_ arguments: [String]) -> [String] {
        var words = arguments[...]
        // The parser finds these behind other commands by itself.
        var options = EtcdOptions.take(from: &words)
        guard let command = words.popFirst(), command == configuration.commandName else { return arguments }
        var own: [String] = []
        while let word = words.first {
            let others = EtcdOptions.take(from: &words)
            options += others
            guard others.isEmpty else { continue }
            guard word.hasPrefix("--file") else { break }
            let count = word == "--file" ? 2 : 1
            own += words.prefix(count)
            words = words.dropFirst(count)
        }
        let isValue = words.first.map { !$0.hasPrefix("-") } ?? false
        return options + [command] + own + (isValue ? ["--"] : []) + words
    }

    func run() throws {
        var words = words[...]
        if words.first == "--" { words.removeFirst() }
        if let word = words.first, word.hasPrefix("-") {
            if word == "--help" || word == "-h" { throw CleanExit.helpRequest(self) }
            throw Failure(
                .usage,
                "\"\(word)\" is no option of `prefs write`; the type of a value stands behind the name"
            )
        }
        let place = try options.place(&words)
        let name = try words.nextName()
        guard !ValueArguments.isFlag(name) else {
            throw Failure(.usage, "the name of the preference is missing before \(name)", isAboutWords: true)
        }
        let change = try ValueArguments.change(&words)
        try place.open().store.transaction { transaction in
            let value = try change(transaction[name])
            try place.check([name: value])
            transaction[name] = value
        }
    }
}
