import ArgumentParser
import Preferences

/// The options that choose a file, or a suite on etcd, instead of a suite in the user's files.
struct PlaceOptions: ParsableArguments {
    @ParentCommand var etcd: EtcdOptions
    @Option(
        help: ArgumentHelp("Work on this file instead of a suite.", valueName: "path"),
        completion: .file()
    )
    var file: String?
    @Flag(help: "Work on the suite's state, which programs keep apart from their preferences.") var state = false
    @Flag(help: "Also use files and folders of another user.") var trustOwner = false

    func validate() {
        // Before the first file is used.
        if trustOwner { PreferenceStore.trustsOwners = true }
    }

    /// Returns all suites, for a command without the name of one; throws with `--state`, which needs a name.
    func suites() throws -> any Suites {
        guard !state else { throw Failure(.usage, "name the suite after --state; `prefs list` shows the suites") }
        return try etcd.suites()
    }

    /// Returns whether neither a file nor a suite is named.
    func isEmpty(_ words: ArraySlice<String>) throws -> Bool {
        guard words.isEmpty, file == nil else { return false }
        _ = try suites()
        return true
    }

    /// Returns the file of the option, or else the suite that the first of `words` names, which is removed.
    func place(_ words: inout ArraySlice<String>) throws -> any Place {
        if let file {
            guard try !etcd.suites().isShared else {
                throw Failure(.usage, "--file and --etcd exclude each other; give one of them")
            }
            guard !state else { throw Failure(.usage, "--file and --state exclude each other; give one of them") }
            return try FilePlace(file: file)
        }
        if let suite = words.popFirst() { return try place(of: suite) }
        throw Failure(.usage, "name a suite, or a file by --file; `prefs list` shows the suites", showsUsage: true)
    }

    /// Returns the place of a suite that the user named: of its state with `--state`.
    func place(of suite: String) throws -> any Place {
        let suites = try etcd.suites()
        return try state ? suites.place(ofStateOf: suite) : suites.place(of: suite)
    }
}
