public import Foundation

@MainActor public func DatePicker(_ title: String, selection: Binding<Date>, in range: ClosedRange<Date>) -> Control<
    Date
> {
    var control = Control(kind: "DatePicker", title: title, value: selection)
    control.values = { range.contains($0) }
    return control
}
