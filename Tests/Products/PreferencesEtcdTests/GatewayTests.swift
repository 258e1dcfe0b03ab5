import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesEtcd

/// Tests of the JSON in the answers of etcd 3.4's gateway.
struct GatewayTests {
    private func decode<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    @Test
    func integersAreStringsOrNumbersAndZeroIsLeftOut() throws {
        let header: ResponseHeader = try decode(#"{"revision":"9223372036854775807"}"#)
        same(header.revision.value, .max)
        let number: ResponseHeader = try decode(#"{"revision":7}"#)
        same(number.revision.value, 7)
        let absent: ResponseHeader = try decode("{}")
        same(absent.revision.value, 0)
        #expect(throws: DecodingError.self) { () -> ResponseHeader in try decode(#"{"revision":"seven"}"#) }
    }

    @Test
    func keysAndValuesAreBase64AndEmptyOnesAreLeftOut() throws {
        let range: RangeResponse = try decode(
            #"{"header":{"revision":"3"},"kvs":[{"key":"YS9i","mod_revision":"2","version":"1","value":"MQ=="},{"key":"YS9j","mod_revision":"3"}],"count":"2"}"#
        )
        same(range.kvs?.map { String(decoding: $0.key, as: UTF8.self) }, ["a/b", "a/c"])
        same(range.kvs?.map(\.value), [Data("1".utf8), nil])
        same(range.count.value, 2)
    }

    @Test
    func failedTransactionLeavesSucceededOut() throws {
        let response: TransactionResponse = try decode(
            #"{"header":{"revision":"9"},"responses":[{"response_range":{"header":{"revision":"9"},"count":"1"}}]}"#
        )
        #expect(response.succeeded != true)
        same(response.responses?.first?.range?.count.value, 1)
    }

    @Test
    func removalIsDistinguishedFromAPut() throws {
        let line: StreamLine = try decode(
            #"{"result":{"header":{"revision":"4"},"events":[{"kv":{"key":"YQ==","mod_revision":"4"},"type":"DELETE"},{"kv":{"key":"YQ==","mod_revision":"5"}}]}}"#
        )
        same(line.result?.events?.map(\.isRemoval), [true, false])
    }

    @Test(arguments: [
        (
            #"{"error":"x","message":"etcdserver: no leader","code":14}"#,
            GatewayFailure.unconnected("etcdserver: no leader")
        ),
        (
            #"{"error":"etcdserver: permission denied","code":7}"#,
            .refused(code: 7, message: "etcdserver: permission denied")
        ),
        (#"{"message":"etcdserver: invalid auth token","code":16}"#, .tokenRefused("etcdserver: invalid auth token")),
        (#"{"message":"etcdserver: user name is empty","code":3}"#, .tokenRefused("etcdserver: user name is empty")),
        (
            #"{"message":"etcdserver: revision of auth store is old","code":3}"#,
            .tokenRefused("etcdserver: revision of auth store is old")
        ),
        (#"{"message":"etcdserver: too many requests","code":8}"#, .unconnected("etcdserver: too many requests")),
        (#"{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}"#, .unconnected("etcdserver: no leader")),
    ])
    func errorsAreClassified(text: String, failure: GatewayFailure) throws {
        let error: ErrorResponse = try decode(text)
        same(GatewayFailure(error), failure)
    }

    @Test(arguments: [
        #"{"message":"Endpoint request timed out"}"#, #"{"code":502,"message":"bad gateway"}"#, #"{"code":0}"#, "{}",
    ])
    func jsonOfAProxyIsNoErrorOfEtcd(text: String) {
        #expect(throws: DecodingError.self) { let _: ErrorResponse = try decode(text) }
    }

    @Test
    func onlyRequestsThatMayHaveBeenExecutedAreInDoubt() {
        #expect(GatewayFailure.unreachable("").isInDoubt)
        #expect(GatewayFailure.transient("").isInDoubt)
        #expect(GatewayFailure.notUnderstood("").isInDoubt)
        #expect(!GatewayFailure.unconnected("").isInDoubt)
        #expect(!GatewayFailure.refused(code: 3, message: "").isInDoubt)
        #expect(!GatewayFailure.tokenRefused("").isInDoubt)
    }

    @Test
    func rotationAdvancesOnceForEachEndpointThatFailed() {
        var rotation = EndpointRotation(["a", "b", "c"]) { 0 }
        rotation.leave("a")
        rotation.leave("a")
        same(rotation.current, "b")
        rotation.leave("b")
        rotation.leave("c")
        same(rotation.current, "a")
    }

    @Test
    func pauseComesOnlyAfterAllEndpointsWereTried() {
        var pause = RetryPause(endpointCount: 2) { 0.5 }
        let pauses = (0..<6).map { _ in pause.next() }
        same(pauses, [0, 50, 0, 100, 0, 200].map { .milliseconds($0) })
        same((0..<100).map { _ in pause.next() }.max(), .seconds(1))
    }

    @Test
    func endpointsAreTriedInARandomOrder() {
        let generator = Lock(SeededGenerator(seed: 1))
        var firsts: [String: Int] = [:]
        var seconds: [String: Int] = [:]
        for _ in 0..<3000 {
            var rotation = EndpointRotation(["a", "b", "c"]) {
                generator.withLock { Double.random(in: 0..<1, using: &$0) }
            }
            same(rotation.endpoints.sorted(), ["a", "b", "c"])
            firsts[rotation.current, default: 0] += 1
            guard rotation.current == "a" else { continue }
            rotation.leave("a")
            seconds[rotation.current, default: 0] += 1
        }
        // With a fixed seed about a third choose each member, and half of those that leave one go to each of the two remaining.
        #expect(firsts.values.allSatisfy { (900...1100).contains($0) }, "\(firsts)")
        #expect(seconds.count == 2 && seconds.values.allSatisfy { (430...570).contains($0) }, "\(seconds)")
    }

    @Test
    func retriesAreSpreadFromHalfToOneAndAHalfOfThePause() {
        let generator = Lock(SeededGenerator(seed: 2))
        let pauses = (0..<1000).map { _ in
            var pause = RetryPause(endpointCount: 1) { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
            return pause.next() / .milliseconds(1)
        }
        #expect(pauses.allSatisfy { (25..<75).contains($0) })
        #expect((45...55).contains(pauses.reduce(0, +) / 1000))
        same(Set(pauses.map { Int($0) }).count, 50, "each millisecond is chosen now and then")
    }

    @Test
    func tokenIsRequestedOnceAndAgainWhenItIsRejected() {
        var keeper = TokenKeeper(hasUser: true)
        same(keeper.next, .authenticate)
        keeper.set("one")
        same(keeper.next, .use("one"))
        keeper.set("two")
        keeper.invalidate("one")
        same(keeper.next, .use("two"), "a rejection of the older one is no reason for this one")
        keeper.invalidate("two")
        same(keeper.next, .authenticate)
        same(TokenKeeper(hasUser: false).next, .use(nil))
    }

    @Test
    func namesAndKeysCorrespondOneToOne() throws {
        let keys = try KeySpace(prefix: "p", suite: "s")
        for name in ["a", "/", "a/b", "\u{0}", "é", "😀"] { same(keys.name(of: keys.key(of: name)), name) }
        same(keys.key(of: "caf\u{E9}"), keys.key(of: "cafe\u{301}"))
        same(keys.name(of: keys.mark), nil)
        same(keys.name(of: Data("p/s/cafe\u{301}".utf8)), nil, "no name has this key")
        same(keys.name(of: keys.start + [0xFF]), nil)
        same(keys.name(of: Data("p/other/a".utf8)), nil)
        for suite in ["", "a/b"] {
            #expect(throws: PreferenceError.self) { try KeySpace(prefix: "p", suite: suite) }
        }
    }
}
