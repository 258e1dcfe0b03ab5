import Preferences
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

// One backend of each kind, as short as it can be; the guide shows them.

// snippet: table backend
/// A place that never waits and has no other users, such as a database within the process.
final class TableBackend: PreferenceBackend {
    let place = "the program's table"
    let saysWhenItWaits = true
    private let table: Table

    init(_ table: Table) { self.table = table }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        table.rows.withLock { rows in rows.map { StoredChange($0.key, $0.value) } }
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        let changes = try body(.none)
        table.rows.withLock { rows in for change in changes { rows[change.name] = change.value } }
    }

    final class Table: Sendable {
        let rows = Mutex<[String: PropertyListValue]>([:])
    }
}
// end

// snippet: locked backend
/// A place that other programs change, too, and that can be locked meanwhile, such as a file or a database with transactions.
final class LockedBackend: PreferenceBackend, @unchecked Sendable {  // the store makes one call at a time
    let place = "the shared database"
    let timeout: Duration
    let saysWhenItWaits = true
    private let database: Database
    private var version = 0

    init(_ database: Database, timeout: Duration = .seconds(5)) { (self.database, self.timeout) = (database, timeout) }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        database.observe(host.changed)
        return read().values
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        let known = version
        let (values, version) = read()
        return version == known ? .none : .contents(after: [], values)
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        while !database.tryLock() {
            if deadline.isNow { throw PreferenceDeadline.WouldWait() }
            if deadline.remaining == .zero {
                throw PreferenceError(.busy, "\(place) is locked; nothing was changed. Try again")
            }
            database.waitForUnlock(atMost: deadline.remaining)
        }
        defer { database.unlock() }
        let changes = try body(catchUp(until: deadline))
        if !changes.isEmpty { version = database.store(changes) }
    }

    private func read() -> (values: [StoredChange], version: Int) {
        let (rows, version) = database.read()
        self.version = version
        return (rows.map { StoredChange($0.key, $0.value) }, version)
    }
}
// end

// snippet: network backend
/// A place over a network that many programs change: it stores only what is based on its newest revision.
final class NetworkBackend: PreferenceBackend, @unchecked Sendable {  // the store makes one call at a time
    let place = "the server"
    let timeout: Duration
    private let server: Server
    private var revision = 0

    init(_ server: Server, timeout: Duration = .seconds(10)) { (self.server, self.timeout) = (server, timeout) }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
        server.observe(host.changed)
        let (rows, revision) = try server.readAll(within: deadline.remaining)
        self.revision = revision
        return rows.map { StoredChange($0.key, $0.value) }
    }

    func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges {
        let (log, revision) = try server.readChanges(after: revision, within: deadline.remaining)
        self.revision = revision
        return .changes(log)
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        while true {
            let changes = try body(catchUp(until: deadline))
            if changes.isEmpty { return }
            if let stored = try server.store(changes, ifRevisionIs: revision, within: deadline.remaining) {
                revision = stored
                return
            }
            // Another program was faster: the body decides again.
        }
    }
}
// end

struct ExampleBackendTests {
    @Test
    func valuesAreInTheProgramsTable() throws {
        let table = TableBackend.Table()
        // snippet: own store
        let store = PreferenceStore(backend: TableBackend(table))
        let zoom = Preference("zoom", default: 100, in: store)
        // end
        zoom.value = 150
        same(table.rows.withLock { $0 }, ["zoom": 150])
    }

    @Test
    func tableKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify { TableBackend(TableBackend.Table()) }
    }

    @Test
    func databaseKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            let database = Database()
            return PreferenceBackendPlace { LockedBackend(database) }
        }
    }

    @Test
    func serverKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            let server = Server()
            return PreferenceBackendPlace { NetworkBackend(server) }
        }
    }
}
