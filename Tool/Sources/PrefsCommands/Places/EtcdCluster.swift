#if Etcd
import Preferences
import PreferencesInspection
@_spi(Tool) import PreferencesEtcd
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The suites on an etcd cluster.
final class EtcdCluster: Suites {
    let configuration: EtcdConfiguration
    private let list: EtcdSuiteList
    /// The suites whose connection is lost.
    private let lost = Mutex<Set<String>>([])

    init(_ configuration: EtcdConfiguration) throws {
        self.configuration = configuration
        list = try EtcdSuiteList(configuration)
    }

    var endpoints: String { configuration.endpoints.joined(separator: ",") }

    var isShared: Bool { true }

    func names() throws -> [String] {
        do throws(PreferenceError) { return try list.names() } catch { throw failure(error) }
    }

    func place(of suite: String) throws -> any Place { EtcdPlace(suite, on: self) }

    func place(ofStateOf suite: String) throws -> any Place {
        throw Failure(.usage, "--state and --etcd exclude each other, as programs keep their state in a file")
    }

    func paths(of suite: String) throws -> (own: String, all: [String: PropertyListValue]) {
        let keys = (configuration.prefix.isEmpty ? "" : configuration.prefix + "/") + suite + "/"
        return (keys, ["etcd": .array(configuration.endpoints.map { .string($0) }), "keys": .string(keys)])
    }

    /// Returns the failure for an error of a store, with advice in terms of the tool's options.
    func failure(_ error: PreferenceError) -> Failure {
        let failure = Failure(error)
        guard error.code == .notPermitted, configuration.credentials == nil else { return failure }
        return Failure(failure.status, failure.message + "; give the user by --user")
    }

    /// Writes to standard error when the connection of a watched suite is lost and when it is restored, once for all suites.
    func report(_ status: EtcdStatus, of suite: String) {
        let isFirst = lost.withLock { lost in
            let before = lost.isEmpty
            if status.isConnected { lost.remove(suite) } else { lost.insert(suite) }
            return before != lost.isEmpty
        }
        guard isFirst else { return }
        if let endpoint = status.endpoint {
            Terminal.warn("connected again, to \(endpoint); changes made since the connection was lost follow")
        } else {
            let reason = status.error.map { ": \($0.message)" } ?? ""
            Terminal.warn("the connection to etcd is lost; changes are shown when it is restored\(reason)")
        }
    }
}

extension ChangeHistory.Change {
    fileprivate init(_ transaction: EtcdHistory.Transaction) {
        let (old, new) = (transaction.old, transaction.new)
        let names = Set(old.keys).union(new.keys).union(transaction.unreadableOld).union(transaction.unreadableNew)
        self.init(
            unit: "revision",
            number: transaction.revision,
            details: [
                ("time", transaction.time?.formatted(.iso8601)), ("author", transaction.author),
                ("program", transaction.program), ("reason", transaction.reason),
            ].compactMap { name, text in text.map { Detail(name: name, text: $0) } },
            differences: names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
                Difference(
                    name: name,
                    old: old[name],
                    new: new[name],
                    isOldUnreadable: transaction.unreadableOld.contains(name),
                    isNewUnreadable: transaction.unreadableNew.contains(name)
                )
            },
            isCompacted: transaction.isCompacted
        )
    }
}

/// The use of the schema that is stored in a suite, for which the suite's store asks on any thread.
private final class SchemaUse: Sendable {
    /// Whether the store stores values that the schema forbids.
    let isIgnored = Mutex(false)
    /// Whether a command found that the schema can't be read; it reports that itself.
    let isUnreadable = Mutex(false)

    /// Returns whether a command has reported an issue of the store already.
    func isReported(_ issue: PreferenceError) -> Bool {
        issue.code == .damaged && issue.name == PreferenceStore.schemaName && isUnreadable.withLock { $0 }
    }
}

/// A suite on an etcd cluster, which is its only layer.
final class EtcdPlace: Place {
    let title: String
    private let suite: String
    private let cluster: EtcdCluster
    private let monitor = EtcdMonitor()
    private var store: PreferenceStore?
    private var wholeHistory: EtcdHistory?
    private let schemaUse = SchemaUse()

    init(_ suite: String, on cluster: EtcdCluster) {
        self.suite = suite
        self.cluster = cluster
        title = "the suite \"\(suite)\" on \(cluster.endpoints)"
    }

    func file(for purpose: FilePurpose) throws -> String? {
        switch purpose {
        case .check, .write: nil
        case .repair:
            throw Failure(
                .usage,
                "--repair is for files; on etcd, replace each value that can't be read, or remove its key with `etcdctl del`"
            )
        case .compact:
            throw Failure(
                .usage,
                "compact is for files; etcd drops old revisions by its --auto-compaction-retention or `etcdctl compact`"
            )
        }
    }

