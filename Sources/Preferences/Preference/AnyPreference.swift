/// A preference of any type, as `PreferenceGroup.preferences` lists it: for a page of settings, a report, or a test.
///
///     for preference in Defaults.general.preferences {
///         print(preference, preference.rule, preference.declaredDescription ?? "")
///     }
///
/// Two are equal if they have the same store, name and type. All members may be used on any thread.
public struct AnyPreference: Sendable {
    let base: any DeclaredPreference

    /// Creates a preference without its static type.
    public init<Value>(_ preference: Preference<Value>) {
        base = preference
    }

    init(_ base: any DeclaredPreference) {
        self.base = base
    }

    /// The name under which the value is stored.
    public var name: String { base.name }

    /// The purpose of the preference, from its declaration's `description:`.
    public var declaredDescription: String? { base.declaredDescription }

    /// The type of the preference's value.
    public var valueType: any Any.Type { base.valueType }

    /// Whether the value is a secret; see `Preference.isSecret`.
    public var isSecret: Bool { base.isSecret }

    /// The rule of the declaration, with its bounds in their stored form; for a secret only its kind.
    public var rule: Rule { base.storedRule }

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

    /// Returns whether a stored value can be decoded as the declared type, without applying the rule.
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
    /// - Throws: `unreadable` if `value` can't be decoded as the preference's type, or the errors of `Preference.write(_:)`; nothing
    ///   is changed then.
    public func write(_ value: PropertyListValue?) throws(PreferenceError) { try base.write(stored: value) }

    /// Removes the stored value, so that the default is read; see `Preference.reset()`.
    public func reset() { base.reset() }
}

extension AnyPreference {
    /// A `PreferenceRule` without the type of its values.
    public struct Rule: Sendable, Hashable {
        /// The kinds of rules.
        public enum Kind: Sendable, Hashable {
            /// Every value is allowed.
            case any
            /// The values between `minimum` and `maximum`, both included.
            case range
            /// The values of `choices`.
            case choices
            /// Values with a number of elements between `minimum` and `maximum`, both included.
            case length
            /// The values that a closure allows.
            case check
        }

        /// The kind of the rule.
        public let kind: Kind
        /// The minimum of a range in its stored form, or the minimum length; `nil` if the rule has none.
        public internal(set) var minimum: PropertyListValue?
        /// The maximum of a range in its stored form, or the maximum length; `nil` if the rule has none.
        public internal(set) var maximum: PropertyListValue?
        /// The allowed values in their stored form; without a rule of choices, the cases of a `CaseIterable` type.
        public internal(set) var choices: [PropertyListValue] = []
    }
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

extension AnyPreference.Rule: CustomStringConvertible {
    /// The rule in a few words, such as `0...10`; empty if every value is allowed.
    public var description: String {
        switch kind {
        case .range: bounds
        case .any, .choices: choices.map { "\($0)" }.joined(separator: ", ")
        case .length: bounds.isEmpty ? "" : "length " + bounds
        case .check: "checked by the program"
        }
    }

    private var bounds: String {
        // The rule of a secret has no bounds.
        if minimum == nil, maximum == nil { return "" }
        return "\(minimum.map { "\($0)" } ?? "")...\(maximum.map { "\($0)" } ?? "")"
    }
}

/// A preference without its static type.
protocol DeclaredPreference: Sendable, Hashable, CustomStringConvertible {
    var name: String { get }
    var declaredDescription: String? { get }
    var valueType: any Any.Type { get }
    var isSecret: Bool { get }
    var storedRule: AnyPreference.Rule { get }
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
    func canDecode(_ stored: PropertyListValue) -> Bool
    func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool
    ) throws(PreferenceError) -> PropertyListValue?
    func reset()
    func write(stored: PropertyListValue?) throws(PreferenceError)
}

extension DeclaredPreference {
    fileprivate func isEqual(to other: any DeclaredPreference) -> Bool { (other as? Self) == self }
}

extension Preference: DeclaredPreference {
    var declarationIdentities: [ObjectIdentifier] {
        [ObjectIdentifier(declaration)] + (declaration.member?.enclosingDeclarations ?? [])
    }
    var isMember: Bool { declaration.member != nil }
    var valueType: any Any.Type { Value.self }
    var codingIdentifier: String { declaration.coding.identifier }

    func write(stored: PropertyListValue?) throws(PreferenceError) {
        if let stored, let value = try declaration.decodeUnchecked(stored) { return try write(value) }
        // Removing a member would remove the rest of the value.
        if isMember { try write(defaultValue) } else { try store.write(nil, for: name) }
    }

    func canDecode(_ stored: PropertyListValue) -> Bool {
        do throws(PreferenceError) { return try declaration.decodeUnchecked(stored) != nil } catch { return false }
    }

    func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool
    ) throws(PreferenceError) -> PropertyListValue? {
        let (value, problems) = declaration.read(snapshot.candidates(for: name))
        let shown = problems.map { isSecret($0.value) ? $0.redacted(as: Value.self) : $0 }
        store.resolved.report(unreadable: shown, name: name)
        return try declaration.encodeUnchecked(value ?? defaultValue)
    }

    func storedDefault() throws(PreferenceError) -> PropertyListValue? {
        try declaration.encodeUnchecked(defaultValue)
    }

    var storedRule: AnyPreference.Rule { isSecret ? AnyPreference.Rule(kind: unredactedRule.kind) : unredactedRule }

    private var unredactedRule: AnyPreference.Rule {
        var rule = AnyPreference.Rule(kind: .any)
        switch declaration.condition?.kind {
        case nil: break
        case .range(let minimum, let maximum):
            rule = AnyPreference.Rule(
                kind: .range,
                minimum: minimum.flatMap { stored([$0]).first },
                maximum: maximum.flatMap { stored([$0]).first }
            )
        case .choices(let choices):
            return AnyPreference.Rule(kind: .choices, choices: stored(choices))
        case .length(let lengths):
            rule = AnyPreference.Rule(
                kind: .length,
                minimum: .integer(Int64(lengths.lowerBound)),
                maximum: lengths.upperBound == .max ? nil : .integer(Int64(lengths.upperBound - 1))
            )
        case .check:
            rule = AnyPreference.Rule(kind: .check)
        }
        if declaration.member == nil { rule.choices = stored(allCases(of: Value.self) ?? []) }
        return rule
    }

    /// Returns the stored forms of values, without those that can't be encoded: no stored value can equal one of these.
    private func stored(_ values: [Value]) -> [PropertyListValue] {
        values.compactMap { value in
            do throws(PreferenceError) { return try declaration.encodeUnchecked(value) } catch { return nil }
        }
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
func text(of value: Any) -> String {
    (value as? any _OptionalPreferenceValue)?.wrappedText ?? "\(value)"
}

extension _OptionalPreferenceValue {
    fileprivate var wrappedText: String { wrapped.map { text(of: $0) } ?? "nil" }
}

/// Returns whether two values are equal; `false` if their type isn't `Equatable`.
func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
    func equals<Other: Equatable>(_ left: Other) -> Bool { left == right as? Other }
    return (left as? any Equatable).map { equals($0) } ?? false
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
