import Preferences

/// A configuration with each kind of preference that can have a problem.
struct ServicePreferences: PreferenceGroup {
    enum Mode: String, CaseIterable, Codable { case plain, wide }

    struct Frame: Codable, Equatable {
        var width = 1
        var mode = Mode.plain
        var modes: [Mode] = []
    }

    @Preference("port", .range(1...65535)) var port = 8080
    @Preference("mode") var mode = Mode.plain
    @Preference("frame") var frame = Frame()
    @Preference("host", .required, .formerly("server")) var host: String?
}
