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
    @Flag(help: "Also use files and folders of another user.") var trustOwner = false

    func validate() {
        // Before the first file is used.
        if trustOwner { PreferenceStore.trustsOwners = true }
    }

    /// Returns the suites that a command may name.
    func suites() throws -> any Suites { try etcd.suites() }

    /// Returns the file of the option, or else the suite that the first of `words` names, which is removed.
    func place(_ words: inout ArraySlice<String>) throws -> any Place {
        if let file {
            guard try suites() is FileSuites else {
                throw Failure(.usage, "--file and --etcd exclude each other; give one of them")
            }
            return try FilePlace(file: file)
        }
        if let suite = words.popFirst() { return try suites().place(of: suite) }
        throw Failure(.usage, "name a suite, or a file by --file; `prefs list` shows the suites", showsUsage: true)
    }
}
