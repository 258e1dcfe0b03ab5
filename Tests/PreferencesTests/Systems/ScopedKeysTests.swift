import Preferences
import TestSupport
import Testing

// Typed keys with a default and a suite, grouped in scopes, as users of a library with such keys write them.

private struct GeneralPreferences: PreferenceGroup {
    @Preference("AutomaticallyUpdate") var automaticallyUpdate = false
    @Preference("theme") var theme = Appearance.system
    @Preference("shared", in: .suite("group.com.example")) var shared = 1
}

private struct EditorPreferences: PreferenceGroup {
    @Preference("editor.fontSize", .range(6...72)) var fontSize = 12.0
}

private enum Appearance: String, Sendable { case system, light, dark }

private enum Defaults {
    static let general = GeneralPreferences()
    static let editor = EditorPreferences()
}

struct ScopedKeysTests {
    @Test
    func scopesReadAndWriteAsPlainProperties() {
        PreferenceStore.withIsolatedStores {
            #expect(!Defaults.general.automaticallyUpdate)
            Defaults.general.automaticallyUpdate = true
            #expect(Defaults.general.automaticallyUpdate)
            Defaults.general.theme = .dark
            same(PreferenceStore.standard.contents, ["AutomaticallyUpdate": true, "theme": "dark"])
        }
    }

    @Test
    func keyOfASuiteIsStoredInItsSuite() {
        PreferenceStore.withIsolatedStores {
            Defaults.general.shared = 2
            same(PreferenceStore.suite("group.com.example")["shared"], 2)
            same(PreferenceStore.standard["shared"], nil)
        }
    }

    @Test
    func keyCanBePassedAsAValue() {
        PreferenceStore.withIsolatedStores {
            let key = Defaults.general.$automaticallyUpdate
            same(key.name, "AutomaticallyUpdate")
            #expect(!key.defaultValue)
            key.value = true
            #expect(Defaults.general.automaticallyUpdate)
            key.reset()
            #expect(!key.isSet)
        }
    }

    @Test
    func valueOutsideTheRangeIsRejected() throws {
        try PreferenceStore.withIsolatedStores {
            #expect(throws: PreferenceError.self) { try Defaults.editor.$fontSize.write(100) }
            same(Defaults.editor.fontSize, 12)
            try Defaults.editor.$fontSize.write(72)
            same(Defaults.editor.fontSize, 72)
        }
    }
}
