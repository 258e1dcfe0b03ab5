import ArgumentParser
import Preferences

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Remove values, so that the program reads its defaults.",
        usage: "prefs delete [<suite> | --file <path>] (<name> … | --all)",
        discussion: """
            Several names are removed as one change; if one of them isn't set, nothing is removed. A name such as frame.x is \
            a member of the value of frame if that is a dictionary and no preference is named frame.x. Removing the last \
            member removes the value, so that the program reads the system's value or its default. The remaining members \
            aren't checked against the schema; `prefs check` does that.
            """,
        aliases: ["unset"]
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Remove all values.") var all = false
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
        let schema = names.contains { $0.contains(".") } ? try place.readableSchema() : nil
        try stores.store.transaction { transaction in
            var own = stores.own.contents
            for name in names.isEmpty ? own.keys.sorted() : names {
                let path = ValuePath(name, schema) { own[$0] }
                guard path.member(of: own[path.name]) != nil else {
                    let read = ValuePath(name, schema) { stores.store[$0] }
                    let isOthers = stores.own[read.name] == nil && read.member(of: stores.store[read.name]) != nil
                    throw try place.absent(isOthers ? read.name : name, in: stores)
                }
                // Read through the transaction, so that the body runs again if another process changes the value now.
                if !path.keys.isEmpty { _ = transaction[path.name] }
                own[path.name] = try path.changing(own[path.name], to: nil)
                // The rest isn't checked against the schema, as that needs all names; `check` does it.
                if !path.keys.isEmpty, own[path.name] == [:] { own[path.name] = nil }
                transaction[path.name] = own[path.name]
            }
        }
    }
}
