public import Foundation

@MainActor public func DatePicker(_ title: String, selection: Binding<Date>) -> Control<Date> {
    Control(kind: "DatePicker", title: title, value: selection)
}
