import Observation
import Preferences
import TestSupport
import Testing

// snippet: tracking
@MainActor
func draw(_ preferences: GeneralPreferences, with show: @escaping @MainActor (String) -> Void) {
    withObservationTracking {
        show("\(preferences.theme), volume \(preferences.volume)")
    } onChange: {
        Task { @MainActor in draw(preferences, with: show) }
    }
}
// end

// snippet: model
@MainActor @Observable
final class PlayerModel {
    @ObservationIgnored private let volume = Preference("volume", default: 5)
    var isMuted = false

    var title: String { isMuted ? "muted" : "volume \(volume.value)" }  // tracked, both of them
}
// end

// snippet: observing on the main actor
@MainActor
final class VolumeLabel {
    private(set) var text = ""
    private var observation: PreferenceObservation?

    func follow(_ volume: Preference<Int>) {
        observation = volume.observe(includingCurrent: true) { [weak self] change in
            self?.text = "volume \(change.new)"
        }
    }
}
// end

struct ReactingSnippets {
    @Test @MainActor
    func observersOfAClassUseItsState() {
        let volume = Preference("volume", default: 5, in: .inMemory())
        let label = VolumeLabel()
        label.follow(volume)
        same(label.text, "volume 5")
        volume.value = 6
        same(label.text, "volume 6")
    }

    @Test
    func observersAreCalledBeforeTheSetReturns() throws {
        let output = Output()
        let print = output.print
        // snippet: observing
        let volume = Preference("volume", default: 5, in: .inMemory())
        let observation = volume.observe { change in
            print("\(change.name): \(change.old) → \(change.new), \(change.origin)")
        }
        volume.value = 6
        volume.value = 6  // equal to the stored value: no call
        observation.cancel()
        volume.value = 7
        print("set")
        // volume: 5 → 6, local
        // set
        // end
        let shown = try Snippet.shownOutput(of: "observing")
        same(output.lines, shown)
    }

    @Test
    func sequencesBeginWithTheCurrentValue() async throws {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let print: @Sendable (String) -> Void = { continuation.yield($0) }
        let preferences = GeneralPreferences(in: .inMemory())
        // snippet: following
        let task = Task {
            for await (theme, volume) in PreferenceStore.updates(of: preferences.$theme, preferences.$volume) {
                print("\(theme) \(volume)")
            }
        }
        // end
        var iterator = lines.makeAsyncIterator()
        await same(iterator.next(), "system 5")
        // snippet: transaction for followers
        try await preferences.$theme.store.transaction { transaction in
            transaction[preferences.$theme] = .dark
            transaction[preferences.$volume] = 8
        }
        // end
        await same(iterator.next(), "dark 8")
        task.cancel()
    }

    @Test
    func onlyTheNewestMayWait() async {
        let volume = Preference("volume", default: 5, in: .inMemory())
        // snippet: buffering
        let later = volume.updates(includingCurrent: false, buffering: .newest(1))
        // end
        var iterator = later.makeAsyncIterator()
        for value in 6...9 { volume.value = value }
        await same(iterator.next(), 9)
    }

    @Test
    func storeTellsOfAllNames() async throws {
        let output = Output()
        let print = output.print
        // snippet: store changes
        let store = PreferenceStore.inMemory(["theme": "light"])
        var changes = store.changes.makeAsyncIterator()  // begins here
        store["theme"] = "dark"
        if let change = await changes.next() {
            print(change.names, change.old, change.new)  // ["theme"] ["theme": "light"] ["theme": "dark"]
        }
        // end
        try same(output.lines, Snippet.shownOutput(of: "store changes"))
    }

    @Test @MainActor
    func trackedReadsAreDrawnAgain() async {
        let preferences = GeneralPreferences(in: .inMemory())
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        draw(preferences) { continuation.yield($0) }
        var iterator = lines.makeAsyncIterator()
        await same(iterator.next(), "system, volume 5")
        preferences.volume = 6
        await same(iterator.next(), "system, volume 6")
    }

    @Test @MainActor
    func modelsReadsAreTracked() async {
        await PreferenceStore.withIsolatedStores {
            let (lines, continuation) = AsyncStream.makeStream(of: Void.self)
            let model = PlayerModel()
            withObservationTracking {
                same(model.title, "volume 5")
            } onChange: {
                continuation.yield()
            }
            Preference("volume", default: 5).value = 6
            var iterator = lines.makeAsyncIterator()
            await iterator.next()
            same(model.title, "volume 6")
        }
    }
}
