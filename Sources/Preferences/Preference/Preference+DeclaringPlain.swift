// Declarations without a property wrapper, with one initializer for each kind of value as in Preference+Declaring.

extension Preference {
    /// Creates a preference of a `PreferenceValue` type without a property wrapper: `Preference("count", default: 0)`.
    ///
    /// The type itself defines the stored form, see `PreferenceValue`.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rules
    ///     don't apply to it.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: PreferenceValue {
        self.init(declaring: name, .native, options, store, `default`)
    }

    // Without this overload, an operator after the declaration, as in `Preference("opacity", default: 0.5).value == 1.5`, makes
    // the type ambiguous: the literal may also be a `Decimal`.
    /// Creates a preference of type `Double` without a property wrapper: `Preference("opacity", default: 0.5)`.
    ///
    /// The value is stored as a real.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rules
    ///     don't apply to it.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Double {
        self.init(declaring: name, .native, options, store, `default`)
    }

    /// Creates a preference of a type with raw values, without a property wrapper: `Preference("theme", default: Theme.light)`.
    ///
    /// The raw value is stored. A stored raw value that the type doesn't know is unreadable: reading gives the default.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rules
    ///     don't apply to it.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init<Raw: PreferenceValue>(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: RawRepresentable, Value.RawValue == Raw {
        self.init(declaring: name, .rawValue, options, store, `default`)
    }

    /// Creates an optional preference of a type with raw values, without a property wrapper: `Preference<Theme?>("theme", default:
    /// .light)`.
    ///
    /// The raw value is stored. A stored raw value that the type doesn't know is unreadable: reading gives the default. Setting
    /// `nil` removes the stored value.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rules
    ///     don't apply to it.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init<Wrapped, Raw: PreferenceValue>(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue == Raw {
        self.init(declaring: name, .rawValue, options, store, `default`)
    }

    /// Creates a preference of a `Codable` type without a property wrapper: `Preference("frame", default: Frame())`.
    ///
    /// The value is stored as its `Codable` form, in nested arrays and dictionaries; `coding: .json` stores it as JSON.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rules
    ///     don't apply to it.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    @_disfavoredOverload
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: Codable {
        self.init(declaring: name, .propertyList, options, store, `default`)
    }

    /// Creates a preference with a coding and without a property wrapper: `Preference("frame", default: Frame(), coding: .json)`.
    ///
    /// `coding` defines the stored form, so the type needs no conformance except `Sendable`.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rules
    ///     don't apply to it.
    ///   - coding: The conversion between the value and its stored form, such as `.json` or `.jsonString`.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        coding: PreferenceCoding<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        self.init(declaring: name, coding, options, store, `default`)
    }
}
