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
    /// that is left out, a `.required` preference without a value, a layer that can't be read, a former name that is another
    /// preference's in another store over the same place, and a name that no preference of the store has in arguments, the environment,
    /// a settings file or a drop-in. Each error has the layer, the place (file and line, variable, argument) and what is accepted. A member
    /// that isn't stored isn't a problem, nor is a value below the one that is used.
    ///
    /// Opens the stores of the group if necessary, as a read does; for a store on a network call `load()` before. The problems are those
    /// of one moment for each store, in the order of declaration. Nothing is reported or changed.
    public var problems: [PreferenceError] {
        let declared = DeclaredPreferences.all(in: self)
        return declared.problems(.read) + declared.takenFormerNames + PreferenceError.unknownNames(of: declared)
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

/// The consequence of a problem, as its message says it.
package enum ProblemOutcome {
    /// The next usable value or the default is read.
    case read
    /// The last valid state stays in use.
    case lastValidState
    /// The call that would lead to it is rejected.
    case rejected

    fileprivate var text: String? {
        switch self {
        case .read: nil
        case .lastValidState: "the last valid values of the group stay in use; a restart reads the stored ones"
        case .rejected: "nothing was changed"
        }
    }
}

extension [any DeclaredPreference] {
    /// Returns the problems of the preferences in their stores, without unknown names.
    package func problems(_ outcome: ProblemOutcome) -> [PreferenceError] {
        var snapshots: [ObjectIdentifier: StoreSnapshot] = [:]
        var problems: [PreferenceError] = []
        for preference in self {
            let store = preference.store.resolved
            let known = snapshots[ObjectIdentifier(store)]
            let snapshot = known ?? store.snapshot(of: Set(flatMap(\.storedNames)))
            if known == nil {
                snapshots[ObjectIdentifier(store)] = snapshot
                problems += snapshot.failures.compactMap { $0 }
            }
            problems += preference.problems(in: snapshot, outcome)
        }
        return problems.withoutEqualTexts
    }
}

extension [any DeclaredPreference] {
    /// The errors for former names that are the name or a former name of another preference, in another store over the same place: a
    /// layer, a scope, or a store that has this one as a layer.
    fileprivate var takenFormerNames: [PreferenceError] {
        guard contains(where: { $0.storedNames.count > 1 }) else { return [] }
        let places = compactMap { preference in
            preference.store.resolved.core.newest.layers.writableLayer.map { layer in
                (preference: preference, source: layer.source, names: preference.storedNames.map { layer.spelled($0) })
            }
        }
        return places.flatMap { own in
            own.names.dropFirst().enumerated().compactMap { index, former in
                let other = places.first { other in
                    other.source === own.source && other.preference.store !== own.preference.store
                        && other.names.first != own.names.first && other.names.contains(former)
                }
                return other.map { other in
                    PreferenceError(
                        .misuse,
                        name: own.preference.name,
                        "the former name \"\(own.preference.storedNames[index + 1])\" is that of the preference "
                            + "\"\(other.preference.name)\" in another store, whose value a write would remove; remove one of the two"
                    )
                }
            }
        }
    }
}

extension [PreferenceError] {
    /// The errors without those that say the same: two stores may have one layer, and two members are of one value.
    package var withoutEqualTexts: [PreferenceError] {
        var texts: Set<String> = []
        return filter { texts.insert($0.description).inserted }
    }
}

extension DeclaredPreference {
    /// The name and the former names, in use or not.
    var storedNames: [String] { [name] + (options?.formerNames ?? []) }

    /// Returns the problems of the preference in the values of one moment.
    func problems(in snapshot: StoreSnapshot, _ outcome: ProblemOutcome) -> [PreferenceError] {
        let core = store.resolved.core
        return problems(
            in: snapshot.candidates(for: name, formerly: core.formerNames(of: name)),
            of: core,
            outcome
        )
    }
}

extension Preference {
    package func problems(
        in candidates: StoredCandidates,
        of core: StoreCore,
        _ outcome: ProblemOutcome
    ) -> [PreferenceError] {
        let (value, _, unreadable, parts) = declaration.read(candidates, isReporting: false)
        var problems = (unreadable + parts).map { value in
            let error = value.error(outcome.text)
            return error.code == .unreadable ? error.appending(accepted) : error
        }
        if isRequired, unreadable.isEmpty, value.map({ declaration.hasNone($0) }) ?? true {
            problems.append(missing(in: core.layers, outcome))
        }
        return problems
    }

    /// Returns the problem of a required preference without a value, with the places where it can be set.
    private func missing(in list: LayerList, _ outcome: ProblemOutcome) -> PreferenceError {
        let places = list.layers.map { layer in
            layer.isText
                ? layer.origin(of: name) ?? layer.name : layer.source.path(of: nil) ?? "the layer \"\(layer.name)\""
        }
        let end = places.joined(separator: " or ") + (outcome.text.map { "; \($0)" } ?? "")
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

extension PreferenceDeclaration {
    /// Returns whether a value is `nil`.
    fileprivate func hasNone(_ value: Value) -> Bool { Self.isAbsent(value, coding) }
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
