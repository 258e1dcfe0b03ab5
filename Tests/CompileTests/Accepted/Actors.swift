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
