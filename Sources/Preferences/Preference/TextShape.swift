/// How a value is written on a command line.
package enum TextShape {
    /// As an option without a value.
    case boolean
    /// As an option for each element.
    case list
    /// As an option `key=value` for each member.
    case dictionary
    /// As one text.
    case single

    init(of type: Any.Type, coding: String) { self = Self.shape(of: type, coding: coding) }

    /// Returns the type of one text: that of an element or a member, without the optional around it.
    func textType(of type: Any.Type) -> Any.Type {
        switch type {
        case let type as any _OptionalPreferenceValue.Type: textType(of: type.wrappedType)
        case let type as any StoredAsArray.Type where self == .list: type.elementType
        case let type as any StoredAsDictionary.Type where self == .dictionary: type.memberType
        default: type
        }
    }

    private static let native = PreferenceCoding<Bool>.native.identifier

    private static func shape(of type: Any.Type, coding: String) -> Self {
        if let type = type as? any _OptionalPreferenceValue.Type { return wrappedShape(type, coding) }
        if coding.hasPrefix("rawValue"), let type = type as? any RawRepresentable.Type { return rawShape(type) }
        if type is Bool.Type { return .boolean }
        guard coding == native || coding == PreferenceCoding<Bool>.propertyList.identifier else { return .single }
        switch type {
        case is any StoredAsBounds.Type: return .single
        case is any StoredAsArray.Type: return .list
        case is any StoredAsDictionary.Type: return .dictionary
        default: return .single
        }
    }

    private static func wrappedShape<Value: _OptionalPreferenceValue>(_: Value.Type, _ coding: String) -> Self {
        shape(of: Value.Wrapped.self, coding: coding)
    }

    private static func rawShape<Value: RawRepresentable>(_: Value.Type) -> Self {
        shape(of: Value.RawValue.self, coding: native)
    }
}

package protocol StoredAsArray {
    static var elementType: Any.Type { get }
}
extension Array: StoredAsArray {
    package static var elementType: Any.Type { Element.self }
}
extension Set: StoredAsArray {
    package static var elementType: Any.Type { Element.self }
}
package protocol StoredAsBounds: StoredAsArray {}
extension Range: StoredAsBounds {
    package static var elementType: Any.Type { Bound.self }
}
extension ClosedRange: StoredAsBounds {
    package static var elementType: Any.Type { Bound.self }
}

package protocol StoredAsDictionary {
    static var memberType: Any.Type { get }
}
extension Dictionary: StoredAsDictionary {
    package static var memberType: Any.Type { Value.self }
}
