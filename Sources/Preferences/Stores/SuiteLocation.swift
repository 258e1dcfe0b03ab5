internal import CDurableFile
internal import DurableFile

/// The locations of a suite's files, by the XDG base directory specification.
package struct SuiteLocation: Hashable, Sendable {
    /// The variables that determine the folders, as a value so that a test doesn't change those of its process.
    package struct Environment: Hashable, Sendable {
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
        /// The user's home folder in the user database, which is read only when it is requested: it may be on a network.
        var userFolder: String? { folder.value }
        private let folder: UserFolder

        private enum UserFolder: Hashable {
            case known(String?), current

            var value: String? {
                switch self {
                case .known(let folder): folder
                case .current: CurrentProcess.homeFolder()
                }
            }
        }

        init(
            configurationHome: String? = nil,
            configurationFolders: String? = nil,
            stateHome: String? = nil,
            stateFolders: String? = nil,
            deployedFolders: String? = nil,
            home: String? = nil,
            userFolder: String? = nil
        ) {
            self.configurationHome = configurationHome
            self.configurationFolders = configurationFolders
            self.stateHome = stateHome
            self.stateFolders = stateFolders
            self.deployedFolders = deployedFolders
            self.home = home
            folder = .known(userFolder)
        }

        private init() {
            configurationHome = CurrentProcess.variable("XDG_CONFIG_HOME")
            configurationFolders = CurrentProcess.variable("XDG_CONFIG_DIRS")
            stateHome = CurrentProcess.variable("XDG_STATE_HOME")
            stateFolders = CurrentProcess.variable("STATE_DIRECTORY")
            deployedFolders = CurrentProcess.variable("CONFIGURATION_DIRECTORY")
            home = CurrentProcess.variable("HOME")
            folder = .current
        }

        static var current: Environment { Environment() }

        /// The home folder: by the variable, else by the user database.
        var homeFolder: String? {
            if let home, home.hasPrefix("/") { return home }
            return userFolder.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }

        /// Whether a service manager has started the program with folders of its own.
        static var isOfService: Bool {
            CurrentProcess.variable("STATE_DIRECTORY") != nil
                || CurrentProcess.variable("CONFIGURATION_DIRECTORY") != nil
        }

        /// The folder of a service's state, if the service manager has set one.
        var stateFolder: String? { Self.first(of: stateFolders) }

        /// The folder with the files that a service is configured by, if the service manager has set one.
        var deployedFolder: String? { Self.first(of: deployedFolders) }

        private static func first(of folders: String?) -> String? {
            (folders ?? "").split(separator: ":").first { $0.hasPrefix("/") }.map { SuiteLocation.folder(String($0)) }
        }
    }

    /// The suite's name.
    let name: String
    /// The user's file.
    package let userPath: String
    /// The file with the managed settings.
    package let managedPath: String
    /// The managed settings: drop-ins, and then the file, which wins.
    package let managed: DropIns
    /// The system's defaults, most important first; the last has the drop-ins and the file of `/etc`, too.
    package let system: [DropIns]

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
        let file = "/\(name)/preferences.jsonl"
        managedPath = "/etc/\(name)/managed.jsonl"
        // "All paths set in these environment variables must be absolute. If an implementation encounters a relative
        // path […] it should consider the path invalid and ignore it."
        let given = (environment.configurationFolders ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        let folders = (given.isEmpty ? ["/etc/xdg"] : given.map { Self.folder(String($0)) }).map { "\($0)/\(name)" }
        let files = folders.map { $0 + "/preferences.jsonl" }
        let vendor = ["/run/\(name)", "/usr/lib/\(name)"]
        managed = DropIns(folders: (["/etc/\(name)"] + vendor).map { $0 + "/managed.d" }, files: [managedPath])
        // A policy, unlike a default, doesn't depend on a variable.
        let deployed = (isOfProgram ? environment.deployedFolder : nil).map { [$0] } ?? []
        let others = (deployed + (deployed == ["/etc/\(name)"] ? [] : ["/etc/\(name)"])).filter {
            !folders.contains($0)
        }
        let weakest = DropIns(
            folders: (folders + others + vendor).map { $0 + "/preferences.d" },
            files: others.reversed().map { $0 + "/preferences.jsonl" } + files.suffix(1)
        )
        system = files.dropLast().map { DropIns(files: [$0]) } + [weakest]
        if let folder = environment.configurationHome, folder.hasPrefix("/") {
            userPath = Self.folder(folder) + file
        } else if let home = environment.homeFolder.map({ Self.folder($0) + "/.config" + file }),
            environment.stateFolder == nil || CurrentProcess.canRead(home) || CurrentProcess.canCreate(home)
        {
            userPath = home
        } else if let folder = environment.stateFolder {
            // A dynamic user's home folder is `/`, and `ProtectHome` hides a home folder.
            userPath = folder + (isOfProgram ? "/preferences.jsonl" : file)
        } else {
            throw PreferenceError(
                .unavailable,
                "the suite \"\(name)\" has no file, because the home folder is unknown; set HOME or XDG_CONFIG_HOME"
            )
        }
    }

    /// Returns the path of the file with a program's state, by the name of its suite, which it checks.
    package static func statePath(of name: String, environment: Environment = .current) throws(PreferenceError)
        -> String
    {
        try check(name)
        if let folder = environment.stateFolder { return folder + "/state.jsonl" }
        if let folder = environment.stateHome, folder.hasPrefix("/") {
            return Self.folder(folder) + "/\(name)/state.jsonl"
        }
        guard let home = environment.homeFolder else {
            throw PreferenceError(
                .unavailable,
                "the state of \"\(name)\" has no file, because the home folder is unknown; set HOME or XDG_STATE_HOME"
            )
        }
        return Self.folder(home) + "/.local/state/\(name)/state.jsonl"
    }

    /// Returns the default suite of the standard store: the name of the program's file.
    static func defaultName() throws(PreferenceError) -> String {
        guard let name = CurrentProcess.executableName() else {
            throw PreferenceError(
                .invalidName,
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

    /// Returns the path without slashes at its end.
    fileprivate static func folder(_ path: String) -> String {
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
}

/// The running program and its user.
enum CurrentProcess {
    /// Returns an environment variable, or nil if it isn't set or if the program runs with more rights than its caller
    /// (set-user-ID): the caller must not choose where such a program writes.
    static func variable(_ name: String) -> String? {
        trustedVariable(name).map { String(cString: $0) }
    }

    /// Returns the user's home folder in the user database.
    static func homeFolder() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil, let folder = entry.pw_dir
        else { return nil }
        // The string is in the buffer.
        return withExtendedLifetime(buffer) { String(cString: folder) }
    }

    /// Returns whether a file exists and the program may read it.
    static func canRead(_ path: String) -> Bool { path.withCString { faccessat(AT_FDCWD, $0, R_OK, AT_EACCESS) } == 0 }

    /// Returns whether the program may create a file and its missing folders: in the nearest folder that exists.
    static func canCreate(_ path: String) -> Bool {
        var parts = LogPath.parts(of: path).dropLast()
        while true {
            let folder = "/" + parts.joined(separator: "/")
            if folder.withCString({ faccessat(AT_FDCWD, $0, F_OK, AT_EACCESS) }) == 0 {
                return folder.withCString { faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) } == 0
            }
            guard parts.popLast() != nil else { return false }
        }
    }

    /// Returns the name of the program's file.
    static func executableName() -> String? { executablePath().flatMap(programName) }

    /// Returns the program's name of a path: that of the program itself for `.player-wrapped`, as Nix names the file that a
    /// script of the program's name starts.
    static func programName(of path: String) -> String? {
        guard var name = path.split(separator: "/").last else { return nil }
        let suffix = "-wrapped"
        while true {
            // If a script replaces a script, the inner one's name gets an underscore; a wrapped one can be wrapped as well.
            var wrapped = name
            while wrapped.last == "_" { wrapped.removeLast() }
            guard wrapped.first == ".", wrapped.hasSuffix(suffix), wrapped.utf8.count > suffix.utf8.count + 1 else {
                return String(name)
            }
            name = wrapped.dropFirst().dropLast(suffix.count)
        }
    }
}

#if canImport(Darwin)
extension CurrentProcess {
    static func trustedVariable(_ name: String) -> UnsafePointer<CChar>? {
        issetugid() == 0 ? UnsafePointer(getenv(name)) : nil
    }

    static func executablePath() -> String? { CommandLine.arguments.first }
}
#endif

#if os(Linux)
extension CurrentProcess {
    static func trustedVariable(_ name: String) -> UnsafePointer<CChar>? { durable_file_trusted_variable(name) }

    /// Returns the path of the program's file; nil if that is a dynamic loader, which many programs may be started with.
    static func executablePath() -> String? {
        do {
            let path = try SystemFileSystem().target(ofLinkAt: "/proc/self/exe")
            // The mark that the kernel gives a program that was replaced while it runs (proc(5)).
            let mark = " (deleted)"
            if path.hasSuffix(mark) { return String(path.dropLast(mark.count)) }
            return isLoader(path) ? nil : path
        } catch {
            // If /proc is missing, as in some containers, use the path by which the program was started.
            return CommandLine.arguments.first
        }
    }

    /// Whether a path is that of a dynamic loader, such as `ld-linux-x86-64.so.2` or `ld.so`, which programs are started with.
    static func isLoader(_ path: String) -> Bool {
        let parts = path.split(separator: "/").last?.split(separator: ".") ?? []
        guard parts.count > 1, parts[1] == "so" || parts.contains("so") && parts[0].hasPrefix("ld-") else {
            return false
        }
        return parts[0] == "ld" || parts[0].hasPrefix("ld-") || parts[0] == "ld64"
    }
}
#endif

/// The process's standard error.
enum StandardError {
    /// Writes text in one call if the system accepts all of it at once, so that the lines of several threads don't mix.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                #if canImport(Glibc)
                let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                #elseif canImport(Musl)
                let count = Musl.write(STDERR_FILENO, rest.baseAddress, rest.count)
                #else
                let count = Darwin.write(STDERR_FILENO, rest.baseAddress, rest.count)
                #endif
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }
}
