#if ArgumentParser
public import ArgumentParser
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ParsableCommand {
    /// Throws if an option of a preference has the name of another option of the same command, in this command or a subcommand.
    ///
    ///     @Test func optionsHaveDifferentNames() throws { try NotesTool.checkPreferenceOptions() }
    ///
    /// Call it in a test, or when the program starts: in a release build the parser takes the first of two options that have one name, so
    /// that a preference's option would set nothing. In a debug build it ends the program, with a message that doesn't say whose they are.
    ///
    /// - Throws: An error with the code `misuse`, which names each option and both that have it.
    public static func checkPreferenceOptions() throws {
        let mistakes = Self.mistakes(inside: [])
        if !mistakes.isEmpty { throw PreferenceError(.misuse, mistakes.joined(separator: "\n")) }
    }

    fileprivate static func mistakes(inside parents: [String]) -> [String] {
        let path = parents + [configuration.commandName ?? String(describing: Self.self).asOption]
        let groups = definitions(of: Self.self)
        var owners = ParserProbe.$hidesPreferences.withValue(true) { otherOptions }
        var mistakes = groups.flatMap(\.mistakes)
        for definition in groups.flatMap(\.all) where !definition.preference.isSecret {
            let owner = "the preference \"\(definition.preference.name)\""
            let negation = definition.shape == .boolean ? ["--no-\(definition.name)"] : []
            for name in [definition.text] + (definition.short.map { ["-\($0)"] } ?? []) + negation {
                guard let other = owners.updateValue(owner, forKey: name), other != owner, definition.isListed else {
                    continue
                }
                mistakes.append(
                    "`\(path.joined(separator: " "))`: \(name) would be \(other) and \(owner); rename one of them"
                )
            }
        }
        let subcommands = configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
        return mistakes + subcommands.flatMap { $0.mistakes(inside: path) }
    }

    /// The options of the command that aren't preferences, each with what the help says of it.
    private static var otherOptions: [String: String] {
        let help = Data(_dumpHelp().utf8)
        do {
            let dump = try JSONDecoder().decode(DumpedHelp.self, from: help)
            let names = (dump.command.arguments ?? []).flatMap { argument in
                (argument.names ?? []).map { ($0.text, "the program's option \(argument.shown)") }
            }
            return Dictionary(names) { first, _ in first }
        } catch {
            // The format of another version of the parser; it finds equal names in a debug build.
            return [:]
        }
    }
}

/// Returns the options of the groups of preferences in a command or in its groups of options.
private func definitions(of type: any ParsableArguments.Type) -> [OptionDefinitions] {
    Mirror(reflecting: type.init()).children.flatMap { child in
        if let group = child.value as? any OptionGroupOfPreferences { return [group.definitions] }
        return (child.value as? any OptionGroupOfArguments).map { definitions(of: $0.arguments) } ?? []
    }
}

private protocol OptionGroupOfArguments {
    var arguments: any ParsableArguments.Type { get }
}

extension OptionGroup: OptionGroupOfArguments {
    fileprivate var arguments: any ParsableArguments.Type { Value.self }
}

private protocol OptionGroupOfPreferences {
    var definitions: OptionDefinitions { get }
}

extension OptionGroup: OptionGroupOfPreferences where Value: PreferenceOptions {
    fileprivate var definitions: OptionDefinitions { Value.definitions }
}

/// The arguments of a group of preferences, of any type.
protocol PreferenceOptions {
    static var definitions: OptionDefinitions { get }
}

extension PreferenceArguments: PreferenceOptions {
    static var definitions: OptionDefinitions { OptionDefinitions(of: Group.self) }
}

/// The part of `--experimental-dump-help` that has the names of options.
private struct DumpedHelp: Decodable {
    struct Command: Decodable { let arguments: [Argument]? }
    struct Argument: Decodable {
        let names: [Name]?
        let abstract: String?

        var shown: String {
            let names = (names ?? []).map(\.text).joined(separator: ", ")
            return names + (abstract.map { " (\($0))" } ?? "")
        }
    }
    struct Name: Decodable {
        let kind: String
        let name: String

        var text: String { (kind == "long" ? "--" : "-") + name }
    }

    let command: Command
}
#endif
