// One initializer for each kind of value, because a generic one can't choose the coding. A type's conformance to
// `PreferenceValue` is preferred to its raw value, and the raw value to `Codable`: the generic parameter `Raw` ranks the
// first two, `@_disfavoredOverload` ranks the last. So no declaration is ambiguous.

// All have the same order of parameters: name, default, coding, options, store.

extension Preference {
    /// Creates a property of a `PreferenceValue` type: `@Preference("volume", .range(0...10)) var volume = 5`.
    ///
    /// The type itself defines the stored form, see `PreferenceValue`.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value. It is evaluated each time that it is needed, on any
    ///     thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: PreferenceValue {
        self.init(declaring: name, .native, options, store, wrappedValue)
    }

    /// Creates an optional property of a `PreferenceValue` type: `@Preference("artist") var artist: String?`.
    ///
    /// The type itself defines the stored form, see `PreferenceValue`. Setting `nil` removes the stored value.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value, or `nil` if it has none. It is evaluated each time that it
    ///     is needed, on any thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: PreferenceValue & ExpressibleByNilLiteral {
        self.init(declaring: name, .native, options, store, wrappedValue)
    }

    /// Creates a property of a type with raw values: `@Preference("theme") var theme = Theme.light`.
    ///
    /// The raw value is stored. A stored raw value that the type doesn't know is unreadable: reading gives the default.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value. It is evaluated each time that it is needed, on any
    ///     thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init<Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: RawRepresentable, Value.RawValue == Raw {
        self.init(declaring: name, .rawValue, options, store, wrappedValue)
    }

    /// Creates an optional property of a type with raw values: `@Preference("theme") var theme: Theme?`.
    ///
    /// The raw value is stored. A stored raw value that the type doesn't know is unreadable: reading gives the default. Setting
    /// `nil` removes the stored value.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value, or `nil` if it has none. It is evaluated each time that it
    ///     is needed, on any thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init<Wrapped, Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue == Raw {
        self.init(declaring: name, .rawValue, options, store, wrappedValue)
    }

    /// Creates a property of a `Codable` type: `@Preference("frame") var frame = Frame()`.
    ///
    /// The value is stored as its `Codable` form, in nested arrays and dictionaries; `coding: .json` stores it as JSON.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value. It is evaluated each time that it is needed, on any
    ///     thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: Codable {
        self.init(declaring: name, .propertyList, options, store, wrappedValue)
    }

    /// Creates an optional property of a `Codable` type: `@Preference("frame") var frame: Frame?`.
    ///
    /// The value is stored as its `Codable` form, in nested arrays and dictionaries; `coding: .json` stores it as JSON. Setting
    /// `nil` removes the stored value.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value, or `nil` if it has none. It is evaluated each time that it
    ///     is needed, on any thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    @_disfavoredOverload
    public init<Wrapped: Codable>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped? {
        self.init(declaring: name, .propertyList, options, store, wrappedValue)
    }

    /// Creates a property with a coding: `@Preference("frame", coding: .json) var frame = Frame()`.
    ///
    /// `coding` defines the stored form, so the type needs no conformance except `Sendable`.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value. It is evaluated each time that it is needed, on any
    ///     thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - coding: The conversion between the value and its stored form, such as `.json` or `.jsonString`.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        coding: PreferenceCoding<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        self.init(declaring: name, coding, options, store, wrappedValue)
    }

    /// Creates an optional property with a coding: `@Preference("frame", coding: .json) var frame: Frame?`.
    ///
    /// `coding` defines the stored form, so the type needs no conformance except `Sendable`. Setting `nil` removes the stored
    /// value.
    ///
    /// - Parameters:
    ///   - wrappedValue: The default, which is the property's initial value, or `nil` if it has none. It is evaluated each time that it
    ///     is needed, on any thread; the rules don't apply to it.
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - coding: The conversion between the value and its stored form, such as `.json` or `.jsonString`.
    ///   - options: Rules, texts for people, former names and other attributes; see ``PreferenceOption``.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        coding: PreferenceCoding<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped? {
        self.init(declaring: name, coding, options, store, wrappedValue)
    }

    /// Creates a property for a preference that is declared elsewhere: `@Preference(preferences.$theme) var theme`.
    ///
    /// - Parameter preference: The declared preference. It keeps its store, even in a group that `PreferenceGroup.init(in:)` creates.
    public init(_ preference: @autoclosure () -> Preference<Value>) {
        // A static group that is first used here must not be bound to the store of the group that is being created.
        self = GroupBinding.$current.withValue(nil) { preference() }
    }
}
