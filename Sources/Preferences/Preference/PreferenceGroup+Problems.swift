#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PreferenceGroup {
    /// The problems of the group with its values now; empty if all of them are used as they were written.
    ///
    ///     for problem in player.problems { print(problem) }
    ///
    /// A problem is a value that can't be decoded or breaks a rule, a member of a value that is replaced by the default's, an element
    /// that is left out, a `.required` preference without a value, a layer that can't be read and might have a value that would be used, what
    /// keeps a validated store from showing a newer state, a former name that is another preference's in another store over the same place,
    /// an argument that no preference of the group has, and a variable or a name in a settings file or a drop-in that is nearly that of one.
    /// Each error has the layer, the place (file and line, variable, argument) and what is accepted. A member that isn't stored isn't a
    /// problem, nor is a value below the one that is used.
    ///
    /// Opens the stores of the group if necessary, as a read does; for a store on a network call `load()` before. The problems are those
    /// of one moment for each store, in the order of declaration. Nothing is reported or changed.
    public var problems: [PreferenceError] {
        let declared = DeclaredPreferences.all(in: self)
        return declared.problems() + declared.problemsOfPlaces + declared.takenFormerNames + declared.unknownNames
    }

    /// Throws the `problems` if there are any: for a program that must not start with a wrong configuration.
    ///
    ///     try ServicePreferences(in: store).check()
    ///
    /// - Throws: All problems together, which are printed one a line.
    public func check() throws(PreferenceProblems) {
        let problems = problems
        if !problems.isEmpty { throw PreferenceProblems(problems) }
    }
}

/// The problems of a group, as `check()` throws them; never empty.
///
/// It is printed one problem a line, also as the error at the end of a command-line program.
public struct PreferenceProblems: Error, Sendable, RandomAccessCollection {
    /// The problems, in the order of declaration; unknown names come last.
    public let problems: [PreferenceError]

    package init(_ problems: [PreferenceError]) { self.problems = problems }

    /// Zero.
    public var startIndex: Int { 0 }

    /// The number of problems.
    public var endIndex: Int { problems.count }

    /// The problem at an index.
    public subscript(index: Int) -> PreferenceError { problems[index] }
}

extension PreferenceProblems: CustomStringConvertible, LocalizedError {
    /// The descriptions of the problems, one a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }

    /// The same text as `description`, in English.
    public var errorDescription: String? { description }
}

// MARK: Values

extension [any DeclaredPreference] {
    /// Returns the problems of the preferences with their values, without unknown names.
    ///
    /// - Parameter outcome: The consequence of a problem, as its message says it; nil if the next usable value or the default is read.
    package func problems(_ outcome: String? = nil) -> [PreferenceError] {
        let nodes = map(\.resolvedNode)
        for node in nodes { node.core.prepare() }
        // Those of a store at one moment.
        var candidates: [ObjectIdentifier: [Candidate]] = [:]
        for node in nodes where candidates[ObjectIdentifier(node)] == nil {
            node.core.publishing.withLock {
                for other in nodes where other.core === node.core {
                    candidates[ObjectIdentifier(other)] = other.candidates()
                }
            }
        }
        return zip(self, nodes).flatMap { preference, node in
            preference.problems(with: candidates[ObjectIdentifier(node)] ?? [], outcome)
        }.withoutEqualTexts
    }
}

extension [any DeclaredPreference] {
    /// Why validated stores show an old state.
    fileprivate var problemsOfPlaces: [PreferenceError] {
        flatMap { $0.store.resolved.core.layers }.compactMap(\.source.own).filter { !$0.below.isEmpty }
            .flatMap(\.problems).withoutEqualTexts
    }
}

extension [PreferenceError] {
    /// The errors without those that say the same: two preferences may need one layer, and two members are of one value.
    package var withoutEqualTexts: [PreferenceError] {
        var texts: Set<String> = []
        return filter { texts.insert($0.description).inserted }
    }
}

extension Preference {
    package var resolvedNode: Node { declaration.resolved.node }

    package func problems(with candidates: [Candidate], _ outcome: String?) -> [PreferenceError] {
        let declaration = declaration.resolved
        let layers = declaration.store.core.layers
        var read = ReadOutcome()
        let value = declaration.read(candidates, &read, isReporting: false)
        // A value may stand in a stronger layer that can't be read.
        var problems = layers.prefix(read.used(in: candidates)?.layer ?? .max).compactMap(\.source.openingError)
        problems += (read.problems + read.parts).map { value in
            let error = value.error(outcome)
            return error.code == .unreadable ? error.appending(accepted) : error
        }
        if isRequired, read.problems.isEmpty,
            value.map({ PreferenceDeclaration.isAbsent($0, declaration.coding) }) ?? true
        {
            problems.append(missing(in: layers, outcome))
        }
        return problems
    }

    /// Returns the problem of a required preference without a value, with the places where it can be set.
    private func missing(in layers: [Layer], _ outcome: String?) -> PreferenceError {
        let end = layers.map { $0.place(of: name) }.joined(separator: " or ") + (outcome.map { "; \($0)" } ?? "")
        return PreferenceError(
            .invalid,
            name: name,
            "the preference needs a value and has none; set it in \(end)"
        ).appending(accepted ?? "accepted: \(wrappedType(of: Value.self))")
    }

