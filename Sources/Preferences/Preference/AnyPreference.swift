/// A preference of any type, as `PreferenceGroup.preferences` lists it: for a page of settings, a report, or a test.
///
///     for preference in Defaults.general.preferences {
///         print(preference, preference.rule, preference.declaredDescription ?? "")
///     }
///
/// Two are equal if they have the same store, name and type. All of it may be used on any thread.
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

    /// The purpose of the preference, as its declaration's `description:` states it.
    public var declaredDescription: String? { base.declaredDescription }

    /// The type of the preference's value.
    public var valueType: any Any.Type { base.valueType }

    /// Whether the value is a secret; see `Preference.isSecret`.
    public var isSecret: Bool { base.isSecret }

    /// The rule of the declaration, with its bounds as they are stored; of a secret only its kind.
    public var rule: Rule { base.storedRule }

    /// The stored value, readable or not; `nil` if nothing is stored.
    public var storedValue: PropertyListValue? { base.storedValue }

    /// The place that the value comes from now.
    public var source: PreferenceSource { base.source }

    /// Whether a value is stored in the store itself; see `Preference.isSet`.
    public var isSet: Bool { base.isSet }

    /// Whether an administrator decides about the value; setting it then fails.
    public var isManaged: Bool { base.isManaged }

    /// The store in which the preference was declared.
    public var store: PreferenceStore { base.store }

    /// Whether it stands for a member of the stored value.
    package var isMember: Bool { base.isMember }

    /// Returns whether the declared type can be decoded from a stored value, whatever the rule says.
    package func canDecode(_ stored: PropertyListValue) -> Bool { base.canDecode(stored) }

    /// Returns the stored form of the value that the preference shows of a snapshot: the first that can be read, else the default.
    ///
    /// Values that can't be read are reported, as by any read; secrets, also those that `isSecret` says are ones, without the value.
    package func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool = { _ in false }
    ) throws(PreferencesError) -> PropertyListValue? {
        try base.storedForm(in: snapshot, isSecret: isSecret)
    }

    /// Stores a value in its stored form, or removes it if `value` is `nil`, as `reset()` does.
    ///
    /// The form is that of `storedValue`: for a member of a value that of the whole, of which the member is taken.
    ///
    /// - Throws: `unreadable` if the preference's type can't be decoded from it, `invalid` if it breaks the rule, and as
    ///   `Preference.write(_:)`; nothing is changed then.
    public func write(_ value: PropertyListValue?) throws(PreferencesError) { try base.write(stored: value) }

    /// Removes the stored value, so that the default is read; an error is reported to the store's issue handler.
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
        /// The least value of a range, as it is stored, or the least length.
        public internal(set) var minimum: PropertyListValue?
        /// The greatest value of a range, as it is stored, or the greatest length.
        public internal(set) var maximum: PropertyListValue?
        /// The allowed values, as they are stored; without a rule of choices, those of a `CaseIterable` type.
        public internal(set) var choices: [PropertyListValue] = []
    }
}

extension AnyPreference: Hashable {
    /// Returns whether both have the same store, name and type.
    public static func == (left: AnyPreference, right: AnyPreference) -> Bool { left.base.isEqual(to: right.base) }

    /// Hashes the store, the name and the type.
    public func hash(into hasher: inout Hasher) { base.hash(into: &hasher) }
}

extension AnyPreference: CustomStringConvertible, CustomReflectable {
    /// The name, the value and its source, as in `volume = 5 (default)`; `<redacted>` for a secret.
    public var description: String { base.description }

    /// A mirror without children, which would have the value of a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension AnyPreference.Rule: CustomStringConvertible {
    /// The rule in a few words, as `0...10`; empty if every value is allowed.
    public var description: String {
        switch kind {
        case .range: bounds
        case .any, .choices: choices.map { "\($0)" }.joined(separator: ", ")
        case .length: bounds.isEmpty ? "" : "length " + bounds
        case .check: "checked by the program"
        }
    }

    private var bounds: String {
        // Of a secret, which has a rule without them.
        if minimum == nil, maximum == nil { return "" }
        return "\(minimum.map { "\($0)" } ?? "")...\(maximum.map { "\($0)" } ?? "")"
    }
}

/// A preference, whatever its type.
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
    /// The identity of its declaration, and of those that it is a member of.
    var declarationIdentities: [ObjectIdentifier] { get }
    /// Whether it stands for a member of the stored value.
    var isMember: Bool { get }
    /// The default as it is stored.
    func storedDefault() throws(PreferencesError) -> PropertyListValue?
    var codingIdentifier: String { get }
    func canDecode(_ stored: PropertyListValue) -> Bool
    func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool
    ) throws(PreferencesError) -> PropertyListValue?
    func reset()
    func write(stored: PropertyListValue?) throws(PreferencesError)
}

