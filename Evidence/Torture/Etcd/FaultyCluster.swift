#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import NIOCore

/// A cluster of three members with authentication and little space, each behind a proxy, that can be given faults.
///
/// Use it on one thread at a time.
final class FaultyCluster {
    /// A fault that lasts for a while and is then removed.
    enum Fault: String, CaseIterable {
        case kill = "the leader is killed"
        case stop = "the leader is stopped"
        case swallow = "a member's connections swallow everything"
        case lostAnswers = "all answers are lost"
        case lostHistory = "all answers are lost, and the history is compacted"
        case delay = "all connections are slow"
        case flap = "a member's connections are cut again and again"
        case cut = "all connections are cut, the history is compacted, the members are defragmented"
        case revoke = "the permission is revoked"
        case noSpace = "the members have no space"
    }

    static let user = "app:password"
    private static let root = "root:secret"
    /// The prefix of the clients' keys.
    static let keys = "preferences/torture/"

    let cluster: EtcdCluster
    private let proxies: [FaultyProxy]

    /// The URLs of the proxies.
    var endpoints: [String] { proxies.map(\.endpoint) }

    init() throws {
        cluster = try EtcdCluster.start(
            3,
            arguments: { _ in
                [
                    "--auth-token", "simple", "--auth-token-ttl", "1", "--bcrypt-cost", "4", "--log-level", "debug",
                    "--quota-backend-bytes", "\(32 << 20)",
                ]
            },
            flags: { _ in ["--user", Self.root] }
        )
        proxies = try cluster.nodes.map { try FaultyProxy(to: $0.clientURL) }
        for command in [
            ["user", "add", Self.root], ["user", "grant-role", "root", "root"], ["role", "add", "app"],
            ["role", "grant-permission", "app", "--prefix=true", "readwrite", Self.keys],
            ["user", "add", Self.user], ["user", "grant-role", "app", "app"], ["auth", "enable"],
        ] { try cluster.control(command, isQuiet: true) }
    }

    /// The number of tokens that have expired, from the members' logs.
    var expiredTokens: Int {
        cluster.nodes.reduce(0) { $0 + $1.log.components(separatedBy: "deleted a simple token").count - 1 }
    }

    /// Returns the values under `keys`, by name.
    func contents() throws -> [String: String] {
        struct Answer: Decodable {
            struct Pair: Decodable { var key: Data, value: Data? }
            var kvs: [Pair]?
        }
        let text = try control("get", "--prefix", Self.keys, "-w", "json")
        let pairs = try JSONDecoder().decode(Answer.self, from: Data(text.utf8)).kvs ?? []
        let named = pairs.compactMap { pair -> (String, String)? in
            // The fence and the guards aren't UTF-8.
            guard let name = String(validating: pair.key.dropFirst(Self.keys.utf8.count), as: UTF8.self) else {
                return nil
            }
            return (name, String(decoding: pair.value ?? Data(), as: UTF8.self))
        }
        return Dictionary(uniqueKeysWithValues: named)
    }

    /// Applies a fault for a while and removes it.
    func suffer(_ fault: Fault, _ random: inout SeededRandom) async throws {
        let time = Duration.milliseconds(1_500 + Int(random.next(below: 2_000)))
        let proxy = proxies[Int(random.next(below: UInt64(proxies.count)))]
        // Slow connections expose other orders of events in a kill or a stop.
        let isSlow = random.next(below: 3) == 0
        switch fault {
        case .kill, .stop:
            if isSlow { all(.delay(.milliseconds(40))) }
            let leader = try await leader()
            if fault == .kill { leader.kill() } else { leader.pause() }
            try await Task.sleep(for: time)
            if fault == .kill { try leader.start() } else { leader.resume() }
        case .swallow:
            proxy.suffer(.swallow)
            try await Task.sleep(for: time)
        case .lostAnswers:
            // The faults are so short that the store can find most of the writes whose answers were lost.
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end {
                all(.swallowAnswers)
                try await Task.sleep(for: .milliseconds(100 + Int(random.next(below: 700))))
                all(.none)
                try await Task.sleep(for: .milliseconds(100))
            }
        case .lostHistory:
            all(.swallowAnswers)
            try await Task.sleep(for: time)
            compact()
        case .delay:
            all(.delay(.milliseconds(50 + Int64(random.next(below: 250)))))
            try await Task.sleep(for: time)
        case .flap:
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end {
                proxy.suffer(.cut)
                try await Task.sleep(for: .milliseconds(50))
                proxy.suffer(.none)
                try await Task.sleep(for: .milliseconds(Int(random.next(below: 200))))
            }
        case .cut:
            all(.cut)
            try await Task.sleep(for: time)
            compact()
            try control("defrag")
        case .revoke:
            try control("role", "revoke-permission", "app", "--prefix=true", Self.keys)
            try await Task.sleep(for: time)
            try control("role", "grant-permission", "app", "--prefix=true", "readwrite", Self.keys)
        case .noSpace: try await runOutOfSpace(for: time)
        }
        all(.none)
        guard try cluster.waitUntilHealthy() else { throw EtcdObstacle("a member has ended by itself") }
    }

    private func all(_ fault: FaultyProxy.Fault) { for proxy in proxies { proxy.suffer(fault) } }

    private func leader() async throws -> EtcdNode {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let leader = cluster.leader { return leader }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw EtcdObstacle("there is no leader")
    }

    // MARK: Space

    /// Fills the members with another key space until they reject puts, and makes space again later.
    private func runOutOfSpace(for time: Duration) async throws {
        let filling = String(repeating: "x", count: 1 << 20)
        var count = 0
        while count < 100, (try? cluster.control(["put", "filler"], input: filling, isQuiet: true)) != nil {
            count += 1
        }
        guard try control("alarm", "list").contains("NOSPACE") else {
            throw EtcdObstacle("\(count) MB did not fill the members")
        }
        try await Task.sleep(for: time)
        let end = ContinuousClock.now + .seconds(60)
        repeat {
            _ = try? cluster.control(["del", "--prefix", "filler."], isQuiet: true)
            compact()
            try control("defrag")
            try control("alarm", "disarm")
            try await Task.sleep(for: .milliseconds(200))
            guard ContinuousClock.now < end else { throw EtcdObstacle("the alarm can't be ended") }
        } while try control("alarm", "list").contains("NOSPACE")
    }

    /// Compacts the history; ignores errors, as it may be compacted already.
    private func compact() {
        struct Answer: Decodable {
            struct Header: Decodable { var revision: Int64 }
            var header: Header
        }
        guard let text = try? control("get", "nothing", "-w", "json"),
            let revision = try? JSONDecoder().decode(Answer.self, from: Data(text.utf8)).header.revision
        else { return }
        _ = try? cluster.control(["compact", "\(revision)"], isQuiet: true)
    }

    /// Runs `etcdctl` as root without the proxies, and repeats it until it succeeds or a minute is over.
    @discardableResult
    private func control(_ arguments: String...) throws -> String {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try cluster.control(arguments, isQuiet: true)
            } catch {
                guard ContinuousClock.now < end else { throw error }
                usleep(100_000)
            }
        }
    }
}
#endif
