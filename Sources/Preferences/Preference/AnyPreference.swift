#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A preference of any type, as `PreferenceGroup.preferences` lists it: for a page of settings, a report, or a test.
///
///     for preference in preferences.preferences {
///         print(preference, preference.rules, preference.declaredDescription ?? "")
///     }
///
/// Two are equal if they have the same store, name and type. All members may be used on any thread.
public struct AnyPreference: Sendable {
    package let base: any DeclaredPreference

    /// Creates a preference without its static type.
    public init<Value>(_ preference: Preference<Value>) {
        base = preference
    }

    package init(base: any DeclaredPreference) {
        self.base = base
    }

    /// The name under which the value is stored.
    public var name: String { base.name }

    /// The purpose of the preference, from the option `.description`.
    public var declaredDescription: String? { base.declaredDescription }

    /// The name for people, from the option `.title`.
    public var title: String? { base.options?.title }

    /// The section of a form of settings, from the option `.section`.
    public var section: String? { base.options?.section }

    /// The advice of the option `.deprecated`, such as "set volume"; `nil` if it isn't deprecated.
    public var deprecation: String? { base.options?.deprecation }

    /// The option of one letter on the command line, from the option `.short`.
    public var shortName: Character? { base.options?.short }

    /// The names under which the value was stored before, from the option `.formerly`.
    public var formerNames: [String] { base.options?.formerNames ?? [] }

    /// Whether `nil` is rejected, by the option `.required`.
    public var isRequired: Bool { base.isRequired }

    /// The type of the preference's value.
    public var valueType: any Any.Type { base.valueType }

    /// Whether the value is a secret; see `Preference.isSecret`.
    public var isSecret: Bool { base.isSecret }

    /// The rules of the declaration, with their bounds in their stored form; for a secret only their kinds.
    ///
    /// A `CaseIterable` type without a rule of choices has one of its cases, in front of the others.
    public var rules: [PreferenceRule] { base.storedRules }

    /// The stored value, readable or not; `nil` if nothing is stored.
    public var storedValue: PropertyListValue? { base.storedValue }

    /// The store or layer that the value comes from now.
    public var source: PreferenceSource { base.source }

    /// Whether the store itself has a value; see `Preference.isSet`.
    public var isSet: Bool { base.isSet }

    /// Whether an administrator manages the value, so that setting it fails; see `Preference.isManaged`.
    public var isManaged: Bool { base.isManaged }

    /// The store in which the preference was declared.
    public var store: PreferenceStore { base.store }

    /// Whether the preference is a member of the stored value.
    package var isMember: Bool { base.isMember }

    /// Returns whether a stored value can be decoded as the declared type, in all its parts, without applying the rule.
    package func canDecode(_ stored: PropertyListValue) -> Bool { base.canDecode(stored) }

    /// Returns the stored form of the value in a snapshot: the first stored value that can be read, else the default.
    ///
    /// Reports values that can't be read, as any read does.
    ///
    /// - Parameter isSecret: Whether reports must leave out a stored value, in addition to those of secret preferences.
    package func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool = { _ in false }
    ) throws(PreferenceError) -> PropertyListValue? {
        try base.storedForm(in: snapshot, isSecret: isSecret)
    }

    /// Stores a value that is given in its stored form, or removes the stored value if `value` is `nil`, as `reset()` does.
    ///
    /// - Parameter value: A value in the form of `storedValue`. For a member it is the form of the whole value, of which only the
    ///   member is stored.
    /// - Throws: `unreadable` if `value` can't be decoded as the preference's type, `invalid` if a required preference would be set to
    ///   `nil` by a stored form, or the errors of `Preference.write(_:)`; nothing is changed then.
    public func write(_ value: PropertyListValue?) throws(PreferenceError) { try base.write(stored: value) }

    /// Stores a value that is given in its stored form, as the blocking form does; the task is suspended when that has to wait.
    ///
    ///     try await AnyPreference(preferences.$theme).write("dark")
    ///
    /// Swift chooses this form wherever `await` is allowed. Threads, order, observers and deadline are those of `Preference.write(_:)` in its
    /// `async` form.
    ///
    /// - Parameter value: A value as the blocking form takes it, or `nil` to remove the stored value.
    /// - Throws: The errors of the blocking form; `unavailable`, or `busy` for a file, if the call didn't begin in time; `unavailable` if
    ///   the task was cancelled before. Nothing was changed then.
    public nonisolated(nonsending) func write(_ value: PropertyListValue?) async throws(PreferenceError) {
        try await base.writeSuspending(stored: value)
    }

    /// Removes the stored value, so that the default is read; see `Preference.reset()`.
    public func reset() { base.reset() }
}

