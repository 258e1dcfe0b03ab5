/// The locations of a suite's files, by the XDG base directory specification.
package struct SuiteLocation: Hashable, Sendable {
    /// The variables that determine the folders, as a value so that a test doesn't change those of its process.
    package struct Environment: Sendable {
        /// `XDG_CONFIG_HOME`.
        var configurationHome: String?
        /// `XDG_CONFIG_DIRS`.
        var configurationFolders: String?
        /// `XDG_STATE_HOME`.
        var stateHome: String?
        /// `STATE_DIRECTORY`, by which the service manager says where a service stores its state; several folders are separated by
        /// colons.
        var stateFolders: String?
        /// `CONFIGURATION_DIRECTORY`, by which the service manager says where the files are that a service is configured by.
        var deployedFolders: String?
        /// `HOME`.
        var home: String?
        /// The user's home folder in the user database.
        var userFolder: String? { folder() }
        // Read only when it is requested: it may be on a network.
        private let folder: @Sendable () -> String?

        init(
            configurationHome: String? = nil,
            configurationFolders: String? = nil,
            stateHome: String? = nil,
            stateFolders: String? = nil,
            deployedFolders: String? = nil,
            home: String? = nil,
            userFolder: @escaping @Sendable @autoclosure () -> String? = nil
        ) {
            (self.configurationHome, self.configurationFolders) = (configurationHome, configurationFolders)
            (self.stateHome, self.stateFolders) = (stateHome, stateFolders)
            (self.deployedFolders, self.home, folder) = (deployedFolders, home, userFolder)
        }

        package static var current: Environment {
            Environment(
                configurationHome: CurrentProcess.variable("XDG_CONFIG_HOME"),
                configurationFolders: CurrentProcess.variable("XDG_CONFIG_DIRS"),
                stateHome: CurrentProcess.variable("XDG_STATE_HOME"),
                stateFolders: CurrentProcess.variable("STATE_DIRECTORY"),
                deployedFolders: CurrentProcess.variable("CONFIGURATION_DIRECTORY"),
                home: CurrentProcess.variable("HOME"),
                userFolder: CurrentProcess.homeFolder()
            )
        }

        /// The home folder: by the variable, else by the user database.
        var homeFolder: String? {
            if let home, home.hasPrefix("/") { return home }
            return userFolder.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }

        /// Whether a service manager has started the program with folders of its own.
        var isOfService: Bool { stateFolders != nil || deployedFolders != nil }

        /// The folder of a service's state, if the service manager has set one.
        var stateFolder: String? { Self.folders(stateFolders).first }

        /// The folder with the files that a service is configured by, if the service manager has set one.
        var deployedFolder: String? { Self.folders(deployedFolders).first }

        /// Returns the folders of a list. "All paths set in these environment variables must be absolute. If an implementation encounters
        /// a relative path […] it should consider the path invalid and ignore it."
        fileprivate static func folders(_ list: String?) -> [String] {
            (list ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map { SuiteLocation.folder(String($0)) }
        }
    }

    /// The suite's name.
    let name: String
    /// The user's file.
    package let userPath: String
    /// The file with the managed settings.
    package let managedPath: String
    /// The managed settings: the file, and the drop-ins that override it.
    package let managed: FilePlaces
    /// The system's defaults, most important first; the last has the file of `/etc` and the drop-ins, too.
    package let system: [FilePlaces]

    /// The files with the system's defaults, most important first.
    package var systemPaths: [String] { system.flatMap { $0.files.reversed() } }

    /// Creates the location of a suite from its name, which it checks; opens and creates no files.
    ///
    /// - Parameter isOfProgram: Whether the suite is that of `PreferenceStore.standard`, which in a service has the state's folder itself.
    package init(
        _ name: String,
        isOfProgram: Bool = false,
        environment: Environment = .current
    ) throws(PreferenceError) {
        try Self.check(name)
        self.name = name
        let file = "/preferences.jsonl"
        managedPath = "/etc/\(name)/managed.jsonl"
        let given = Environment.folders(environment.configurationFolders)
        let folders = (given.isEmpty ? ["/etc/xdg"] : given).map { "\($0)/\(name)" }
        let vendor = ["/run/\(name)", "/usr/lib/\(name)"]
        managed = FilePlaces(folders: (["/etc/\(name)"] + vendor).map { $0 + "/managed.d" }, files: [managedPath])
        // A policy, unlike a default, doesn't depend on a variable.
        let deployed = (isOfProgram ? environment.deployedFolder : nil).map { [$0] } ?? []
        let others = (deployed + (deployed == ["/etc/\(name)"] ? [] : ["/etc/\(name)"])).filter {
            !folders.contains($0)
        }
        let weakest = FilePlaces(
            folders: (folders + others + vendor).map { $0 + "/preferences.d" },
            files: (others.reversed() + folders.suffix(1)).map { $0 + file }
        )
        system = folders.dropLast().map { FilePlaces(files: [$0 + file]) } + [weakest]
        if let folder = environment.configurationHome, folder.hasPrefix("/") {
            userPath = try Self.checked(Self.folder(folder) + "/\(name)" + file)
        } else if let home = environment.homeFolder.map({ Self.folder($0) + "/.config/\(name)" + file }),
            environment.stateFolder == nil || CurrentProcess.canRead(home) || CurrentProcess.canCreate(home)
        {
            userPath = try Self.checked(home)
        } else if let folder = environment.stateFolder {
            // A dynamic user's home folder is `/`, and `ProtectHome` hides a home folder.
            userPath = try Self.checked(folder + (isOfProgram ? file : "/\(name)" + file))
        } else {
            throw PreferenceError(
                .unavailable,
                "the suite \"\(name)\" has no file, because the home folder is unknown; set HOME or XDG_CONFIG_HOME"
            )
        }
    }

    /// Returns the path of the file with a program's state, by the name of its suite, which it checks.
    package static func statePath(
        of name: String,
        environment: Environment = .current
    ) throws(PreferenceError) -> String {
        try check(name)
        if let folder = environment.stateFolder { return try checked(folder + "/state.jsonl") }
        if let folder = environment.stateHome, folder.hasPrefix("/") {
            return try checked(Self.folder(folder) + "/\(name)/state.jsonl")
        }
        guard let home = environment.homeFolder else {
            throw PreferenceError(
                .unavailable,
                "the state of \"\(name)\" has no file, because the home folder is unknown; set HOME or XDG_STATE_HOME"
            )
        }
        return try checked(Self.folder(home) + "/.local/state/\(name)/state.jsonl")
    }

    /// Returns the default suite of the standard store: the name of the program's file.
    static func defaultName() throws(PreferenceError) -> String {
        guard let name = CurrentProcess.executableName() else {
            throw PreferenceError(
                .unavailable,
                "the program's file has no name; set PreferenceStore.applicationIdentifier first thing in the program"
            )
        }
        try check(name)
        return name
    }

    /// Throws if the name is invalid for a suite, with the rule that it breaks.
    package static func check(_ name: String) throws(PreferenceError) {
        let problem: String? =
            if name.isEmpty {
                "it is empty"
            } else if name.utf8.contains(UInt8(ascii: "/")) {
                "it contains \"/\""
            } else if name.utf8.contains(0) {
                "it contains a NUL character"
            } else if name.utf8.first == UInt8(ascii: ".") {
                "it begins with a dot"
            } else if name.utf8.count > 200 {
                "it is longer than 200 bytes"
            } else {
                nil
            }
        guard let problem else { return }
        throw PreferenceError(
            .invalidName,
            "\"\(name)\" can't name a suite: \(problem); use a name such as \"com.example.app\""
        )
    }

    /// Returns the path unless a variable in it isn't UTF-8, so that it leads elsewhere.
    private static func checked(_ path: String) throws(PreferenceError) -> String {
        guard path.unicodeScalars.contains("\u{FFFD}") else { return path }
        throw PreferenceError(
            .unavailable,
            "the folder of \(path) isn't UTF-8; set HOME or XDG_CONFIG_HOME to another one"
        )
    }

    /// Returns the path without slashes at its end.
    private static func folder(_ path: String) -> String {
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
}
