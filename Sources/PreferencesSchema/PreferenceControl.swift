public import Preferences

/// The control with which a form shows a value.
///
/// The form of SwiftUI and the page of `prefs serve` choose it by the same rule, from the JSON Schema of a preference.
public enum PreferenceControl: Sendable, Hashable {
    /// A switch.
    case toggle
    /// A menu of all choices that no other rule forbids.
    case picker([PropertyListValue])
    /// Buttons for the next and the previous integer of a short range.
    case stepper(ClosedRange<Int64>)
    /// A slider, over integers if `isWhole`.
    case slider(ClosedRange<Double>, isWhole: Bool)
    /// A field for a number.
    case number
    /// A field for a date.
    case date
    /// A field for text of one line.
    case text
    /// A field that doesn't show its text.
    case secret
    /// A field for the value as the preferences file has it.
    case form

    /// Creates the control for the keywords of a JSON Schema.
    public init(_ keywords: [String: PropertyListValue]) {
        if keywords["writeOnly"] == true {
            self = .secret
        } else if case .array(let choices)? = keywords["enum"] {
            self = .picker(Self.allowed(choices, keywords))
        } else {
            self.init(type: keywords["type"], keywords)
        }
    }

    private static func allowed(
        _ choices: [PropertyListValue],
        _ keywords: [String: PropertyListValue]
    ) -> [PropertyListValue] {
        let property = PreferenceSchema.Property(keywords)
        do throws(PreferenceError) { return try property.allowedValues(among: choices) } catch { return choices }
    }

    private init(type: PropertyListValue?, _ keywords: [String: PropertyListValue]) {
        switch type {
        case "boolean": self = .toggle
        case "integer", "number": self.init(rangeIn: keywords, isWhole: type == "integer")
        case "object" where keywords["required"] == ["$date"], "date": self = .date
        // A URL is declared as a string or an object.
        case "string", ["string", "object"]: self = .text
        default: self = .form
        }
    }

    private init(rangeIn keywords: [String: PropertyListValue], isWhole: Bool) {
        guard let minimum = keywords["minimum"]?.number, let maximum = keywords["maximum"]?.number,
            // A slider without a range traps.
            minimum < maximum,
            // One is too coarse for all integers of 16 bits, which may be the bounds of the type.
            maximum - minimum < 32768, max(-minimum, maximum) < 9_007_199_254_740_992
        else {
            self = .number
            return
        }
        guard isWhole else {
            self = .slider(minimum...maximum, isWhole: false)
            return
        }
        let (first, last) = (Int64(minimum.rounded(.up)), Int64(maximum.rounded(.down)))
        if last - first <= 100, first <= last {
            self = .stepper(first...last)
        } else {
            self = .slider(minimum...maximum, isWhole: true)
        }
    }

    /// The name of the control, as the page knows it.
    public var name: String {
        switch self {
        case .toggle: "toggle"
        case .picker: "picker"
        case .stepper: "stepper"
        case .slider: "slider"
        case .number: "number"
        case .date: "date"
        case .text: "text"
        case .secret: "secret"
        case .form: "form"
        }
    }
}

extension PropertyListValue {
    /// The value as a floating-point number, which is rounded for a large integer; `nil` for other kinds.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .real(let value) where value.isFinite: value
        default: nil
        }
    }
}