extension AnyPreference: Hashable {
    /// Returns whether both have the same store, name and type and, for members of a value, the same key path.
    public static func == (left: AnyPreference, right: AnyPreference) -> Bool { left.base.isEqual(to: right.base) }

    /// Hashes the store, the name, the type and the key path.
    public func hash(into hasher: inout Hasher) { base.hash(into: &hasher) }
}

extension AnyPreference: CustomStringConvertible, CustomReflectable {
    /// The name, the value and its source, as in `volume = 5 (default)`; `<redacted>` for a secret.
    public var description: String { base.description }

    /// A mirror without children, because they could show the value of a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A preference without its static type.
package protocol DeclaredPreference: Sendable, Hashable, CustomStringConvertible {
    var name: String { get }
    var declaredDescription: String? { get }
    var options: DeclaredOptions? { get }
    var isRequired: Bool { get }
    var valueType: any Any.Type { get }
    var isSecret: Bool { get }
    /// Returns the rules with bounds and choices in the stored form, or in the form that the type has by itself.
    func rules(ofOwnForms: Bool) -> [PreferenceRule]
    var storedValue: PropertyListValue? { get }
    var source: PreferenceSource { get }
    var isSet: Bool { get }
    var isManaged: Bool { get }
    var store: PreferenceStore { get }
    /// The identities of its declaration and of the declarations of the values that it is a member of.
    var declarationIdentities: [ObjectIdentifier] { get }
    /// Whether the preference is a member of the stored value.
    var isMember: Bool { get }
    /// Returns the stored form of the default.
    func storedDefault() throws(PreferenceError) -> PropertyListValue?
    var codingIdentifier: String { get }
    /// The node of the store that is in use.
    var resolvedNode: Node { get }
    /// Returns the problems of the preference with these stored values.
    func problems(with candidates: [Candidate], _ outcome: String?) -> [PreferenceError]
    func canDecode(_ stored: PropertyListValue) -> Bool
    func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool
    ) throws(PreferenceError) -> PropertyListValue?
    func reset()
    func write(stored: PropertyListValue?) throws(PreferenceError)
    nonisolated(nonsending) func writeSuspending(stored: PropertyListValue?) async throws(PreferenceError)
}

extension DeclaredPreference {
    var storedRules: [PreferenceRule] { rules(ofOwnForms: false) }
    fileprivate func isEqual(to other: any DeclaredPreference) -> Bool { (other as? Self) == self }
}

extension Preference: DeclaredPreference {
    package var declarationIdentities: [ObjectIdentifier] {
        [ObjectIdentifier(declaration)] + (declaration.member?.enclosingDeclarations ?? [])
    }
    package var isMember: Bool { declaration.member != nil }
    package var options: DeclaredOptions? { declaration.options }
    package var isRequired: Bool { declaration.isRequired }
    package var valueType: any Any.Type { Value.self }
    package var codingIdentifier: String { declaration.coding.identifier }

    package func write(stored: PropertyListValue?) throws(PreferenceError) {
        if let value = try value(toSetFor: stored) { return try write(value) }
        try declaration.resolved.remove()
    }

    package nonisolated(nonsending) func writeSuspending(stored: PropertyListValue?) async throws(PreferenceError) {
        if let value = try value(toSetFor: stored) { return try await write(value) }
        try await declaration.resolved.remove()
    }

    /// Returns the value that a write of a stored form sets, or `nil` if it removes the stored value.
    private func value(toSetFor stored: PropertyListValue?) throws(PreferenceError) -> Value? {
        var parts: [EvolvingProblem] = []
        if let stored, !stored.isUnset, let value = try declaration.decodeUnchecked(stored, &parts, fillsOnly: true) {
            return value
        }
        // Only `nil` itself is a reset.
        if stored != nil, isRequired { throw declaration.missing }
        // Removing a member would remove the rest of the value.
        return isMember ? defaultValue : nil
    }

    package func canDecode(_ stored: PropertyListValue) -> Bool {
        var parts: [EvolvingProblem] = []
        if stored.isUnset { return true }
        do throws(PreferenceError) {
            return try declaration.decodeUnchecked(stored, &parts, fillsOnly: true) != nil
        } catch {
            return false
        }
    }