    /// The accepted values, as the rules state them; `nil` without rules.
    private var accepted: String? {
        let rules = storedRules.map(\.description).filter { !$0.isEmpty }
        return rules.isEmpty ? nil : "accepted: \(rules.joined(separator: "; "))"
    }
}

extension Layer {
    /// Returns where a person sets the value of a name, for messages.
    fileprivate func place(of name: String) -> String {
        isText ? optionPrefix + key(name) : source.own?.describe(nil).path ?? "the layer \"\(self.name)\""
    }
}

extension PreferenceError {
    /// Returns the error with another part of the message.
    fileprivate func appending(_ text: String?) -> PreferenceError {
        guard let text else { return self }
        let whole = "\(message); \(text)"
        return PreferenceError(code, name: name, whole, codingPath: codingPath, cause: cause)
    }
}

/// Returns the type of the values that aren't nil.
package func wrappedType<Value>(of type: Value.Type) -> Any.Type {
    (type as? any _OptionalPreferenceValue.Type)?.wrappedType ?? type
}

extension _OptionalPreferenceValue {
    package static var wrappedType: Any.Type { Wrapped.self }
}

// MARK: Names

extension [any DeclaredPreference] {
    /// The errors for former names that are the name or a former name of another preference, in another store over the same place: a
    /// layer, a scope, or a store that has this one as a layer.
    fileprivate var takenFormerNames: [PreferenceError] {
        guard contains(where: { $0.storedNames.count > 1 }) else { return [] }
        let places = compactMap { preference in
            preference.store.resolved.core.writable.map { layer in
                (preference: preference, source: layer.source, keys: preference.storedNames.map(layer.key))
            }
        }
        return places.flatMap { own in
            zip(own.preference.storedNames, own.keys).dropFirst().compactMap { former, key in
                let other = places.first { other in
                    other.source === own.source && other.preference.store !== own.preference.store
                        && other.keys.first != own.keys.first && other.keys.contains(key)
                }
                return other.map { other in
                    PreferenceError(
                        .misuse,
                        name: own.preference.name,
                        "the former name \"\(former)\" is that of the preference \"\(other.preference.name)\" in another store, "
                            + "whose value a write would remove; remove one of the two"
                    )
                }
            }
        }
    }

    /// The errors for names that people write and no preference has: each argument, and others that are nearly a declared one, as an
    /// environment has variables for other programs, too.
    ///
    /// Declared are the names of all preferences, in each layer of their stores, and those of other stores that show the layer.
    fileprivate var unknownNames: [PreferenceError] {
        var stores: [(core: StoreCore, names: [String])] = []
        var known: Set<String> = []
        for preference in self {
            let core = preference.store.resolved.core
            let names = preference.storedNames + PreferenceStore.recordNames
            for layer in core.layers { known.formUnion(names.map(layer.key)) }
            if let index = stores.firstIndex(where: { $0.core === core }) {
                stores[index].names.append(preference.name)
            } else {
                stores.append((core, [preference.name]))
            }
        }
        return stores.flatMap { core, names in
            core.layers.filter(\.isWrittenByHand).flatMap { layer in
                layer.unknownKeys(besides: known).compactMap { PreferenceError(unknown: $0, in: layer, names) }
            }
        }.sortedByBytes { $0.message }.withoutEqualTexts
    }
}

extension DeclaredPreference {
    /// The name and the former names, in use or not.
    fileprivate var storedNames: [String] { [name] + (options?.formerNames ?? []) }
}

extension Layer {
    /// Whether people write the layer's names for this program's preferences; a parser has checked those that it spells itself, and a
    /// credential might have another purpose.
    fileprivate var isWrittenByHand: Bool {
        if isSecret { return false }
        guard isText else { return source.own?.describe(nil).isWrittenByHand ?? false }
        return isReadOnly && (optionPrefix.isEmpty || spelling == nil)
    }

    /// Returns the names with a value that aren't known, and that no preference of a store over the source has.
    fileprivate func unknownKeys(besides known: Set<String>) -> [String] {
        let start = key("")
        return source.contents.map(\.0).filter { key in
            guard key.hasPrefix(start), !known.contains(key) else { return false }
            return source.publishing.withLock {
                source.table.entry(key).map { !$0.nodes.contains { $0.node.isDeclared } } ?? false
            }
        }
    }
}

extension PreferenceError {
    /// Creates the error for an unknown name; nil if nothing suggests that a preference was meant.
    fileprivate init?(unknown key: String, in layer: Layer, _ names: [String]) {
        // Without the prefix, which would make short names alike.
        let start = layer.key("")
        let near = String(key.dropFirst(start.count)).nearest(
            among: names.sortedByBytes.map { String(layer.key($0).dropFirst(start.count)) }
        )
        if near == nil, layer.optionPrefix.isEmpty { return nil }
        let cure = near.map { "did you mean \"\(start)\($0)\"?" } ?? "correct or remove it"
        let location = layer.location(of: key).map { " (\($0))" } ?? ""
        self.init(
            .invalidName,
            "no preference is named \"\(key)\"; its value in the layer \"\(layer.name)\"\(location) is ignored; \(cure)"
        )
    }
}
