import Foundation
import Testing

@testable import Preferences
@testable import PreferencesInspection

/// The values of a domain, as the tool `prefs` reads and changes them.
struct DefaultsDomainTests {
    private let defaults = ObservableDefaults()
    private var domain: DefaultsDomain { DefaultsDomain(defaults.domain, defaults) }

    @Test
    func changesAreStoredInTheDomain() throws {
        let values: [String: PropertyListValue] = [
            "volume": 3, "isMuted": true, "ratio": 0.5, "theme": "dark", "recent": [1, 2], "frame": ["x": 7],
            "key": .data(Data([1])), "day": .date(Date(timeIntervalSinceReferenceDate: 0)), "large": .unsigned(.max),
        ]
        try domain.apply(values.mapValues { $0 })
        #expect(domain.own().values == values)
        try domain.apply(["volume": 4, "theme": nil, "none": nil])
        let own = domain.own().values
        #expect(own["volume"] == 4 && own["theme"] == nil && own.count == values.count - 1)
        #expect(try domain.forced().isEmpty)
    }

    @Test
    func forcedValuesAreThoseOfAnAdministrator() throws {
        defaults.set(3, forKey: "volume")
        defaults.set("dark", forKey: "theme")
        defaults.watch.force("theme")
        #expect(try domain.forced() == ["theme": "dark"])
        let other = DefaultsDomain("other", defaults)
        #expect(try other.forced().isEmpty, "it is forced for another domain")
    }

    @Test
    func undecodableValueIsReportedAndTheOthersAreRead() {
        let (values, problems) = DefaultsDomain("app", UndecodableDefaults()).own()
        #expect(values == ["volume": 3])
        #expect(problems.map(\.code) == [.unreadable])
        #expect(problems.first?.name == "link" && problems.first?.message.contains("the domain \"app\"") == true)
    }

    @Test
    func changeThatTheSystemDoesNotConfirmThrows() {
        defaults.watch.failToSynchronize()
        let error = #expect(throws: PreferenceError.self) { try domain.apply(["volume": 4]) }
        #expect(error?.code == .notDurable)
    }

    @Test(arguments: ["", ".GlobalPreferences", UserDefaults.globalDomain, "kCFPreferencesAnyApplication"])
    func invalidNameIsRejected(_ name: String) {
        let error = #expect(throws: PreferenceError.self) { _ = try DefaultsDomain(name) }
        #expect(error?.code == .invalidName)
    }
}

/// User defaults with an object that isn't one of a property list, as references in keyed archives aren't.
private final class UndecodableDefaults: UserDefaults {
    override func persistentDomain(forName name: String) -> [String: Any]? { ["link": NSNull(), "volume": 3] }
}
