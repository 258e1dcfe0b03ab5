internal import DurableFile

extension PreferencesError {
    /// What an error of the file means to who reads or sets a preference.
    init(_ error: LogError) {
        switch error {
        case .failed(let cause):
            self.init(.unavailable, "the preferences file can't be used; nothing was changed", cause: cause)
        case .readOnly(let cause):
            self.init(
                .readOnly,
                "the preferences file can't be written; nothing was changed. Check who owns the file and its folder",
                cause: cause
            )
        case .busy(let path, let waited):
            self.init(
                .busy,
                "another process has held the lock of \(path) for \(waited.components.seconds) s; nothing was changed. "
                    + "Try again, or end that process if it is stopped"
            )
        case .notAFile(let path, let kind):
            self.init(.unavailable, "\(path) is a \(kind.rawValue) and not a file; move it away")
        case .neverTheSame(let path):
            self.init(
                .unavailable,
                "\(path) is another file each time it is looked at; nothing was changed. Its file system may be broken: keep the "
                    + "file on another one"
            )
        case .foreign(let path, let owner):
            self.init(
                .notPermitted,
                "\(path) belongs to the user \(owner), who could choose by it what is read and written here; nothing was changed. "
                    + "Run the program as that user, or take the file over with chown"
            )
        case .refused(let path, let line, let reason):
            self.init(
                .unknownFormat,
                "\(path) can't be used by this version of the program: line \(line): \(reason); nothing was changed"
            )
        case .outcomeUnknown(let path, let cause):
            self.init(
                .outcomeUnknown,
                "writing \(path) failed in a way that leaves open whether the change is stored; read it again",
                cause: cause
            )
        case .notDurable(let path, let cause):
            self.init(
                .notDurable,
                "what was set in \(path) can be read but may not survive a loss of power; check the disk and set it again",
                cause: cause
            )
        }
    }

    /// A line that was skipped.
    init(_ damage: LogDamage) {
        self.init(
            .damaged,
            "line \(damage.line) of \(damage.path) can't be read and is skipped: \(damage.reason). It is kept; "
                + "correct it by hand or leave it"
        )
    }
}
