import Combine
import Foundation
import Testing

@testable import Preferences

/// Code without SwiftUI, such as a view controller, that follows a preference.
struct SinkTests {
    private let defaults = ObservableDefaults()

    @Test
    func sinkGetsTheCurrentValueAndEachChangeUntilItIsReleased() {
        let preferences = AppPreferences(in: defaults.store())
        let themes = Log<Theme>()
        var sink: AnyCancellable? = preferences.$theme.publisher.sink { themes.append($0) }
        preferences.theme = .dark
        defaults.set("light", forKey: "theme")
        defaults.set("light", forKey: "theme")
        withExtendedLifetime(sink) {}
        sink = nil
        preferences.theme = .system
        #expect(themes.all == [.system, .dark, .light])
    }

    @Test
    func publisherBeforeTheChangeSeesTheOldValue() {
        let preferences = AppPreferences(in: defaults.store())
        let pairs = Log<[Theme]>()
        let sink = preferences.$theme.publisher(at: .willSet).sink { pairs.append([$0, preferences.theme]) }
        preferences.theme = .dark
        #expect(pairs.all == [[.system, .system], [.dark, .system]])
        sink.cancel()
    }
}
