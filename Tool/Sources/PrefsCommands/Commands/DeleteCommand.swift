import ArgumentParser
import Preferences
import PreferencesInspection

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove values, so that the program reads its defaults.",
        usage: "prefs delete [<suite> | --file <path>] (<name> … | --all)",
        discussion: """
            Several names are removed as one change; if one of them isn't set, nothing is removed. A name such as frame.x is \
            a member of the value of frame if that is a dictionary and no preference is named frame.x. Removing the last \
            member removes the value, so that the program reads the system's value or its default. The remaining members \
            aren't checked against the schema; `prefs check` does that. A value that is stored under a former name of a \
            preference is removed, too.
            """,
        aliases: ["unset"]
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Remove all values but the records of migrations and imports.") var all = false
    @Argument(help: "The suite unless --file is given, and the names.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        if all == words.isEmpty { return try delete(from: place, Array(words)) }
        throw Failure(.usage, all ? "--all and names exclude each other" : "name what to remove, or give --all")
    }

    private func delete(from place: any Place, _ names: [String]) throws {
        guard try place.exists() else { throw place.missing }
        let stores = try place.open()
        let schema = try place.readableSchema()
        let formerNames = FormerNames(schema)
        try stores.store.transaction { transaction in
            var own = stores.own.contents
            // Former names that were removed with their preference.
            var removed: Set<String> = []
            // As `removeAll()` does; a record that is named is removed.
            let all = own.keys.filter { !PreferencesFile.ownNames.contains($0) }.sorted()
            for name in names.isEmpty ? all : names where !removed.contains(name) {
                let path = ValuePath(name, schema) { formerNames.value(of: $0, in: own) }
                let value = formerNames.value(of: path.name, in: own)
                guard path.member(of: value) != nil else {
                    throw try Self.absent(name, in: stores, of: place, schema)
                }
                // Read through the transaction, so that the body runs again if another process changes the value now.
                if !path.keys.isEmpty { for name in formerNames.names(of: path.name) { _ = transaction[name] } }
                var rest = try path.changing(value, to: nil)
                // The rest isn't checked against the schema, as that needs all names; `check` does it.
                if !path.keys.isEmpty, rest == [:] { rest = nil }
                for (name, value) in formerNames.storing([path.name: rest]) {
                    own[name] = value
                    transaction[name] = value
                    if name != path.name { removed.insert(name) }
                }
            }
        }
    }

    /// Returns the failure for a word that names no value of the user.
    private static func absent(
        _ word: String,
        in stores: PlaceStores,
        of place: any Place,
        _ schema: Schema?
    ) throws -> Failure {
        let formerNames = FormerNames(schema)
        let all = PresentValues(try place.layers { _ in }.map { PlaceLayer($0, formerNames) })
        let path = ValuePath(word, schema) { all.contents[$0] }
        let own = formerNames.value(of: path.name, in: stores.own.contents)
        let isOthers = own == nil && path.member(of: all.contents[path.name]) != nil
        return try place.absent(isOthers ? all.storedNames[path.name] ?? path.name : word, in: stores, formerNames)
    }
}
