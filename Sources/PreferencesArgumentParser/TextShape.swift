#if ArgumentParser
internal import Preferences

/// How the value of a preference is written on a command line.
enum TextShape {
    /// As an option without a value.
    case boolean
    /// As an option for each element.
    case list
    /// As an option `key=value` for each member.
    case dictionary
    /// As one text.
    case single

    fileprivate init(of type: Any.Type, coding: String) {
        let native = PreferenceCoding<Bool>.native.identifier
        let isRawValue = coding.hasPrefix("rawValue")
        self =
            switch type {
            case let type as any _OptionalPreferenceValue.Type: Self(of: type.wrappedType, coding: coding)
            case let type as any RawRepresentable.Type where isRawValue: Self(of: type.rawType, coding: native)
            case is Bool.Type: .boolean
            case _ where ![native, PreferenceCoding<Bool>.propertyList.identifier].contains(coding): .single
            case is any StoredAsBounds.Type: .single
            case is any StoredAsArray.Type: .list
            case is any StoredAsDictionary.Type: .dictionary
            default: .single
            }
    }

    /// Returns the type of one text: that of an element or a member, without the optional around it.
    fileprivate func textType(of type: Any.Type) -> Any.Type {
        switch type {
        case let type as any _OptionalPreferenceValue.Type: textType(of: type.wrappedType)
        case let type as any StoredAsArray.Type where self == .list: type.elementType
        case let type as any StoredAsDictionary.Type where self == .dictionary: type.memberType
        default: type
        }
    }
}

extension RawRepresentable {
    fileprivate static var rawType: Any.Type { RawValue.self }
}

extension AnyPreference {
    /// How the value is written on a command line.
    var textShape: TextShape { TextShape(of: base.valueType, coding: base.codingIdentifier) }

    /// The type of the value, or of a list's elements or a dictionary's members, without the optional around it.
    var textType: any Any.Type { textShape.textType(of: base.valueType) }
}
#endif
