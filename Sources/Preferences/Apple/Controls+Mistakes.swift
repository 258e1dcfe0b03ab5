// In the mock of SwiftUI that runs on Linux, controls are functions.
#if canImport(SwiftUI) && !STANDINS
public import SwiftUI

// A control takes a binding: `player.$volume`, which is a preference, must not look like a mistake of the control's other arguments.

@available(tvOS, unavailable)
extension Slider where Label == EmptyView, ValueLabel == EmptyView {
    /// Unavailable: a slider takes a binding.
    @available(
        *,
        unavailable,
        message: "a control takes a binding: write '.binding' after it, or declare '@PreferenceState'"
    )
    public init<Value>(value: Preference<Value>, in bounds: ClosedRange<Value>? = nil, step: Value? = nil) {
        fatalError()
    }

    // Without it, the error for a binding to an integer would ask for a preference.
    /// Unavailable: a slider's value is a floating-point number.
    @available(*, unavailable, message: "a slider's value is a 'Double' or a 'Float'; for an integer use a stepper")
    public init<Value: BinaryInteger>(value: Binding<Value>, in bounds: ClosedRange<Value>? = nil, step: Value? = nil) {
        fatalError()
    }
}

@available(tvOS, unavailable)
extension Stepper where Label == Text {
    /// Unavailable: a stepper takes a binding.
    @available(
        *,
        unavailable,
        message: "a control takes a binding: write '.binding' after it, or declare '@PreferenceState'"
    )
    public init<Title, Value>(
        _ title: Title,
        value: Preference<Value>,
        in bounds: ClosedRange<Value>? = nil,
        step: Value? = nil
    ) {
        fatalError()
    }
}

extension Toggle where Label == Text {
    /// Unavailable: a toggle takes a binding.
    @available(
        *,
        unavailable,
        message: "a control takes a binding: write '.binding' after it, or declare '@PreferenceState'"
    )
    public init<Title>(_ title: Title, isOn: Preference<Bool>) { fatalError() }
}

extension TextField where Label == Text {
    /// Unavailable: a text field takes a binding.
    @available(
        *,
        unavailable,
        message: "a control takes a binding: write '.binding' after it, or declare '@PreferenceState'"
    )
    public init<Title>(_ title: Title, text: Preference<String>) { fatalError() }
}

extension Picker where Label == Text {
    /// Unavailable: a picker takes a binding.
    @available(
        *,
        unavailable,
        message: "a control takes a binding: write '.binding' after it, or declare '@PreferenceState'"
    )
    public init<Title>(
        _ title: Title,
        selection: Preference<SelectionValue>,
        @ViewBuilder content: () -> Content
    ) where SelectionValue: Sendable {
        fatalError()
    }
}
#endif
