extension PreferenceCoding
where Value: RawRepresentable & Sendable, Value.RawValue: PreferenceValue & Hashable {
    /// As the raw value; a raw value of an earlier version of the type reads as the case that `aliases` names for it.
    ///
    ///     @Preference("theme", coding: .rawValue(aliases: ["night": .dark])) var theme = Theme.system
    ///
    /// The next set stores the new raw value; reading never does.
    public static func rawValue(aliases: [Value.RawValue: Value]) -> PreferenceCoding {
        PreferenceCoding(adopting: aliasIdentifier(aliases)) { value in
            try value.rawValue.storedValue()
        } decode: { stored in
            if let value = aliases[try Value.RawValue(storedValue: stored)] { return value }
            return try Value(storedRawValue: stored)
        }
    }
}

extension PreferenceCoding
where
    Value: OptionalPreferenceValue & Sendable, Value.Wrapped: RawRepresentable & Sendable,
    Value.Wrapped.RawValue: PreferenceValue & Hashable
{
    /// As the raw value, nil as not set; a raw value of an earlier version of the type reads as the case that `aliases`
    /// names for it.
    public static func rawValue(aliases: [Value.Wrapped.RawValue: Value.Wrapped]) -> PreferenceCoding {
        PreferenceCoding(adopting: aliasIdentifier(aliases)) { value in
            try value.wrapped?.rawValue.storedValue()
        } decode: { stored in
            if let value = aliases[try Value.Wrapped.RawValue(storedValue: stored)] { return Value(value) }
            return Value(try Value.Wrapped(storedRawValue: stored))
        }
    }
}

/// Codings with different aliases read differently, so they share no decoded value.
private func aliasIdentifier<Raw: Hashable, Value: RawRepresentable>(_ aliases: [Raw: Value]) -> String {
    "rawValue " + aliases.map { "\($0)=\($1.rawValue)" }.sorted().joined(separator: ",")
}
