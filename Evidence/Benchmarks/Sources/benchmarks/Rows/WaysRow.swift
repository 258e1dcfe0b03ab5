import Declarations
import Measuring
import Preferences

/// A group that is declared in the module that reads it.
private struct OwnPreferences: PreferenceGroup {
    @Preference("own-flag") var flag = false
    @Preference("own-number") var number = 0
    @Preference("own-text") var text = ""
}

/// The ways in which programs read a value.
enum WaysRow {
    static func measure(_ bench: Bench) throws -> Outcome {
        let store = PreferenceStore.inMemory()
        let own = OwnPreferences(in: store)
        let declared = DeclaredPreferences(in: store)
        (own.flag, own.number, own.text) = (true, 1, Samples.text(1))
        (declared.flag, declared.number, declared.text) = (true, 1, Samples.text(1))
        let visible: any VisiblePreferences = declared
        let length = bench.shortEffort.length
        func way(_ name: String, _ body: @escaping (Int) -> Void) -> Contender {
            .timed(name, .ours, length: length, body)
        }
        let pair = MutexPair()
        let bare = Contender.timed(GetRow.pair, .limit, length: length) { count in
            for _ in 0..<count { pair.use() }
        }
        let (ownFlag, ownNumber, ownText) = (own.$flag, own.$number, own.$text)

        var table = Table("Get, by way of access", note: "In a plain release build: no flag is set.")
        try table.add(
            "Bool",
            bench.shortEffort,
            [
                way("plain value") { for _ in 0..<$0 { keep(ownFlag.value) } },
                way("in a group") { for _ in 0..<$0 { keep(own.flag) } },
                way("in another module's group") { for _ in 0..<$0 { keep(declared.flag) } },
                way("through a protocol") { for _ in 0..<$0 { keep(visible.visibleFlag.value) } },
                bare,
            ]
        )
        try table.add(
            "Int",
            bench.shortEffort,
            [
                way("plain value") { for _ in 0..<$0 { keep(ownNumber.value) } },
                way("in a group") { for _ in 0..<$0 { keep(own.number) } },
                way("in another module's group") { for _ in 0..<$0 { keep(declared.number) } },
                way("through a protocol") { for _ in 0..<$0 { keep(visible.visibleNumber.value) } },
                bare,
            ]
        )
        try table.add(
            "String, 32 B",
            bench.shortEffort,
            [
                way("plain value") { for _ in 0..<$0 { keep(ownText.value) } },
                way("in a group") { for _ in 0..<$0 { keep(own.text) } },
                way("in another module's group") { for _ in 0..<$0 { keep(declared.text) } },
                way("through a protocol") { for _ in 0..<$0 { keep(visible.visibleText.value) } },
                bare,
            ]
        )
        return Outcome(tables: [table])
    }
}
