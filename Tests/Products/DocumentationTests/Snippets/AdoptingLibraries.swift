import Preferences
import PreferencesTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The declarations of each library's page read the values that it stored, and write the form that the page states.
enum LibrarySnippets {
    struct Profile: Codable, Equatable { var name = "Pitt" }
    private static let ada = #"{"name":"Ada"}"#

    private static func data(_ json: String) -> PropertyListValue { .data(Data(json.utf8)) }

    struct FromUserDefaultsSnippets {
        // snippet: from-userdefaults
        enum Theme: String { case system, dark }
        nonisolated struct Profile: Codable, Equatable { var name = "Pitt" }

        struct PlayerPreferences: PreferenceGroup {
            @Preference("volume") var volume = 5
            @Preference("recent") var recent: [String] = []
            @Preference("theme") var theme = Theme.system
            @Preference("profile") var profile = Profile()
        }
        // end

        @Test
        func oldValuesAreRead() {
            let store = PreferenceStore.inMemory([
                "volume": 7, "recent": ["a"], "theme": "dark", "profile": .string(ada),
            ])
            let player = PlayerPreferences(in: store)
            #expect(player.volume == 7 && player.recent == ["a"] && player.theme == .dark)
            same(player.profile, Profile(name: "Ada"))
            player.profile.name = "Grace"
            same(store["profile"], ["name": "Grace"])
        }
    }

    struct FromDefaultsSnippets {
        // snippet: from-defaults
        nonisolated enum Look: String, Codable { case light, dark }
        nonisolated struct Profile: Codable, Equatable { var name = "Pitt" }

        struct PhotoPreferences: PreferenceGroup {
            @Preference("quality") var quality = 0.8
            @Preference("name") var name: String?
            @Preference("look") var look = Look.light
            @Preference("recent") var recent: [Profile] = []
        }
        // end

        @Test
        func oldValuesAreRead() {
            let store = PreferenceStore.inMemory([
                "quality": 0.5, "name": "Ada", "look": "\"dark\"", "recent": [.string(ada)],
            ])
            let photos = PhotoPreferences(in: store)
            #expect(photos.quality == 0.5 && photos.name == "Ada" && photos.look == .dark)
            same(photos.recent, [Profile(name: "Ada")])
            photos.look = .light
            same(store["look"], "light")
        }

        @Test
        func use() {
            let photos = PhotoPreferences(in: .inMemory())
            // snippet: from-defaults-use
            photos.quality = 0.5
            let observation = photos.$quality.observe { print($0.new) }
            photos.$quality.reset()
            // end
            same(photos.quality, 0.8)
            withExtendedLifetime(observation) {}
        }
    }

    struct FromPDefaultsSnippets {
        // snippet: from-pdefaults
        nonisolated struct Profile: Codable, Equatable { var name = "Pitt" }

        struct ServicePreferences: PreferenceGroup {
            @Preference("user.name") var name = "Pitt"
            @Preference("profile", coding: .json) var profile: Profile?
            @Preference("first-name", in: .suite("group.com.example")) var firstName = "Pete"
        }
        // end

