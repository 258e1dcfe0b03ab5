#if Macros
internal import Preferences

// The attributes of an earlier version. `@PreferenceGroup` reports them, with the options to write in their place.

/// Unavailable: a rule is an option, `@Options(.range(0...10))`.
///
/// - Parameter rule: The rule for the property's value.
@attached(peer)
public macro Rule<Value: Sendable>(_ rule: PreferenceOption<Value>) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Unavailable: a rule is an option, `@Options(.length(1...8))`.
///
/// - Parameter rule: The rule for the property's value.
@attached(peer)
public macro Rule(_ rule: PreferenceOption<String>) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Unavailable: a secret is an option, `@Options(.secret)`.
@attached(peer)
public macro Secret() = #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")

/// Unavailable: former names are an option, `@Options(.formerly("player.nickName"))`.
///
/// - Parameters:
///   - name: The property's part of the stored name.
///   - formerName: A complete name under which the value was stored.
///   - others: Older names.
@attached(peer)
public macro Key(_ name: String, migratingFrom formerName: String, _ others: String...) =
    #externalMacro(module: "PreferencesMacrosPlugin", type: "MarkerMacro")
#endif
