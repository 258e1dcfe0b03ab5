import ArgumentParser
import Preferences
import PreferencesInspection
import PreferencesSchema

struct WriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Set a value.",
        usage: "prefs write [--file <path>] [--force] [<suite>] <name> <value>",
        discussion: """
            The value is text after a flag with its type, as in `defaults` of macOS. Without a flag it is read as the string, \
            the date or the data that the program declares or, if nothing is declared, that is stored, else as JSON. \
            Text that isn't JSON is a string if no other type is declared or stored. If the value isn't read as JSON, \
            it is shown as it is stored. Text that begins with a dash or a quote, or is null, needs the flag.

              prefs write com.example.app volume 5
              prefs write com.example.app theme dark
              prefs write com.example.app build -string 5
              prefs write com.example.app window '{"width": 800}'
              prefs write com.example.app recent -array-add "/tmp/a b"

              -string TEXT    -int NUMBER    -float NUMBER    -data HEX
              -bool true|false|yes|no|1|0    -date 2026-11-20T22:00:00Z
              -array VALUE …      -array-add VALUE …
              -dict KEY VALUE …   -dict-add KEY VALUE …

            A name such as frame.x is a member of the value of frame if that is a dictionary and no preference is named \
            frame.x; the other members are kept. The whole value is set in the user's file, so that later changes to its \
            other members in the program's or the system's defaults have no effect. Names and values that the program's \
            schema doesn't allow are rejected unless --force is given, and so is a file in which no line is an object of names \
            and values, such as a shell script: programs move what they can't read out of a file that they use. A value that is stored under a former name of the \
            preference is removed in the same step.

            An element of an array or dictionary is a string unless a flag with its type precedes it; -json VALUE is also \
            possible. Options come before the suite; all words after it are taken as they are. Dates, data and special \
            numbers may also be written as in the file: '{"$date":"2026-11-20T22:00:00Z"}', '{"$data":"AQI="}', \
            '{"$real":"inf"}'.
            """,
        aliases: ["set"]
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Also set values that the program's schema doesn't allow, and in a file of another kind.") var force =
        false
    @Argument(
        parsing: .captureForPassthrough,
        help: "The suite unless --file is given, the name and the value.",
        completion: Completion.suiteNameThenChoices
    )
    var words: [String] = []

    /// Returns the arguments with a `--` after the command's own options, as the parser would take text with three dashes for an
    /// option otherwise.
    static func protected(_ arguments: [String]) -> [String] {
        var words = arguments[...]
        // After other commands, the parser finds these options itself.
        var options = EtcdOptions.take(from: &words)
        let names = [configuration.commandName].compactMap(\.self) + configuration.aliases
        guard let command = words.popFirst(), names.contains(command) else { return arguments }
        var own: [String] = []
        while let word = words.first {
            let others = EtcdOptions.take(from: &words)
            options += others
            guard others.isEmpty else { continue }
            guard ["--force", "--trust-owner", "--state", "--file"].contains(word) || word.hasPrefix("--file=") else {
                break
            }
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
                "\"\(word)\" isn't an option of `prefs write`; put the type of a value after the name"
            )
        }
        let suite = options.file.map { "--file '\($0)'" } ?? words.first ?? ""
        let place = try options.place(&words)
        var isForced = force
        // No preference has this name.
        if words.first == "--force" { (isForced, words) = (true, words.dropFirst()) }
        let name = try words.nextName()
        guard !ValueArguments.isFlag(name) else {
            throw Failure(.usage, "the name of the preference is missing before \(name)", showsUsage: true)
        }
        let schema = try place.readableSchema()
        let secret = schema?.secret(in: name)
        if words.first == "null" {
            let delete = "`prefs delete \(suite) \(ValueText.name(name))`"
            throw Failure(.usage, "null isn't a value; \(delete) removes the stored one. For text use: -string null")
        }
        let valueWord = words.first
        let change = try Self.reading(secret) {
            let change = try ValueArguments.change(&words)
            // Also allowed after the value, unless the value takes all words.
            if words == ["--force"] { (isForced, words) = (true, []) }
            try words.end()
            return change
        }
        let formerNames = FormerNames(schema)
        var stored: PropertyListValue?
        if isForced, let path = try place.file(for: .write), try place.exists() { try PreferencesFile.adopt(path) }
        if isForced { place.ignoreSchema() }
        try place.open().store.transaction { [isForced] transaction in
            // In each layer the name comes before its former names, so the transaction's values aren't enough.
            let layers = try formerNames.isEmpty ? [] : place.layers { _ in }.map { PlaceLayer($0, formerNames) }
            let present = PresentValues(layers)
            func value(of name: String) -> PropertyListValue? {
                let names = formerNames.names(of: name)
                // Read through the transaction, too, so that it runs again if another process changes a value now.
                let values = names.map { transaction[$0] }
                return (names.count == 1 ? values[0] : present.contents[name])?.unlessUnset
            }
            let path = ValuePath(name, schema, in: value)
            var old = value(of: path.name)
            // Only the member is changed; the rest of the value is the one that the program reads.
            if !path.keys.isEmpty { old = old ?? schema?.properties[path.name]?.defaultValue }
            let member = try Self.reading(secret) { try change(path.member(of: old), path.property(in: schema)) }
            stored = member
            guard let value = try path.changing(old, to: member) else { return }
            if !isForced { try schema?.check(value, for: path.name) }
            for (name, value) in formerNames.storing([path.name: value]) { transaction[name] = value }
        }
        guard let stored, let valueWord, ValueArguments.isGuess(stored, for: valueWord) else { return }
        // A schema that can't be read, which was reported, may declare the value as a secret.
        let isHidden = secret != nil || place.mightBeSecret(name)
        Terminal.write("\(ValueText.name(name))\t\(isHidden ? ValueText.redacted : try ValueText.json(stored))\n")
    }

    /// Runs `body`, which reads the value; if that is a secret, replaces a failure, which would quote the value.
    private static func reading<Result>(_ secret: String?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as Failure {
            guard let secret else { throw failure }
            throw Failure(
                .usage,
                "the value of the secret \"\(secret)\" can't be read, and isn't shown; write one word after the name, or text as "
                    + "-string 'TEXT'. Nothing was changed"
            )
        }
    }
}
