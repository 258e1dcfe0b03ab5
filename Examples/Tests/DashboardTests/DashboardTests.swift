import DashboardFeature
import DashboardInterface
import DashboardStorage
import Preferences
import SettingsReport
import Testing

/// The modular app: preferences are declared in one module, and used in another through a protocol of a third one.
struct DashboardTests {
    let preferences = AppPreferences(in: .inMemory())

    @Test
    func featureReadsTheDeclaredDefault() {
        #expect(DashboardModel(preferences).title == "TEMPLATES")
    }

    @Test
    func featureWritesWithoutSeeingTheStorage() {
        DashboardModel(preferences).show(.projects)
        #expect(preferences.selected.value == .projects)
        #expect(preferences.selected.store["dashboard.selected"] == .string("projects"))
    }

    @Test
    func valuesAreFollowedWithTheInitialOne() async {
        let model = DashboardModel(preferences)
        var titles = model.titles().makeAsyncIterator()
        #expect(await titles.next(isolation: nil) == "TEMPLATES")
        model.show(.settings)
        #expect(await titles.next(isolation: nil) == "SETTINGS")
    }

    @Test
    func changesAreFollowedWithoutTheInitialOne() async {
        let model = DashboardModel(preferences)
        await confirmation { changed in
            let observation = model.onTitleChange { title in
                #expect(title == "PROJECTS")
                changed()
            }
            model.show(.projects)
            withExtendedLifetime(observation) {}
        }
    }

    @Test
    func reportListsEachPreferenceWithSourceAndRule() {
        preferences.selected.value = .projects
        let first = "dashboard.selected = projects (store)\t\"templates\", \"projects\", \"settings\""
        #expect(settingsReport(of: preferences).split(separator: "\n").first.map(String.init) == first)
    }

    @Test
    func twoAppsOnTwoStoresAreIndependent() {
        let other = AppPreferences(in: .inMemory())
        DashboardModel(preferences).show(.projects)
        #expect(DashboardModel(other).title == "TEMPLATES")
    }
}
