import Foundation
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of the suites found in the keys of a cluster, without a server.
struct SuiteScanTests {
    /// Returns the suites in `keys`, which are read like those of etcd: in order, from the requested key on, one page at a time.
    private static func names(in keys: [String], prefix: String, pageSize: Int) -> (names: [String], pages: Int) {
        var scan = SuiteScan(prefix: prefix, pageSize: pageSize)
        var pages = 0
        while !scan.isDone {
            let request = scan.request
            let end = request.rangeEnd ?? Data()
            let page = keys.map { Data($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
                .filter { !$0.lexicographicallyPrecedes(request.key) }
                .filter { end == Data([0]) || $0.lexicographicallyPrecedes(end) }
            scan.add(Array(page.prefix(pageSize)))
            pages += 1
        }
        return (scan.names, pages)
    }

    @Test(arguments: [1, 2, 3, 100])
    func suitesWithAValueAreFoundForEachPageSize(pageSize: Int) {
        let keys = [
            "p/a/x", "p/a/y", "p/a-b/x", "p/a.b/x/y", "p/empty/", "p/marked/", "p/marked/x", "p/none", "p//x",
            "p0/other/x",
            "o/other/x", "p/ä/x",
        ]
        same(Self.names(in: keys, prefix: "p", pageSize: pageSize).names, ["a-b", "a.b", "a", "marked", "ä"])
    }

    @Test
    func withoutAPrefixTheFirstPartOfEachKeyIsASuite() {
        same(Self.names(in: ["a/x", "b/y/z", "c"], prefix: "", pageSize: 1).names, ["a", "b"])
    }

    @Test
    func restOfALargeSuiteIsNotRead() {
        let keys = (0..<1000).map { "p/large/\($0)" } + ["p/small/x"]
        let (names, pages) = Self.names(in: keys, prefix: "p", pageSize: 10)
        same(names, ["large", "small"])
        same(pages, 2)
    }
}
