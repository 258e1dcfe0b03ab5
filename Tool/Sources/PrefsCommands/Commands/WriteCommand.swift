import ArgumentParser
import Preferences

struct WriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Set a value.",
        usage: "prefs write [--file <path>] [--force] [<suite>] <name> <value>",
        discussion: """
            The value is JSON, or text after a flag that tells its type, as in the `defaults` of macOS. Where the program \
            declares text, a date or data, the flag may be missing, unless the text begins with a dash or a quote or is null:

              prefs write com.example.app volume 5
              prefs write com.example.app theme -string dark
              prefs write com.example.app window '{"width": 800}'
              prefs write com.example.app recent -array-add "/tmp/a b"

              -string TEXT    -int NUMBER    -float NUMBER    -data HEX
              -bool true|false|yes|no|1|0    -date 2026-11-20T22:00:00Z
              -array VALUE …      -array-add VALUE …
              -dict KEY VALUE …   -dict-add KEY VALUE …

            A name such as frame.x is a member of the value of frame if that is a dictionary, unless it is a preference's \
            own; the other members stay. The whole value is set in the user's file, so later changes of the program's or the \
            system's other members are not seen. Names and values that the program's schema doesn't have are refused, unless \
            --force is given.

            An element of an array or dictionary is text, or follows a flag of its own; -json VALUE is one of these, too. \
            Options stand before the suite; what follows is taken as it is. Dates, data and special numbers may also be \
            written as in the file: '{"$date":"2026-11-20T22:00:00Z"}', '{"$data":"AQI="}', '{"$real":"inf"}'.
            """,
        aliases: ["set"]
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Set also what the program's schema doesn't allow.") var force = false
    @Argument(
        parsing: .captureForPassthrough,
        help: "The suite unless --file is given, the name and the value.",
        completion: Completion.suiteNameThenChoices
    )
    var words: [String] = []

    /// The arguments with a `--` behind the command's own options, as the parser takes text with three dashes for an
    /// option of its own elsewhere.
    static func protected(_ arguments: [String]) -> [String] {
        var words = arguments[...]
        // The parser finds these behind other commands by itself.
        var options = EtcdOptions.take(from: &words)
        let names = [configuration.commandName].compactMap(\.self) + configuration.aliases
        guard let command = words.popFirst(), names.contains(command) else { return arguments }
        var own: [String] = []
        while let word = words.first {
            let others = EtcdOptions.take(from: &words)
            options += others
            guard others.isEmpty else { continue }
            guard word == "--force" || word == "--file" || word.hasPrefix("--file=") else { break }
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
        let suite = options.file.map { "--file '\($0)'" } ?? words.first ?? ""
        let place = try options.place(&words)
        var isForced = force
        // Nobody calls a preference so.
        if words.first == "--force" { (isForced, words) = (true, words.dropFirst()) }
        let name = try words.nextName()
        guard !ValueArguments.isFlag(name) else {
            throw Failure(.usage, "the name of the preference is missing before \(name)", isAboutWords: true)
        }
        let schema = try place.readableSchema()
        let secret = schema?.secret(in: name)
        if words.first == "null" {
            let delete = "`prefs delete \(suite) \(ValueText.name(name))`"
            throw Failure(.usage, "null is no value; \(delete) removes the one that is set. For text use: -string null")
        }
        let change = try Self.reading(secret) {
            let change = try ValueArguments.change(&words)
            // Behind the value, too, unless that takes all words.
            if words == ["--force"] { (isForced, words) = (true, []) }
            try words.end()
            return change
        }
        try place.open().store.transaction { [isForced] transaction in
            let path = ValuePath(name, schema) { transaction[$0] }
            var old = transaction[path.name]
            // Of a value only the member is changed, and the rest is what the program reads.
            if !path.keys.isEmpty { old = old ?? schema?.properties[path.name]?.defaultValue }
            let member = try Self.reading(secret) { try change(path.member(of: old), schema?.property(of: path)) }
            guard let value = try path.changing(old, to: member) else { return }
            if !isForced { try schema?.check(value, for: path.name) }
            transaction[path.name] = value
        }
    }

    /// Runs what reads the value, whose failures quote it, without the quotation if the value is a secret's.
    private static func reading<Result>(_ secret: String?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as Failure {
            guard let secret else { throw failure }
            throw Failure(
                .usage,
                "the value of the secret \"\(secret)\" can't be read, and is not shown; write one word behind the name, or text as "
                    + "-string 'TEXT'. Nothing was changed"
            )
        }
    }
}