    func history(of names: [String]?, limit: Int) throws -> ChangeHistory {
        var changes: [ChangeHistory.Change] = []
        do throws(PreferenceError) {
            var history = try beginningOfHistory()
            while changes.count < limit, let transaction = try history.next(of: names) {
                changes.append(ChangeHistory.Change(transaction))
            }
            return ChangeHistory(revisions: changes.reversed(), of: names, isCompacted: history.isCompacted)
        } catch {
            throw cluster.failure(error)
        }
    }

    func nameChanged(after change: ChangeHistory.Change) throws -> String? {
        do throws(PreferenceError) {
            let revisions = try beginningOfHistory().revisions(of: change.differences.map(\.name))
            return change.differences.first { difference in
                // A name that the change removed has no revision. The values alone don't show one that can't be decoded.
                let isRemoval = difference.new == nil && !difference.isNewUnreadable
                return revisions[difference.name] != (isRemoval ? nil : change.number)
            }?.name
        } catch {
            throw cluster.failure(error)
        }
    }

    /// Returns a history that begins with the newest transaction; all share the connection.
    private func beginningOfHistory() throws(PreferenceError) -> EtcdHistory {
        if let wholeHistory { return wholeHistory }
        let history = try EtcdHistory(suite, cluster.configuration)
        wholeHistory = history
        return history
    }

    var isShared: Bool { true }

    /// Returns the schema that `prefs schema push` has stored in the suite, or else the one that is installed on this machine.
    func schema() throws -> Schema? {
        var stored: PropertyListValue?
        // A suite that can't be read is reported by the command, which then reads its values.
        do { stored = try connected()[PreferenceStore.schemaName] } catch is Failure {}
        guard let stored else { return try Schema(firstOf: schemaPaths) }
        let key = try cluster.paths(of: suite).own + PreferenceStore.schemaName
        do {
            guard case .string(let text) = stored else {
                throw Failure(.damaged, "the schema in \(key) isn't a text; store it again with `prefs schema push`")
            }
            return try Schema(text: text, path: key)
        } catch {
            schemaUse.isUnreadable.withLock { $0 = true }
            throw error
        }
    }

    func markingSchema() throws -> Schema? { try schema() }

    func ignoreSchema() { schemaUse.isIgnored.withLock { $0 = true } }

    /// The schema paths of the suite on this machine; empty if the suite's name isn't valid for files.
    var schemaPaths: [String] {
        do throws(PreferenceError) { return try SuiteFiles(suite).schemaPaths } catch { return [] }
    }

    var writability: Writability { .unknown("etcd decides by the roles of the user") }

    func exists() throws -> Bool { try !open().ownContents.isEmpty }

    var missing: Failure {
        Failure(.absent, "\(title) doesn't exist; `prefs --etcd … list` shows the suites")
    }

    func layers(_ report: @escaping @Sendable (PreferenceError) -> Void) throws -> [PlaceLayer] {
        _ = try connected(report)
        let contents = try open().ownContents
        let location = try cluster.paths(of: suite).own
        return [PlaceLayer(source: .etcd, contents: contents, location: location, kind: .key)]
    }

    func open() throws -> PlaceStores {
        let store = try connected()
        return PlaceStores(store: store, own: store)
    }

    func absent(_ name: String, in stores: PlaceStores, _ formerNames: FormerNames) throws -> Failure {
        try absent(name, of: stores.own.names, formerNames)
    }

    /// The reason why no changes arrive after the suite was read; `nil` while connected.
    var lostConnection: String? {
        guard store != nil, !monitor.status.isConnected else { return nil }
        let reason = monitor.status.error.map { ": \($0.message)" } ?? ""
        return "the connection to etcd is lost; the values shown are the last known ones\(reason)"
    }

    func reportConnection() {
        let (statuses, cluster, suite) = (monitor.statuses, cluster, suite)
        Task { for await status in statuses { cluster.report(status, of: suite) } }
    }

    /// Returns the store after the suite was read; throws if it can't be read, whereas a program would continue with defaults.
    private func connected(
        _ report: @escaping @Sendable (PreferenceError) -> Void = { Terminal.report($0) }
    ) throws -> PreferenceStore {
        if let store { return store }
        let issues = Issues()
        let progress = Progress("Connecting to \(cluster.endpoints)")
        do throws(PreferenceError) {
            var configuration = cluster.configuration
            configuration.ignoresSchema = { [schemaUse] in schemaUse.isIgnored.withLock { $0 } }
            let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
            store.issueHandler = { issues.add($0) }
            let isEmpty = store.contents.isEmpty
            _ = consume progress
            if isEmpty, let error = monitor.status.error { throw error }
            for issue in issues.all { report(issue) }
            store.issueHandler = { [schemaUse] in if !schemaUse.isReported($0) { Terminal.report($0) } }
            self.store = store
            return store
        } catch {
            throw cluster.failure(error)
        }
    }
}
#endif
