#if Macros
@_exported public import Observation  // As in `Preferences`: the expansions refer to both through this module.
@_exported public import Preferences

/// Declares a struct or a final class as a group of preferences: each of its `var`s becomes one, stored under the property's name.
///
///     @PreferenceGroup(prefix: "player.")
///     struct Player {
///         /// How loud it is
///         @Options(.range(0...10)) var volume = 5
///         var artist: String?
///     }
///
/// In a struct each property gets the wrapper `Preference`, so `$volume` is the preference. A final class becomes
/// `Observable` and `Sendable`: each property reads and writes a `Preference` named `_volume`. Either conforms to the
/// protocol `PreferenceGroup`, and so has `init(in:)`, `preferences` and `reset()`. The first paragraph of a documentation comment
/// is the preference's description, unless its options have one.
///
/// Not changed: static and computed properties, those with another wrapper (in a struct also `@Preference`), and `let`s that hold
/// a `Preference(…)` or a nested group.
///
/// - Important: Renaming a property changes the name under which it is stored, which no compiler can notice: the value that is stored
///   under the former name is kept but no longer read. `@Key("former")` keeps the name, and `@Options(.formerly("former"))` reads the
///   value under both.
/// - Parameter prefix: The beginning of each stored name, a literal such as `"player."`; empty by default.
@attached(member, names: named(init))
@attached(memberAttribute)
@attached(extension, conformances: PreferenceGroup, Observable)
public macro PreferenceGroup(prefix: String = "") =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "PreferenceGroupMacro")

/// Stores a property of a `@PreferenceGroup` under a different name, after the group's prefix.
///
///     @Key("nick") var nickname = ""
///
/// It keeps the stored name of a property that is renamed. To give up the old name, use the option `.formerly`.
///
/// - Parameter name: The property's part of the stored name, a literal that isn't empty.
@attached(peer)
public macro Key(_ name: String) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

// Each overload is for another state of the type that the compiler finds in the options alone. The conversion to an optional makes the
// first one the last choice: as `Options<Value>(_ options: PreferenceOption<Value>...)` it would give `.required` beside a rule the
// type of the rule, for which `.required` is deprecated, or be ambiguous. With the conversion on each option, the time to check
// a declaration would double with each option.

/// Gives a property of a `@PreferenceGroup` options, the same as those of a declaration; see `PreferenceOption`.
///
///     @Options(.range(0...10), .description("How loud it is")) var volume = 5
///     @Options(.choices([Theme.light, .dark])) var theme = Theme.light
///     @Options(.formerly("player.nickName")) var nickname = ""
///     @Options(.secret) var token: String?
///
/// The compiler also checks the options alone, without the property: if a rule leaves the type open, specify it, as in `Theme.light` or
/// `PreferenceOption<Int>.check { $0.isMultiple(of: 2) }`. In a struct a closure can't name its parameters.
///
/// - Parameters:
///   - option: A rule, a text for people, former names or another attribute. The group's prefix isn't added to a former name.
///   - others: More of them.
@attached(peer)
public macro Options<Value: Sendable>(_ option: PreferenceOption<Value>?, _ others: PreferenceOption<Value>...) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Gives a property of a `@PreferenceGroup` options that also fit an optional: `@Options(.required, .range(1...9)) var port: Int?`.
///
/// - Parameter options: Rules, texts for people, former names and other attributes. The group's prefix isn't added to a former name.
@attached(peer)
public macro Options<Wrapped: Sendable>(_ options: PreferenceOption<Wrapped?>...) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Gives a property of a `@PreferenceGroup` options for strings, or options that alone leave their type open, such as `.secret`.
///
/// - Parameter options: Rules, texts for people, former names and other attributes. The group's prefix isn't added to a former name.
@attached(peer)
public macro Options(_ options: PreferenceOption<String?>...) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Excludes a property of a `@PreferenceGroup` from the preferences: its value is never stored.
///
/// In a struct the property is not changed; a preference in its value is still found by `preferences` and `reset()`. In a final
/// class it holds a `Sendable` value that any thread may read and set and that Observation tracks like the preferences;
/// `selection += 1` is a read and a write, so it isn't atomic.
@attached(peer)
public macro Transient() = #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Used by the expansion of `@PreferenceGroup` on a class, for each property.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro _PreferenceProperty(_ name: String, description: String? = nil) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "PropertyMacro")

/// Used by the expansion of `@PreferenceGroup` on a class, for each property that is `@Transient`.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro _TransientProperty() = #externalMacro(module: "PreferencesMacrosPlugin", type: "PropertyMacro")
#endif
