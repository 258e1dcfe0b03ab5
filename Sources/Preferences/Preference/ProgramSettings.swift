internal import CPreferences

extension PreferenceStore {
    /// Whether `.standard`, `.state` and every suite keep their values in memory in a test process, so that a test without
    /// `withIsolatedStores` or the trait `.isolatedStores` never changes the user's preferences; `true` by default.
    ///
    /// A test process is one in which Swift Testing or XCTest is loaded. Its tests share these stores: the first use outside a
    /// scope logs that. Set it to `false` before the first use of a shared store; a later change traps.
    public static var isolatesTestProcesses: Bool {
        get { TestProcess.isIsolatedSetting.value }
        set { TestProcess.isIsolatedSetting.set(newValue) }
    }

    /// Whether files are used regardless of their owners; `false` by default.
    ///
    /// A program of root, or one with set-user-ID, uses no file and no folder that is neither its own nor root's. Set it to
    /// `true` first thing in a program that works on files of its users, such as one in a container whose folders belong to another
    /// user; a change after the first use of a store over a file traps. `file(at:trustsOwner:)` is for one file.
    public static var trustsOwners: Bool {
        get { TrustedOwners.setting.value }
        set { TrustedOwners.setting.set(newValue) }
    }

    /// The name of the suite of `.standard` if that is a file. It has no effect on Apple platforms, where the bundle determines
    /// it.
    ///
    /// The default is the executable's name. Set it first thing in the program: the first read or write of `.standard` or `.state`, in a
    /// service also that of a suite, fixes it, and a later change, or an invalid name, traps.
    public static var applicationIdentifier: String? {
        get { ApplicationIdentifier.setting.value }
        set {
            do throws(PreferenceError) {
                if let newValue { try SuiteLocation.check(newValue) }
            } catch {
                preconditionFailure("\(error)")
            }
            ApplicationIdentifier.setting.set(newValue)
        }
    }
}

/// The program's name for its own suite.
package enum ApplicationIdentifier {
    fileprivate static let setting = ProgramSetting<String?>(nil, "PreferenceStore.applicationIdentifier")

    /// Returns the name, which can't be changed afterwards.
    package static func fix() throws(PreferenceError) -> String {
        let (name, _) = setting.fix()
        return if let name { name } else { try SuiteLocation.defaultName() }
    }
}

/// Whether the program runs tests, and whether its shared stores are therefore in memory.
enum TestProcess {
    fileprivate static let isIsolatedSetting = ProgramSetting(true, "PreferenceStore.isolatesTestProcesses")

    /// Returns whether the shared stores are in memory, which can't be changed afterwards; logs it the first time.
    static func isIsolated() -> Bool {
        // Xcode starts an app that hosts tests with this variable, and loads XCTest later.
        guard preferences_is_test() || CurrentProcess.variable("XCTestConfigurationFilePath") != nil else {
            return false
        }
        let (isIsolated, isFirst) = isIsolatedSetting.fix()
        if isIsolated, isFirst {
            writeToLog(
                IsolationScope.areOpen
                    ? """
                    a shared store was used outside of the scope of any test, while a test with isolated stores runs: a dispatch queue, \
                    a thread or a detached task doesn't inherit the scope and sees stores in memory that all tests share; capture \
                    PreferenceStore.isolation in the test and use it there, as in queue.async { isolation.run { … } }
                    """
                    : """
                    in this test process the standard store and every suite are in memory, and all tests share them; \
                    isolate each test with the trait .isolatedStores or PreferenceStore.withIsolatedStores, \
                    or set PreferenceStore.isolatesTestProcesses to false before the first use of a store
                    """
            )
        }
        return isIsolated
    }
}

/// Whether the program was started with fresh stores, for previews and tests of its user interface.
enum IsolatedProgram {
    /// Whether `PREFERENCES_ISOLATED=1` is set or `-PreferencesIsolated YES` was passed.
    static let isOn = isOn(
        variable: CurrentProcess.variable("PREFERENCES_ISOLATED"),
        arguments: CommandLine.arguments
    )

    /// Returns true unless the value clearly means no: a typing mistake must not lead to the user's own store.
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
