import Foundation
import Observation
import TestSupport
import Testing

@testable import Preferences

extension FormerNameTests {
    @Test
    func updateSeesTheFormerValueAndAChangeOfIt() throws {
        let store = PreferenceStore.inMemory(["vol": 3])
        let player = Player(in: store)
        var runs: [Int] = []
        try player.$volume.update { volume in
            runs.append(volume)
            // An older program sets the name that it knows.
            if runs.count == 1 { store["vol"] = 6 }
            volume += 1
        }
        #expect(runs == [3, 6] && store.contents == ["volume": 7])
    }

    @Test
    func transactionSeesTheFormerValueAndAChangeOfIt() throws {
        let store = PreferenceStore.inMemory(["vol": 3])
        let player = Player(in: store)
        var runs: [Int] = []
        try store.transaction { transaction in
            runs.append(transaction[player.$volume])
            if runs.count == 1 { store["vol"] = 6 }
            transaction[player.$volume] += 1
            same(transaction[player.$volume], runs[runs.count - 1] + 1)
            same(transaction["vol"], nil)
            transaction.reset(player.$volume)
            same(transaction[player.$volume], 5)
            transaction["loudness"] = 8
            same(transaction[player.$volume], 8)
        }
        #expect(runs == [3, 6] && store.contents == ["loudness": 8])
    }
}
