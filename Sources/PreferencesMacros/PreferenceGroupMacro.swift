#if Macros
@_exported public import Observation  // As in `Preferences`: the expansions refer to both through this module.
@_exported public import Preferences

/// Declares a struct or a final class as a group of preferences: each of its `var`s becomes one, stored under the property's name.
///
///     @PreferenceGroup(prefix: "player.")
///     struct Player {
///         /// How loud it is
///         @Rule(.range(0...10)) var volume = 5
///         var artist: String?
///     }
///
/// In a struct each property gets the wrapper `Preference`, so `$volume` is the preference. A final class becomes
/// `Observable` and `Sendable`: each property reads and writes a `Preference` named `_volume`. Either conforms to the
/// protocol `PreferenceGroup`, and so has `init(in:)`, `preferences` and `reset()`. The first paragraph of a documentation comment
/// is the preference's description.
///
/// Not changed: static and computed properties, those with another wrapper (in a struct also `@Preference`), and `let`s that hold
/// a `Preference(…)` or a nested group.
///
/// - Important: Renaming a property changes the name under which it is stored, which no compiler can notice: the value that is stored
///   under the former name is kept but no longer read. `@Key("former")` keeps the name.
/// - Parameter prefix: The beginning of each stored name, a literal such as `"player."`; empty by default.
@attached(member, names: named(init), named(migrate))
@attached(memberAttribute)
@attached(extension, conformances: PreferenceGroup, Observable)
public macro PreferenceGroup(prefix: String = "") =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "PreferenceGroupMacro")

/// Stores a property of a `@PreferenceGroup` under a different name, after the group's prefix.
///
///     @Key("nick") var nickname = ""
///     @Key("nick", migratingFrom: "player.nickName") var nickname = ""
///
/// It keeps the stored name of a property that is renamed. With former names, the group gets a method `migrate()`, which moves the
/// value of the first former name that is set, by `Preference.migrate(from:)`; call it at launch. A declaration alone reads and writes
/// nothing.
///
/// - Parameters:
///   - name: The property's part of the stored name, a literal that isn't empty.
///   - formerNames: The complete names under which the value was stored; the prefix isn't added.
@attached(peer)
public macro Key(_ name: String, migratingFrom formerNames: String...) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Gives a property of a `@PreferenceGroup` a rule: a value that violates it is rejected, as described in `PreferenceRule`.
///
///     @Rule(.range(0...10)) var volume = 5
///     @Rule(.choices([Theme.light, .dark])) var theme = Theme.light
///
/// The compiler also checks the rule alone, without the property: if that leaves the type open, specify it, as in `Theme.light` or
/// `PreferenceRule<Int>.check { $0.isMultiple(of: 2) }`. In a struct a closure can't name its parameters.
///
/// - Parameter rule: The rule for the property's value.
@attached(peer)
public macro Rule<Value: Sendable>(_ rule: PreferenceRule<Value>) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Gives a property of a `@PreferenceGroup` a rule for strings, or a rule that alone leaves its type open, such as `.length(1...8)`.
///
/// - Parameter rule: The rule for the property's value.
@attached(peer)
public macro Rule(_ rule: PreferenceRule<String>) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Marks a property of a `@PreferenceGroup` as a secret: descriptions, errors, issues and schemas don't show its value.
///
///     @PreferenceGroup(prefix: "account.")
///     struct Credentials {
///         @Secret var token: String?
///     }
///     let credentials = Credentials(in: .keyring)  // of the product PreferencesKeyring
///
/// It doesn't encrypt: a secret that is stored in a file, user defaults or iCloud is reported as `misuse`; see `Preference.isSecret`.
@attached(peer)
public macro Secret() = #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

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
public macro _PreferenceProperty(_ name: String, description: String? = nil, isSecret: Bool = false) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "PropertyMacro")

/// Used by the expansion of `@PreferenceGroup` on a class, for each property that is `@Transient`.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro _TransientProperty() = #externalMacro(module: "PreferencesMacrosPlugin", type: "PropertyMacro")
#endif
