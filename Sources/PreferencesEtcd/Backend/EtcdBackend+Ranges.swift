internal import DurableFile
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension EtcdConfiguration {
    /// Returns the keys of a suite.
    ///
    /// - Throws: `invalidName` for the suite, `misuse` for more scopes than a transaction can read.
    func keys(of suite: String) throws(PreferenceError) -> KeySpace {
        let keys = try KeySpace(prefix: prefix, suite: suite, scopes: scopes)
        // A nested transaction may use half the operations; the fence, the mark and the guards are further ones.
        guard !keys.isPartial || keys.ranges.count + 3 <= maximumOperations / 2 else {
            throw PreferenceError(
                .misuse,
                "the scopes are \(keys.ranges.count) ranges of keys, too many for one transaction; list fewer ids, or raise the "
                    + "servers' --max-txn-ops and the configuration's maximumOperations"
            )
        }
        return keys
    }
}

// A store that reads some scopes watches several ranges of keys, and compares and shows only the names in them.
extension EtcdBackend {
    /// Throws if a write sets or compares a name that the store doesn't read, or all names of a prefix of which it reads none.
    func checkScopes(of write: WriteQueue.Write) throws(PreferenceError) {
        guard let name = unreadName(of: write) else { return }
        throw PreferenceError(
            .misuse,
            "\"\(name)\" is of a scope that this store doesn't read; nothing was changed. List its id in the configuration's scopes, "
                + "or write it with a store that lists none"
        )
    }

    /// Returns a name or prefix of a write that the store doesn't read, or `nil` if it reads all.
    func unreadName(of write: WriteQueue.Write) -> String? {
        guard keys.isPartial else { return nil }
        if let name = write.names.sorted().first(where: { !keys.contains($0) }) { return name }
        let prefix = write.condition.prefix
        return write.condition.isComplete && keys.ranges(of: prefix).isEmpty ? prefix : nil
    }

    // MARK: Receiving

    /// The number of attempts to read the other ranges, after which the watch is opened again.
    private static let memberAttempts = 4

    func complete(_ events: [WatchEvent], ofRange index: Int, _ endpoint: String) -> Result<Int64, GatewayFailure> {
        // As for `apply`.
        if monitor.status.refusal == nil { sendQueue() }
        let revision = events.last?.kv.modRevision.value ?? 0
        guard keys.ranges.indices.contains(index) else {
            return .failure(.notUnderstood("a change of a watch that was not requested"))
        }
        let range = keys.ranges[index]
        let others = keys.ranges.filter { $0 != range }
        let (since, histories) = mirror.withLock { ($0.revision, $0.histories) }
        // The answer to a write may have been newer.
        guard since < revision else { return .success(since) }
        func apply(_ delta: RangeResponse, keeping present: Set<Data>? = nil) -> Bool {
            mirror.withLock { mirror in
                guard histories == mirror.histories else { return true }
                return mirror.apply(events, of: range, with: delta, keeping: present, at: revision)
            }
        }
        do throws(GatewayFailure) {
            let delta = try askMember(endpoint, others.map { .delta(of: $0, since: since, at: revision) })
            if !apply(delta) {
                let names = try askMember(endpoint, others.map { .names(of: $0, at: revision) })
                _ = apply(delta, keeping: Set((names.kvs ?? []).map(\.key)))
            }
            announceChanges()
            return .success(revision)
        } catch {
            return .failure(error)
        }
    }

    /// Sends reads at a revision that the watch has delivered, for which its member needs no other one; a failed attempt is repeated, as a
    /// whole fleet reads at each change, and must not open its watches again because a member is busy.
    private func askMember(_ endpoint: String, _ requests: [RangeRequest]) throws(GatewayFailure) -> RangeResponse {
        let requests = requests.map { request in
            var request = request
            request.isSerializable = true
            return request
        }
        var failures = 0
        while true {
            do throws(GatewayFailure) { return try ask(endpoint, requests, .read) } catch {
                failures += 1
                // Another member with the same address might not have the revision yet.
                guard error.isTemporary || error.isOfFuture, failures < Self.memberAttempts else { throw error }
            }
            let pause = RetryPause.pause(after: failures).jittered(by: 0.5, configuration.random())
            Pause.sleep(microseconds: UInt32(pause / .microseconds(1)))
        }
    }
}