extension DeclaredPreference {
    fileprivate func isEqual(to other: any DeclaredPreference) -> Bool { (other as? Self) == self }
}

extension Preference: DeclaredPreference {
    var declarationIdentities: [ObjectIdentifier] {
        [ObjectIdentifier(declaration)] + (declaration.member?.wholes ?? [])
    }
    var isMember: Bool { declaration.member != nil }
    var valueType: any Any.Type { Value.self }
    var codingIdentifier: String { declaration.coding.identifier }

    func write(stored: PropertyListValue?) throws(PreferencesError) {
        if let stored, let value = try declaration.decodeUnchecked(stored) { return try write(value) }
        // To remove a member would remove the rest of the value.
        if isMember { try write(defaultValue) } else { try store.write(nil, for: name) }
    }

    func canDecode(_ stored: PropertyListValue) -> Bool {
        do throws(PreferencesError) { return try declaration.decodeUnchecked(stored) != nil } catch { return false }
    }

    func storedForm(
        in snapshot: StoreSnapshot,
        isSecret: (PropertyListValue) -> Bool
    ) throws(PreferencesError) -> PropertyListValue? {
        let (value, problems) = declaration.read(snapshot.candidates(for: name))
        let shown = problems.map { isSecret($0.value) ? $0.redacted(as: Value.self) : $0 }
        store.resolved.report(unreadable: shown, name: name)
        return try declaration.encodeUnchecked(value ?? defaultValue)
    }

    func storedDefault() throws(PreferencesError) -> PropertyListValue? {
        try declaration.encodeUnchecked(defaultValue)
    }

    var storedRule: AnyPreference.Rule { isSecret ? AnyPreference.Rule(kind: wholeRule.kind) : wholeRule }

    private var wholeRule: AnyPreference.Rule {
        var rule = AnyPreference.Rule(kind: .any)
        switch declaration.condition?.kind {
        case nil: break
        case .range(let least, let greatest):
            let (least, greatest) = (least.flatMap { stored([$0]).first }, greatest.flatMap { stored([$0]).first })
            rule = AnyPreference.Rule(kind: .range, minimum: least, maximum: greatest)
        case .choices(let choices):
            return AnyPreference.Rule(kind: .choices, choices: stored(choices))
        case .length(let lengths):
            let greatest = lengths.upperBound == .max ? nil : PropertyListValue.integer(Int64(lengths.upperBound - 1))
            rule = AnyPreference.Rule(
                kind: .length,
                minimum: .integer(Int64(lengths.lowerBound)),
                maximum: greatest
            )
        case .check:
            rule = AnyPreference.Rule(kind: .check)
        }
        if declaration.member == nil { rule.choices = stored(allCases(of: Value.self) ?? []) }
        return rule
    }

    /// Values as they are stored, without those that can't be: no stored value equals one.
    private func stored(_ values: [Value]) -> [PropertyListValue] {
        values.compactMap { value in
            do throws(PreferencesError) { return try declaration.encodeUnchecked(value) } catch { return nil }
        }
    }
}

extension Preference: Hashable {
    /// Returns whether both have the same store and name; of members of a value, also the same key path.
    public static func == (left: Preference, right: Preference) -> Bool {
        left.store === right.store && left.name == right.name
            && left.declaration.member?.keyPath == right.declaration.member?.keyPath
    }

    /// Hashes the store, the name and the type.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(store))
        hasher.combine(name)
        hasher.combine(ObjectIdentifier(Value.self))
        hasher.combine(declaration.member?.keyPath)
    }
}

extension Preference: CustomStringConvertible, CustomReflectable {
    /// The name, the value and its source, as in `volume = 5 (default)`; `<redacted>` for a secret, also if that is absent.
    public var description: String {
        let member = declaration.member.map { "[\($0.keyPath)]" } ?? ""
        return "\(name)\(member) = \(isSecret ? .redacted : text(of: value)) (\(source))"
    }

    /// A mirror without children, which would have the value of a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A value's description, without the `Optional` around it.
func text(of value: Any) -> String {
    (value as? any _OptionalPreferenceValue)?.wrappedText ?? "\(value)"
}

extension _OptionalPreferenceValue {
    fileprivate var wrappedText: String { wrapped.map { text(of: $0) } ?? "nil" }
}

/// Whether two values are equal; `false` if their type can't tell.
func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
    func equals<Other: Equatable>(_ left: Other) -> Bool { left == right as? Other }
    return (left as? any Equatable).map { equals($0) } ?? false
}

/// All values of a type that has few.
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
