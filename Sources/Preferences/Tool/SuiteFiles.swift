/// Where the files of a suite lie, for the tool `prefs`; SPI, and no part of the public contract.
@_spi(Tool)
public struct SuiteFiles: Sendable {
    /// The suite's name.
    public let name: String
    /// The user's own file.
    public let userPath: String
    /// The file by which an administrator imposes values.
    public let managedPath: String
    /// The files with the system's defaults, the most important first.
    public let systemPaths: [String]
    /// Where a description of the suite's preferences may lie, the most important first; see
    /// `PreferenceGroup.jsonSchema`.
    public let schemaPaths: [String]

    /// Checks the name and finds the paths; nothing is opened or made.
    public init(_ name: String) throws(PreferencesError) {
        let location = try SuiteLocation(name)
        self.name = name
        userPath = location.userPath
        managedPath = location.managedPath
        systemPaths = location.systemPaths
        schemaPaths = ([userPath] + systemPaths).map { path in
            path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/preferences.schema.json"
        }
    }
}