    package func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool
    ) throws(PreferenceError) -> PropertyListValue? {
        let declaration = declaration.resolved
        let (core, node) = (declaration.store.core, declaration.node)
        var outcome = ReadOutcome()
        let value = declaration.read(snapshot.candidates(core.names(of: node)), &outcome)
        for problem in outcome.parts + outcome.problems {
            core.report(isSecret(problem.candidate.value) ? problem.redacted(as: Value.self) : problem, of: node)
        }
        return try declaration.encodeUnchecked(value ?? defaultValue)
    }

    package func storedDefault() throws(PreferenceError) -> PropertyListValue? {
        try declaration.encodeUnchecked(defaultValue)
    }

    package func rules(ofOwnForms: Bool) -> [PreferenceRule] {
        guard declaration.member == nil else { return [] }
        func form(_ value: Value) -> PropertyListValue? { ofOwnForms ? Self.ownForm(of: value) : storedForm(of: value) }
        var rules = declaration.options?.rules.map { unsafeDowncast($0, to: Rule<Value>.self).untyped(form) } ?? []
        if !rules.contains(where: { $0.kind == .choices }), let cases = allCases(of: Value.self) {
            rules.insert(PreferenceRule(kind: .choices, choices: cases.compactMap(form)), at: 0)
        }
        return isSecret ? rules.map { PreferenceRule(kind: $0.kind) } : rules
    }

    /// Returns the form that the type has by itself, whichever coding stores it; `nil` for a type that has none, and for `nil`.
    package static func ownForm(of value: Value) -> PropertyListValue? {
        do { return try (value as? any PreferenceValue)?.storedValue() } catch { return nil }
    }

    /// Returns the stored form of a value, or `nil` if it can't be encoded: no stored value can equal it.
    private func storedForm(of value: Value) -> PropertyListValue? {
        do throws(PreferenceError) { return try declaration.encodeUnchecked(value) } catch { return nil }
    }
}

extension Preference: Hashable {
    /// Returns whether both have the same store and name and, for members of a value, the same key path.
    public static func == (left: Preference, right: Preference) -> Bool {
        left.store === right.store && left.name == right.name
            && left.declaration.member?.keyPath == right.declaration.member?.keyPath
    }

    /// Hashes the store, the name, the type and the key path.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(store))
        hasher.combine(name)
        hasher.combine(ObjectIdentifier(Value.self))
        hasher.combine(declaration.member?.keyPath)
    }
}

extension Preference: CustomStringConvertible, CustomReflectable {
    /// The name, the value and its source, as in `volume = 5 (default)`; a secret's value is `<redacted>`, even if none is stored.
    public var description: String {
        let member = declaration.member.map { "[\($0.keyPath)]" } ?? ""
        return "\(name)\(member) = \(isSecret ? .redacted : text(of: value)) (\(source))"
    }

    /// A mirror without children, because they could show the value of a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Returns a value's description, without the `Optional` around it.
package func text(of value: Any) -> String {
    if let date = value as? Date { return date.readable }
    return (value as? any _OptionalPreferenceValue)?.wrappedText ?? "\(value)"
}

extension _OptionalPreferenceValue {
    /// Whether there is no value.
    var isNil: Bool { wrapped == nil }

    fileprivate var wrappedText: String { wrapped.map { text(of: $0) } ?? "nil" }
}

/// Returns whether two values are equal; nil if their type isn't `Equatable`.
func areEqual<Value>(_ left: Value, _ right: Value) -> Bool? {
    func equals<Other: Equatable>(_ left: Other) -> Bool { left == right as? Other }
    return (left as? any Equatable).map { equals($0) }
}

/// Returns all values of a `CaseIterable` type, or of an optional of one, without `nil`; `nil` for other types.
private func allCases<Value>(of type: Value.Type) -> [Value]? {
    switch type {
    case let type as any CaseIterable.Type: type.allValues as? [Value]
    case let type as any _OptionalPreferenceValue.Type: type.allWrappedValues as? [Value]
    default: nil
    }
}

extension CaseIterable {
    fileprivate static var allValues: [Self] { Array(allCases) }
}

extension _OptionalPreferenceValue {
    fileprivate static var allWrappedValues: [Self]? { allCases(of: Wrapped.self)?.map { Self($0) } }
}
