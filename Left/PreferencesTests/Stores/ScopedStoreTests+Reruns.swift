import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

extension ScopedStoreTests {
    @Test(arguments: StoreKind.allCases)
    func transactionOfAScopeConflictsWithItsOwnNamesAlone(kind: StoreKind) throws {
        try kind.withStore { store in
            let scope = store.scoped(prefix: "a.")
            store["a.x"] = 1
            var runs = 0
            // Names of other scopes come and go while the transaction reads all of its own.
            try scope.transaction { transaction in
                runs += 1
                same(transaction.contents, ["x": .integer(runs == 1 ? 1 : 2)])
                transaction["sum"] = .integer(Int64(runs))
                store["b.x"] = .integer(Int64(runs))
            }
            same(runs, 1)
            try scope.transaction { transaction in
                runs += 1
                transaction["names"] = .integer(Int64(transaction.names.count))
                if runs == 2 { store["a.x"] = 2 }
            }
            same(runs, 3)
            same(store.contents, ["a.x": 2, "a.sum": 1, "a.names": 2, "b.x": 1])
            try Preference("x", default: 0, in: scope).update { $0 += 1 }
            same(store["a.x"], 3)
        }
    }
}
