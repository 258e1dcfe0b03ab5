import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

extension TransactionTests {
    /// The reason why a transaction runs again when another process sets `b` after its first run.
    @Test(arguments: StoreKind.allCases)
    func onlyWhatWasReadIsCompared(kind: StoreKind) throws {
        try kind.withStore { store in
            func runs(_ body: (inout PreferenceTransaction) -> Void) throws -> Int {
                store["b"] = nil
                var runs = 0
                try store.transaction { transaction in
                    body(&transaction)
                    transaction["a"] = .integer(.random(in: 0 ... .max))
                    runs += 1
                    if runs == 1 { store["b"] = 1 }
                }
                return runs
            }
            let unread = try runs { _ in }
            same(unread, 1)
            try same(runs { $0["b"] = 2 }, 1, "only written")
            try same(runs { _ = $0["c"] }, 1)
            try same(runs { _ = $0["b"] }, 2, "an absent name that was read")
            try same(
                runs {
                    $0["b"] = 3; _ = $0["b"]
                },
                1,
                "its own write was read"
            )
            try same(runs { _ = $0.names }, 2)
            try same(runs { _ = $0.contents }, 2)
            try same(
                runs {
                    _ = $0["b"]; _ = $0.contents; _ = $0["c"]
                },
                2
            )
        }
    }
}
