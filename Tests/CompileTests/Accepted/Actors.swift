import Preferences

actor Counter: PreferenceGroup {
    @Preference("count") var count = 0
    let limit = Preference("limit", default: 10)

    func increment() { count += 1 }
}

func use() async {
    let counter = Counter(in: .inMemory())
    await counter.increment()
    counter.limit.value = 20
    _ = await counter.count
}

// An observer has the isolation of the enclosing code.

@MainActor
final class Title {
    var text = ""
    private var observation: PreferenceObservation?

    func follow(_ name: Preference<String>) {
        observation = name.observe { [weak self] change in self?.text = change.new }
    }
}

actor Journal {
    private var lines: [String] = []
    private var observation: PreferenceObservation?

    func follow(_ name: Preference<String>) {
        observation = name.observe(at: .willSet) { change in self.lines.append(change.new) }
    }
}
