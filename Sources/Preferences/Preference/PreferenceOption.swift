/// An option of a preference's declaration: a rule, a text for people, or a property such as `.secret`.
///
///     @Preference("volume", .range(0...10), .description("From 0, silent, to 10"), .formerly("vol")) var volume = 5
///     @Preference("token", .secret, in: .keyring) var token: String?
///     let launches = Preference("launches", default: 0, .title("Launches"), .section("Statistics"))
///
/// Options stand after the name, the default and the coding, in any order. Rules combine: a value must meet all of them. Of another
/// option that is given twice the last counts, and the store's issue handler is notified of the `misuse`.
///
/// Options of your own are extensions:
///
///     extension PreferenceOption where Value == Int {
///         static var percentage: Self { .range(0...100) }
///     }
public struct PreferenceOption<Value: Sendable>: Sendable {
    // Its layout doesn't depend on `Value`: otherwise each type of values would cost a declaration 1,000 to 2,000 instructions.
    let kind: DeclaredOptions.Option

    init(_ kind: DeclaredOptions.Option) { self.kind = kind }
}

extension PreferenceOption {
    /// Describes the purpose of the preference, for `declaredDescription` and the schema of its group.
    public static func description(_ text: String) -> Self { Self(.description(text)) }

    /// Names the preference for people, as a form of settings shows it; without it, the name is shown.
    public static func title(_ text: String) -> Self { Self(.title(text)) }

    /// Names the section of a form of settings that the preference belongs to.
    public static func section(_ text: String) -> Self { Self(.section(text)) }

    /// Marks the preference as one that should no longer be set.
    ///
    /// The issue handler is notified once, with the code `deprecated`, if a layer has a value when the preference is read.
    ///
    /// - Parameter text: The advice that the issue gives, as in `.deprecated("set volume")`.
    public static func deprecated(_ text: String) -> Self { Self(.deprecated(text)) }

    /// Declares the value a secret: descriptions, errors, reports and schemas show `<redacted>` in its place.
    ///
    /// In a store of secrets, such as the system's keyring, every value is a secret without it.
    public static var secret: Self { Self(.secret) }

    /// Gives the preference an option of one letter on the command line, in the product `PreferencesArgumentParser`.
    ///
    /// - Parameter name: The letter, as in `.short("v")` for `-v`.
    public static func short(_ name: Character) -> Self { Self(.short(name)) }

    /// Names under which the value was stored before the preference got its present name.
    ///
    ///     @Preference("sendReports", .formerly("telemetry")) var sendReports = true
    ///
    /// They are read in every layer, behind the name itself, so that an administrator's policy, a variable of the environment and an
    /// argument under the old name go on working. A write stores the new name and removes the former ones, in one step. `isSet`,
    /// `isManaged`, `reset()` and the conditions of updates and transactions cover them. The issue handler is notified once, with the
    /// code `deprecated`, of a file, an argument or a variable that uses one.
    ///
    /// A program that knows only the former name reads its default after the first write. For another type or another store use
    /// ``Preference/migrate(from:)``.
    ///
    /// - Parameters:
    ///   - name: The complete former name; the prefix of a macro isn't added, that of a scope is. One that another preference of the
    ///     store has as its name or as a former name is reported as `misuse` and ignored.
    ///   - others: Older names. The first of all that has a value is read.
    public static func formerly(_ name: String, _ others: String...) -> Self { Self(.formerly([name] + others)) }
}

extension PreferenceOption where Value: ExpressibleByNilLiteral {
    /// Requires a value: setting `nil` fails with the error `invalid`.
    ///
    /// For an optional without a default, as in `@Preference("port", .required) var port: Int?`; a default is reported as `misuse`.
    /// `reset()` removes the stored value all the same.
    public static var required: Self { Self(.required) }
}

// MARK: Rules

extension PreferenceOption {
    /// Allows the values for which a closure returns `true`.
    ///
    ///     @Preference("port", .check("must not be 80") { $0 != 80 }) var port = 8080
    ///
    /// A value that breaks a rule is never clamped: setting it fails with the error `invalid`, and reading it, if it is already stored,
    /// gives the next layer's value or the default. The default isn't checked.
    ///
    /// - Parameters:
    ///   - requirement: The requirement in words, for the error and the schema.
    ///   - isAllowed: Returns whether a value is allowed, or throws the reason to reject it, which the error `invalid` shows. It runs on
    ///     any thread, before each write and once for each stored value that is read. It must not use the store.
    public static func check(_ requirement: String, _ isAllowed: @escaping @Sendable (Value) throws -> Bool) -> Self {
        Self(Rule(.check(requirement)) { reason(for: $0, unless: isAllowed, requirement) })
    }