        @Test(.isolatedStores(["user.name": "Ada", "profile": data(ada)]))
        func oldValuesAreReadAndMoved() {
            let service = ServicePreferences()
            // snippet: from-pdefaults-use
            service.$firstName.migrate(from: service.$name)
            // end
            #expect(service.firstName == "Ada" && !service.$name.isSet)
            same(service.profile, Profile(name: "Ada"))
            service.profile = Profile(name: "Grace")
            same(PreferenceStore.standard["profile"], data(#"{"name":"Grace"}"#))
            service.profile = nil
            #expect(!service.$profile.isSet)
        }
    }

    struct FromCodableStorageSnippets {
        // snippet: from-codablestorage
        nonisolated struct Profile: Codable, Equatable { var name = "Pitt" }

        struct ProfilePreferences: PreferenceGroup {
            @Preference("profile", coding: .json) var profile = Profile()
            @Preference("count", coding: .json) var count = 0
        }
        // end

        @Test
        func oldValuesAreReadAndWrittenAsBefore() {
            let store = PreferenceStore.inMemory(["profile": data(ada), "count": data("5"), "text": data("\"a\"")])
            let preferences = ProfilePreferences(in: store)
            same(preferences.profile, Profile(name: "Ada"))
            preferences.count += 1
            same(store["count"], data("6"))
            // Without a coding, too.
            same(Preference("count", default: 0, in: store).value, 6)
            same(Preference("text", default: "", in: store).value, "a")
            same(Preference("profile", default: Profile(), in: store).value, Profile(name: "Ada"))
        }

        @Test(.isolatedStores)
        func valueIsWrittenByOwnCoders() {
            struct Profile: Codable, Equatable { var firstName = "Pitt" }
            // snippet: from-codablestorage-coders
            let snakeCase = PreferenceCoding<Profile>(
                "snake-case-json",
                encode: { profile in
                    let encoder = JSONEncoder()
                    encoder.keyEncodingStrategy = .convertToSnakeCase
                    return .data(try encoder.encode(profile))
                },
                decode: { stored in
                    let decoder = JSONDecoder()
                    decoder.keyDecodingStrategy = .convertFromSnakeCase
                    return try decoder.decode(Profile.self, from: Data(storedValue: stored))
                }
            )
            let profile = Preference("profile", default: Profile(), coding: snakeCase)
            // end
            profile.value.firstName = "Ada"
            same(PreferenceStore.standard["profile"], data(#"{"first_name":"Ada"}"#))
            same(profile.value, Profile(firstName: "Ada"))
        }
    }

    struct FromWrappersSnippets {
        // snippet: from-wrappers
        nonisolated struct UserInfo: Codable, Equatable { var email = "" }

        struct ImagesModel {
            @Preference("show_images") var showImages = false
            @Preference("user_info", coding: .json) var userInfo: UserInfo?
        }
        // end

        // snippet: from-wrappers-test
        @Test(.isolatedStores(["show_images": true]))
        func imagesAreHidden() {
            let model = ImagesModel()
            #expect(model.showImages)
            model.showImages = false
            #expect(!ImagesModel().showImages)
        }
        // end

        @Test(.isolatedStores(["user_info": data(#"{"email":"ada@example.com"}"#)]))
        func oldValuesAreReadAndNilRemoves() {
            let model = ImagesModel()
            same(model.userInfo, UserInfo(email: "ada@example.com"))
            model.userInfo = nil
            #expect(PreferenceStore.standard.contents.isEmpty)
        }
    }

    struct FromScopedKeysSnippets {
        // snippet: from-scoped-keys
        enum Theme: String { case system, dark }

        struct GeneralDefaults: PreferenceGroup {
            @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
            @Preference("theme") var theme = Theme.system
        }

        struct AccountDefaults: PreferenceGroup {
            @Preference("name") var name = ""
            @Preference("lastSignIn") var lastSignIn: Date?
        }

        enum Defaults {
            static let general = GeneralDefaults()
            static let account = AccountDefaults(in: .standard.scoped(prefix: "account."))
        }
        // end

        @Test(.isolatedStores(["AutomaticallyUpdate": true, "theme": "dark", "account.name": "Ada"]))
        func oldValuesAreReadAndWrittenAsBefore() {
            let output = Output()
            let print = output.print
            #expect(Defaults.general.theme == .dark && Defaults.account.name == "Ada")
            // snippet: from-scoped-keys-use
            Defaults.general.automaticallyUpdate = false
            let observation = Defaults.account.$name.observe { print($0.new) }
            Defaults.general.$theme.reset()
            // end
            Defaults.account.name = "Grace"
            same(output.lines, ["Grace"])
            same(PreferenceStore.standard.contents, ["AutomaticallyUpdate": false, "account.name": "Grace"])
            Defaults.account.$name.store.removeAll()
            same(PreferenceStore.standard.names, ["AutomaticallyUpdate"])
            withExtendedLifetime(observation) {}
        }
    }

    struct FromARepositorySnippets {
        @Test(.isolatedStores(["sidebar.selected": data("\"settings\"")]))
        func oldValuesAreRead() {
            let preferences: any SidebarPreferences = SidebarStorage()
            same(preferences.selected.value, .settings)
            preferences.selected.value = .projects
            same(PreferenceStore.standard["sidebar.selected"], data("\"projects\""))
            preferences.isHidden.value = true
            same(PreferenceStore.suite("com.example.shared")["sidebarHidden"], true)
        }
    }

    // snippet: from-a-repository
    nonisolated enum SidebarItem: String, Codable { case projects, settings }

    protocol SidebarPreferences: Sendable {
        var selected: Preference<SidebarItem> { get }
        var isHidden: Preference<Bool> { get }
    }

    struct SidebarStorage: PreferenceGroup, SidebarPreferences {
        let selected = Preference("sidebar.selected", default: SidebarItem.projects, coding: .json)
        let isHidden = Preference("sidebarHidden", default: false, in: .suite("com.example.shared"))
    }
    // end
}
