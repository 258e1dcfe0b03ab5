import AppKit
import Foundation
import SwiftUI
import Testing

@testable import Preferences

/// The raw values that the tests of `AppStorage` store.
enum Theme: String, CaseIterable, Sendable {
    case system, light, dark
}

/// `PreferenceState` in a view that AppKit hosts.
@MainActor
struct HostingTests {
    private let defaults = TemporaryDefaults()

    /// Puts a view into a window that isn't shown.
    private func host(_ view: some View) -> (view: NSView, window: NSWindow) {
        _ = NSApplication.shared
        let hosting = NSHostingView(rootView: view)
        let window = NSWindow(
            contentRect: NSRect(x: 0, y: 0, width: 200, height: 100),
            styleMask: [.titled],
            backing: .buffered,
            defer: false
        )
        window.isReleasedWhenClosed = false
        window.contentView = hosting
        return (hosting, window)
    }

    /// Waits until the body has shown a value, letting the run loop and the layout do their work.
    private func wait<Value: Equatable>(for value: Value, in shown: Log<Value>, _ view: NSView) async {
        await AppleTests.wait(for: "a body with \(value), after \(shown.all)") {
            view.layoutSubtreeIfNeeded()
            return shown.all.last == value
        }
    }

    @Test
    func viewShowsLocalAndExternalChanges() async throws {
        let preference = Preference("count", default: 0, in: defaults.store())
        let shown = Log<Int>()
        let (view, window) = host(CountLabel(preference, shown))
        await wait(for: 0, in: shown, view)
        preference.value = 1
        await wait(for: 1, in: shown, view)
        defaults.set(2, forKey: "count")
        await wait(for: 2, in: shown, view)
        await Task.detached { preference.value = 3 }.value
        await wait(for: 3, in: shown, view)
        try await defaults.run("write", "count", "-int", "4")
        await wait(for: 4, in: shown, view)
        preference.reset()
        await wait(for: 0, in: shown, view)
        window.close()
    }

    @Test
    func viewIsNotEvaluatedAgainForAnotherPreference() async {
        let store = defaults.store()
        let (count, other) = (Preference("count", default: 0, in: store), Preference("other", default: 0, in: store))
        let (shown, shownOther) = (Log<Int>(), Log<Int>())
        let (view, window) = host(
            VStack {
                CountLabel(count, shown)
                CountLabel(other, shownOther)
            }
        )
        await wait(for: 0, in: shownOther, view)
        await wait(for: 0, in: shown, view)
        let before = shown.all
        for number in 1...5 {
            other.value = number
            await wait(for: number, in: shownOther, view)
        }
        #expect(shown.all == before)
        window.close()
    }

    @Test
    func bindingOfTheViewSetsThePreference() async throws {
        let preference = Preference("count", default: 0, in: defaults.store())
        let (shown, bindings) = (Log<Int>(), Log<Binding<Int>>())
        let (view, window) = host(CountLabel(preference, shown, bindings))
        await wait(for: 0, in: shown, view)
        let binding = try #require(bindings.all.last)
        binding.wrappedValue = 5
        #expect(preference.value == 5)
        #expect(defaults.integer(forKey: "count") == 5)
        await wait(for: 5, in: shown, view)
        window.close()
    }

    @Test
    func storeOfTheEnvironmentReplacesTheDeclaredOne() async {
        let preference = Preference("count", default: 0, in: defaults.store())
        let store = PreferenceStore.inMemory(["count": 7])
        let shown = Log<Int>()
        let (view, window) = host(CountLabel(preference, shown).preferenceStore(store))
        await wait(for: 7, in: shown, view)
        store["count"] = 8
        await wait(for: 8, in: shown, view)
        #expect(preference.value == 0)
        window.close()
    }
}

/// A label that records what its body showed.
private struct CountLabel: View {
    @PreferenceState<Int> private var count: Int
    private let shown: Log<Int>
    private let bindings: Log<Binding<Int>>

    init(_ preference: Preference<Int>, _ shown: Log<Int>, _ bindings: Log<Binding<Int>> = Log()) {
        _count = PreferenceState(preference)
        self.shown = shown
        self.bindings = bindings
    }

    var body: some View {
        let value = count
        let _ = shown.append(value)
        let _ = bindings.append($count)
        Text(verbatim: "\(value)")
    }
}