    /// Allows the values for which a closure returns `true`, without a requirement in words.
    public static func check(_ isAllowed: @escaping @Sendable (Value) throws -> Bool) -> Self { check("", isAllowed) }

    /// Allows `nil` and the values for which a closure returns `true`.
    ///
    /// - Parameters:
    ///   - requirement: The requirement in words, for the error and the schema.
    ///   - isAllowed: Returns whether a wrapped value is allowed, or throws the reason to reject it, which the error `invalid` shows. It
    ///     runs on any thread, before each write and once for each stored value that is read. It must not use the store.
    public static func check<Wrapped>(
        _ requirement: String,
        _ isAllowed: @escaping @Sendable (Wrapped) throws -> Bool
    ) -> Self where Value == Wrapped? {
        Self(Rule(.check(requirement)) { $0.flatMap { reason(for: $0, unless: isAllowed, requirement) } })
    }

    /// Allows `nil` and the values for which a closure returns `true`, without a requirement in words.
    public static func check<Wrapped>(_ isAllowed: @escaping @Sendable (Wrapped) throws -> Bool) -> Self
    where Value == Wrapped? {
        check("", isAllowed)
    }

    fileprivate init(_ rule: Rule<Value>) { self.init(.rule(rule)) }
}

extension PreferenceOption where Value: Comparable {
    /// Allows the values of a range, including its bounds.
    public static func range(_ range: ClosedRange<Value>) -> Self { between(range.lowerBound, range.upperBound) }

    /// Allows the values of at least a minimum, as in `1...`.
    public static func range(_ range: PartialRangeFrom<Value>) -> Self { between(range.lowerBound, nil) }

    /// Allows the values of at most a maximum, as in `...10`.
    public static func range(_ range: PartialRangeThrough<Value>) -> Self { between(nil, range.upperBound) }

    private static func between(_ minimum: Value?, _ maximum: Value?) -> Self {
        Self(Rule(.range(minimum: minimum, maximum: maximum)) { reason(for: $0, between: minimum, maximum) })
    }
}

extension PreferenceOption {
    /// Allows `nil` and the values of a range, including its bounds.
    public static func range<Wrapped: Comparable>(_ range: ClosedRange<Wrapped>) -> Self where Value == Wrapped? {
        between(range.lowerBound, range.upperBound)
    }

    /// Allows `nil` and the values of at least a minimum, as in `1...`.
    public static func range<Wrapped: Comparable>(_ range: PartialRangeFrom<Wrapped>) -> Self where Value == Wrapped? {
        between(range.lowerBound, nil)
    }

    /// Allows `nil` and the values of at most a maximum, as in `...10`.
    public static func range<Wrapped: Comparable>(_ range: PartialRangeThrough<Wrapped>) -> Self
    where Value == Wrapped? {
        between(nil, range.upperBound)
    }

    private static func between<Wrapped: Comparable>(_ minimum: Wrapped?, _ maximum: Wrapped?) -> Self
    where Value == Wrapped? {
        Self(
            Rule(.range(minimum: .some(minimum), maximum: .some(maximum))) { value in
                value.flatMap { reason(for: $0, between: minimum, maximum) }
            }
        )
    }
}

extension PreferenceOption where Value: Equatable {
    /// Allows the values of a list.
    public static func choices(_ choices: [Value]) -> Self {
        Self(Rule(.choices(choices)) { reason(for: $0, among: choices) })
    }
}

extension PreferenceOption {
    /// Allows `nil` and the values of a list.
    public static func choices<Wrapped: Equatable>(_ choices: [Wrapped]) -> Self where Value == Wrapped? {
        Self(Rule(.choices(choices)) { $0.flatMap { reason(for: $0, among: choices) } })
    }
}

extension PreferenceOption where Value: Collection {
    /// Allows collections whose number of elements, and strings whose number of characters, is in a range, such as `1...20` or `1...`.
    public static func length(_ lengths: some RangeExpression<Int>) -> Self {
        let lengths = halfOpen(lengths)
        return Self(Rule(.length(lengths)) { reason(for: $0, ofLength: lengths) })
    }
}

extension PreferenceOption {
    /// Allows `nil`, collections whose number of elements, and strings whose number of characters, is in a range, such as `1...20` or
    /// `1...`.
    public static func length<Wrapped: Collection>(_ lengths: some RangeExpression<Int>) -> Self
    where Value == Wrapped? {
        let lengths = halfOpen(lengths)
        return Self(Rule(.length(lengths)) { $0.flatMap { reason(for: $0, ofLength: lengths) } })
    }
}

