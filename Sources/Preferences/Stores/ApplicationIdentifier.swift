internal import DurableFile

extension PreferenceStore {
    /// Names the suite of `.standard` where that is a file; on Apple platforms, where the bundle does, it has no
    /// effect.
    ///
    /// The executable's name unless set. Set it first thing in the program: the first read or write of `.standard`
    /// fixes it, and a later change, or a name that can't be a suite's, traps.
    public static var applicationIdentifier: String? {
        get { ApplicationIdentifier.state.withLock { $0.name } }
        set {
            do throws(PreferencesError) {
                if let newValue { try SuiteLocation.check(newValue) }
            } catch {
                preconditionFailure("\(error)")
            }
            ApplicationIdentifier.state.withLock { state in
                precondition(
                    !state.isFixed || state.name == newValue,
                    "PreferenceStore.applicationIdentifier was set after the standard store's first use. "
                        + "Set it first thing in the program."
                )
                state.name = newValue
            }
        }
    }
}

/// The program's name for its own suite.
enum ApplicationIdentifier {
    fileprivate struct State {
        var name: String?
        var isFixed = false
    }

    fileprivate static let state = Lock(State())

    /// The name, which can't be changed from now on.
    static func fix() throws(PreferencesError) -> String {
        let name = state.withLock { state in
            state.isFixed = true
            return state.name
        }
        return if let name { name } else { try SuiteLocation.defaultName() }
    }
}
