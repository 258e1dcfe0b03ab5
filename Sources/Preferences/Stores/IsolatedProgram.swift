internal import DurableFile

/// Whether the program was started on fresh stores, for previews and tests of its interface.
enum IsolatedProgram {
    /// `PREFERENCES_ISOLATED=1`, or the arguments `-PreferencesIsolated YES`.
    static let isOn = isOn(
        variable: CurrentProcess.variable("PREFERENCES_ISOLATED"),
        arguments: CommandLine.arguments
    )

    /// Anything but a clear no is a yes: a slip must not end in the user's store.
    static func isOn(variable: String?, arguments: [String]) -> Bool {
        if let index = arguments.lastIndex(of: "-PreferencesIsolated") {
            let value = arguments.index(after: index)
            return value == arguments.endIndex || !isNo(arguments[value])
        }
        return variable.map { !isNo($0) } ?? false
    }

    private static func isNo(_ text: String) -> Bool {
        ["", "0", "no", "false", "off"].contains(text.lowercased())
    }
}