/// Returns a range of lengths without its upper bound; the upper bound `Int.max` stands for none.
private func halfOpen(_ lengths: some RangeExpression<Int>) -> Range<Int> {
    // These include `Int.max`, behind which no range can end.
    switch lengths {
    case let lengths as ClosedRange<Int> where lengths.upperBound == .max: lengths.lowerBound..<Int.max
    case let lengths as PartialRangeThrough<Int> where lengths.upperBound == .max: 0..<Int.max
    default: lengths.relative(to: 0..<Int.max)
    }
}

private func reason<Value: Comparable>(for value: Value, between minimum: Value?, _ maximum: Value?) -> String? {
    // A date that is no number is equal to none, and not less than any.
    let isAllowed = value == value && minimum.map { $0 <= value } ?? true && maximum.map { value <= $0 } ?? true
    return isAllowed ? nil : "\(text(of: value)) is outside \(boundText(minimum))...\(boundText(maximum))"
}

private func boundText<Value>(_ bound: Value?) -> String { bound.map { text(of: $0) } ?? "" }

private func reason<Value: Equatable>(for value: Value, among choices: [Value]) -> String? {
    if choices.contains(value) { return nil }
    return "\(text(of: value)) is not one of \(choices.map { text(of: $0) }.joined(separator: ", "))"
}

private func reason<Value: Collection>(for value: Value, ofLength lengths: Range<Int>) -> String? {
    let length = value.count
    guard !lengths.contains(length) else { return nil }
    let maximum = lengths.upperBound == .max ? nil : lengths.upperBound - 1
    return "the length \(length) is outside \(lengths.lowerBound)...\(boundText(maximum))"
}

private func reason<Value>(for value: Value, unless isAllowed: (Value) throws -> Bool, _ requirement: String) -> String?
{
    let rule = requirement.isEmpty ? "the preference's rule" : "the rule \"\(requirement)\""
    do {
        return try isAllowed(value) ? nil : "\(text(of: value)) is rejected by \(rule)"
    } catch {
        return "\(text(of: value)) is rejected by \(rule): \(error)"
    }
}

// MARK: Mistakes

// Declarations that compile only to explain a mistake, as in Preference+Mistakes.
extension PreferenceOption {
    /// Unavailable: a range has the preference's own type and includes its bounds.
    @available(
        *,
        unavailable,
        message: "'.range' takes a range of the preference's own type, which must be Comparable, such as 0...9 or 1..."
    )
    public static func range<Bounds>(_ bounds: Bounds...) -> Self { fatalError() }

    /// Unavailable: a range of values includes its bounds.
    @available(*, unavailable, message: "'.range' takes a range that includes its bounds, such as 0...9 or 1...")
    public static func range<Bound>(_ range: Range<Bound>) -> Self { fatalError() }

    /// Unavailable: only strings, data and collections have a length.
    @available(
        *,
        unavailable,
        message: "'.length' is for strings, data and collections; for a number use '.range'"
    )
    public static func length(_ lengths: some RangeExpression<Int>) -> Self { fatalError() }

    /// Unavailable: a length is given as a range.
    @available(*, unavailable, message: "'.length' takes a range of integers, such as 1...8 or 8...8")
    public static func length<Length>(_ lengths: Length...) -> Self { fatalError() }

    /// Unavailable: the choices are an array of the preference's own type.
    @available(
        *,
        unavailable,
        message: "'.choices' takes an array of the preference's own type, which must be Equatable"
    )
    public static func choices<Choice>(_ choices: Choice...) -> Self { fatalError() }

    // For closures of two types only: a generic one would also fit a closure with a misspelled member, and hide that error.
    /// Unavailable: the closure takes the preference's value.
    @available(*, unavailable, message: "the closure of '.check' takes a value of the preference's own type")
    public static func check(_ requirement: String = "", _ isAllowed: (String) throws -> Bool) -> Self {
        fatalError()
    }

    /// Unavailable: the closure takes the preference's value.
    @available(*, unavailable, message: "the closure of '.check' takes a value of the preference's own type")
    public static func check(_ requirement: String = "", _ isAllowed: (Double) throws -> Bool) -> Self {
        fatalError()
    }

    // Not unavailable, and not disfavoured: then `var port = 8080` would become an optional, without a message.
    /// Deprecated: only an optional without a default can be required. It has no effect.
    @available(
        *,
        deprecated,
        message: "a required preference has no default: declare an optional, as in 'var port: Int?'"
    )
    public static var required: Self { Self(.required) }
}
